# SPDX-License-Identifier: MIT
"""Large values, element by element in rows: what they have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Final

import apsw

from pyqless.core.keyspace import Value, WrongType

__all__ = ["Rows"]

#: what a command is for, by the first letter of its name
_FAMILIES: Final = {"H": "hash", "L": "list", "R": "list", "S": "set", "Z": "zset"}


class Rows(ABC):
    """
    The value of one key, in rows.

    It does what ``READS`` and ``WRITES`` of ``pyqless.core.keyspace`` do, for the commands of its kind;
    arguments that are numbers come as numbers, or as text that Python reads alike.

    Args:
        cursor: of the connection; it may be shared, for no rows are left on it.
        key: the id of the key.
        size: how many elements there are; whoever changes them keeps the key's row up to date.
    """

    kind: ClassVar[int]
    name: ClassVar[str]
    reads: ClassVar[dict[str, Callable[..., Any]]]
    writes: ClassVar[dict[str, Callable[..., None]]]

    def __init__(self, cursor: apsw.Cursor, key: int, size: int) -> None:
        self._execute: Callable[..., Any] = cursor.execute
        self._execute_many: Callable[..., Any] = cursor.executemany
        self._changes = cursor.connection.total_changes
        self.key = key
        self.size = size

    def read(self, command: tuple[Any, ...]) -> Any:
        """Carry out a read; see ``Keyspace.read``."""
        return self._find(self.reads, command[0])(self, *command[2:])

    def write(self, command: tuple[Any, ...]) -> None:
        """Carry out a write; see ``Keyspace.write``."""
        self._find(self.writes, command[0])(self, *command[2:])

    def _find(self, commands: dict[str, Callable[..., Any]], name: str) -> Callable[..., Any]:
        try:
            return commands[name]
        except KeyError:
            wanted = _FAMILIES[name[0]]
            raise WrongType(f"a {wanted} is wanted, a {self.name} is there") from None

    def exists(self) -> int:
        """EXISTS."""
        return 1

    def length(self) -> int:
        """LLEN, SCARD, ZCARD."""
        return self.size

    def _add(self, statement: str, bindings: list[tuple[Any, ...]]) -> int:
        """Insert rows, and count them; tell how many there were to insert."""
        before = self._changes()
        self._execute_many(statement, bindings)
        added = self._changes() - before
        self.size += added
        return added

    def _drop(self, statement: str, *bindings: tuple[Any, ...]) -> None:
        """Delete rows, and count them."""
        before = self._changes()
        self._execute_many(statement, bindings)
        self.size -= self._changes() - before

    @abstractmethod
    def fill(self, value: Any) -> None:
        """Write all elements of a value where none are yet."""

    @abstractmethod
    def whole(self) -> Value:
        """The value that the rows make."""

    @abstractmethod
    def clear(self) -> None:
        """DEL: delete all elements."""
