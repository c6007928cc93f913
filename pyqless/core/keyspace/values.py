# SPDX-License-Identifier: MIT
"""What a key holds: a hash is a dict, a list a deque, a set a set, a sorted set a ``SortedSet``, a string a str."""

from __future__ import annotations

from collections import deque
from typing import Final, TypeAlias, TypeVar

from pyqless.core.sortedset import SortedSet

__all__ = ["TYPES", "Image", "Outcome", "Value", "WrongType", "expect"]

#: What a key of a type that the rules write holds.
Image: TypeAlias = dict[str, str] | deque[str] | set[str] | SortedSet

#: What a key holds.
Value: TypeAlias = Image | str

#: The value after a write (None or an empty one: the key is gone), and whether the write touched
#: the key in the sense of WATCH.
Outcome: TypeAlias = tuple[Value | None, bool]

#: Redis's names.
TYPES: Final[dict[type, str]] = {
    dict: "hash",
    SortedSet: "zset",
    deque: "list",
    set: "set",
    str: "string",
}

_T = TypeVar("_T")


class WrongType(TypeError):
    """A key holds another type of value than the command is for."""


def expect(kind: type[_T], value: Value | None) -> _T:
    """
    Give the value of a key, an empty one where the key is missing.

    Raises:
        WrongType: it is not of the kind.
    """
    if isinstance(value, kind):
        return value
    if value is None:
        return kind()
    raise WrongType(f"a {TYPES[kind]} is wanted, a {TYPES[type(value)]} is there")
