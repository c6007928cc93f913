# SPDX-License-Identifier: MIT
"""The small command set of the rules, as functions of a value; a missing key is None, and reads as an empty value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pyqless.core.keyspace import hashes, lists, sets, sortedsets
from pyqless.core.keyspace.values import Outcome, Value

__all__ = ["READS", "WRITES"]


def _exists(value: Value | None) -> int:
    return int(value is not None)


def _del(value: Value | None) -> Outcome:
    return None, value is not None


#: Reads by name: (value or None, *arguments) -> reply. A collection in a reply is a copy.
READS: Final[dict[str, Callable[..., Any]]] = {
    "EXISTS": _exists,
    **hashes.READS,
    **lists.READS,
    **sets.READS,
    **sortedsets.READS,
}

#: Writes by name: (value or None, *arguments) -> (new value, whether the key was touched).
#: The value given may be changed in place, and be the one returned; where the key is gone, the new one is None or empty.
WRITES: Final[dict[str, Callable[..., Outcome]]] = {
    "DEL": _del,
    **hashes.WRITES,
    **lists.WRITES,
    **sets.WRITES,
    **sortedsets.WRITES,
}
