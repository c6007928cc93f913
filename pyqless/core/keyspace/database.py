# SPDX-License-Identifier: MIT
"""A database of keys, to which the commands are applied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pyqless.core.keyspace.commands import READS, WRITES
from pyqless.core.keyspace.plain import from_plain, to_plain
from pyqless.core.keyspace.values import TYPES, Value

__all__ = ["Keyspace"]

#: What the most frequent reads reply where the key is missing, without a look at their arguments.
_EMPTY: Final[dict[str, Callable[[], Any]]] = {
    "HGETALL": dict,
    "LRANGE": list,
    "SMEMBERS": set,
    "ZCARD": int,
    "ZRANGE": list,
    "ZRANGEBYSCORE": list,
    "ZREVRANGE": list,
    "ZSCORE": lambda: None,
}


class Keyspace:
    """
    A database: keys, their values, and their versions.

    Attributes:
        data: the values; none is an empty collection.
        versions: a number for each key that there is, new with every write that touches the key as
            WATCH sees it. No key is given a number twice, so one whose number (0 if it has none) is
            the same as before holds what it held.
    """

    __slots__ = ("_version", "data", "versions")

    def __init__(self) -> None:
        self.data: dict[str, Value] = {}
        self.versions: dict[str, int] = {}
        self._version = 0

    def read(self, command: tuple[Any, ...]) -> Any:
        """
        Carry out a read.

        Args:
            command: (name, key, *arguments), the name one of ``READS``.

        Raises:
            WrongType: the key holds another type of value than the command is for.
            ValueError: an argument is no number where one is needed.
        """
        value = self.data.get(command[1])
        if value is None and (empty := _EMPTY.get(command[0])) is not None:
            return empty()
        return READS[command[0]](value, *command[2:])

    def write(self, command: tuple[Any, ...]) -> None:
        """
        Carry out a write, or raise and change nothing.

        Args:
            command: (name, key, *arguments), the name one of ``WRITES``.

        Raises:
            WrongType: the key holds another type of value than the command is for.
            NotAnInteger: HINCRBY meets a text, or makes a sum, that is no 64-bit integer.
            ValueError: an argument is no number where one is needed.
        """
        key = command[1]
        value, touched = WRITES[command[0]](self.data.get(key), *command[2:])
        if touched:
            self.replace(key, value)

    def replace(self, key: str, value: Value | None) -> None:
        """Put a value in the place of a key's; None or an empty one removes the key."""
        if value:
            self._version += 1
            self.data[key] = value
            self.versions[key] = self._version
        elif key in self.data:
            del self.data[key], self.versions[key]

    def type_of(self, key: str) -> str | None:
        """Name the type of a key's value: hash, zset, list, set or string; None if it is missing."""
        return TYPES.get(type(self.data.get(key)))

    def keys(self) -> list[str]:
        """List the keys, in no particular order."""
        return list(self.data)

    def flush(self) -> None:
        """Remove all keys."""
        self.data.clear()
        self.versions.clear()

    def dump(self) -> dict[str, dict[str, Any]]:
        """Show the whole content in plain data: {key: what ``to_plain`` makes of its value}."""
        return {key: to_plain(value) for key, value in self.data.items()}

    def load(self, dump: Mapping[str, Mapping[str, Any]]) -> None:
        """Replace the whole content by one that ``dump`` has given."""
        self.flush()
        self._version += 1
        self.data.update((key, from_plain(shown)) for key, shown in dump.items())
        self.versions.update(dict.fromkeys(self.data, self._version))

    def copy(self) -> Keyspace:
        """Give an independent copy, with the same versions."""
        twin = Keyspace()
        twin.data = {
            key: value if isinstance(value, str) else value.copy()
            for key, value in self.data.items()
        }
        twin.versions = self.versions.copy()
        twin._version = self._version
        return twin
