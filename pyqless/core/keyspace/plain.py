# SPDX-License-Identifier: MIT
"""Values as plain data, for JSON."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

from pyqless.core.keyspace.values import TYPES, Value
from pyqless.core.sortedset import SortedSet

__all__ = ["from_plain", "to_plain"]

#: Scores are text, since JSON has no infinity.
_DUMPERS: Final[dict[str, Callable[[Any], Any]]] = {
    "hash": dict,
    "list": list,
    "set": sorted,
    "string": str,
    "zset": lambda zset: [[member, repr(score)] for member, score in zset.items()],
}
_LOADERS: Final[dict[str, Callable[[Any], Value]]] = {
    "hash": dict,
    "list": deque,
    "set": set,
    "string": str,
    "zset": lambda pairs: SortedSet((member, float(score)) for member, score in pairs),
}


def to_plain(value: Value) -> dict[str, Any]:
    """
    Show a value.

    Returns:
        ``{"type": name, "value": content}``: a hash as {field: text}, a sorted set as
        [[member, repr of the score], ...] in rank order, a list as one, a set as a sorted list,
        a string as text.
    """
    name = TYPES[type(value)]
    return {"type": name, "value": _DUMPERS[name](value)}


def from_plain(shown: Mapping[str, Any]) -> Value:
    """Make a value of what ``to_plain`` has given."""
    return _LOADERS[shown["type"]](shown["value"])
