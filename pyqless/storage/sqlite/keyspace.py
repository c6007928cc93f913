# SPDX-License-Identifier: MIT
"""
The keyspace in the file, as one connection sees it.

A small value is one row, and its commands are those of ``pyqless.core.keyspace``, in Python, on what the row
holds. A list, set or sorted set that outgrows its row is moved to rows of its own, where SQL does the
commands; it goes back when it has become empty. An empty value has no row, but for ``vacancies``.
What was read is kept for the next transaction, as long as no other connection has committed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import apsw

from pyqless.core.effects import Command
from pyqless.core.keyspace import READS, WRITES, Image, Keyspace, Value
from pyqless.errors import StoreCorrupted
from pyqless.storage.parts import in_bytes
from pyqless.storage.sqlite import statements as sql
from pyqless.storage.sqlite.elements import ListRows
from pyqless.storage.sqlite.members import SetRows, SortedSetRows
from pyqless.storage.sqlite.packing import (
    KINDS,
    LIST,
    SET,
    SORTED_SET,
    Packer,
    text_of,
    unpack,
)
from pyqless.storage.sqlite.rows import Rows
from pyqless.storage.sqlite.vacancies import NO_MEMBERS, Vacancies

__all__ = ["StoredKeyspace"]

_ROWS: Final[dict[int, type[Rows]]] = {LIST: ListRows, SET: SetRows, SORTED_SET: SortedSetRows}

#: How many elements fit in a row. A longer row costs more to write each time, and a sorted set more
#: to build each time, than an element in a row of its own; a hash has few fields, and always fits.
_FIT: Final = {LIST: 128, SET: 64, SORTED_SET: 16}

#: what a key that is not there reads as
_NOTHING: Final = Keyspace()

#: how many keys are remembered at most, and how large a value, bytes
_MOST_KEYS: Final = 2048
_LARGEST: Final = 4096


class _Entry:
    """What is known of a key: its value, or the rows that make it, or neither if there is no such key."""

    __slots__ = ("key", "kind", "rows", "size", "value")

    def __init__(self) -> None:
        #: the id of its row, or None if it has none
        self.key: int | None = None
        #: what its row says: of what kind it is, and how many elements there are
        self.kind = 0
        self.size = 0
        self.value: Value | None = None
        self.rows: Rows | None = None


class StoredKeyspace:
    """
    Reads and writes, inside a transaction that somebody else begins and ends.

    Args:
        cursor: whoever uses it reads what a statement gives to the end: a statement that is left in the
            middle would keep its view of the file beyond the end of the transaction.
    """

    def __init__(self, cursor: apsw.Cursor) -> None:
        self._cursor = cursor
        self._execute: Callable[..., Any] = cursor.execute
        self._execute_many: Callable[..., Any] = cursor.executemany
        self._last_key = cursor.connection.last_insert_rowid
        self._pack = Packer().pack
        self._entries: dict[str, _Entry] = {}
        self._changed: dict[str, _Entry] = {}
        self._large: list[str] = []
        #: what ``SET_KEY`` is to be called with
        self._updates: list[tuple[Any, ...]] = []
        self._vacancies = Vacancies(self._execute)

    def tidy(self) -> None:
        """Forget what is too much, or too large, to be remembered longer than for a transaction."""
        if len(self._entries) > _MOST_KEYS:
            self._entries.clear()
        while self._large:
            self._entries.pop(self._large.pop(), None)

    def forget(self) -> None:
        """Forget everything: others have changed it, or it was rolled back."""
        self._entries.clear()
        self._changed.clear()
        self._updates.clear()

    def read(self, command: Command) -> Any:
        """See ``pyqless.core.keyspace.Keyspace.read``."""
        entry = self._entries.get(command[1]) or self._load(command[1])
        if entry.value is None:
            return (entry.rows or _NOTHING).read(command)
        return READS[command[0]](entry.value, *command[2:])

    def write(self, command: Command) -> None:
        """See ``pyqless.core.keyspace.Keyspace.write``; it is not in the file before ``save``."""
        name = command[1]
        entry = self._changed[name] = self._entries.get(name) or self._load(name)
        if entry.rows is None:
            value, _ = WRITES[command[0]](entry.value, *command[2:])
            entry.value = value or None
        else:
            entry.rows.write(command)
            if not entry.rows.size:
                entry.rows = None

    def set(self, name: str, text: str) -> None:
        """Make a key a string, whatever it was; an empty one removes it."""
        self.write(("DEL", name))
        self._changed[name].value = text or None

    def replace(self, name: str, image: Image) -> bool:
        """
        Put a value in the place of a key's, an empty one if the key is to go.

        Returns:
            bool: False where nothing was done, since the key's elements lie in rows of their own.
        """
        entry = self._entries.get(name) or self._load(name)
        if entry.rows is not None:
            return False
        entry.value = image or None
        self._changed[name] = entry
        return True

    def save(self) -> None:
        """Write to the file what is not there yet."""
        for name, entry in self._changed.items():
            if entry.value is not None:
                self._store_value(name, entry, entry.value)
            elif entry.rows is not None:
                self._store_size(entry, entry.rows.size)
            elif entry.key is not None:
                self._store_nothing(name, entry, entry.key)
        self._changed.clear()
        if self._updates:
            self._execute_many(sql.SET_KEY, self._updates)
            self._updates.clear()
        if self._vacancies.are_many:
            for name in self._vacancies.drop():
                self._entries.pop(name, None)

    @property
    def has_vacancies(self) -> bool:
        """Whether rows were left by what has become empty."""
        return len(self._vacancies) > 0

    def drop_vacancies(self) -> None:
        """Delete the rows that were left by what has become empty."""
        for name in self._vacancies.drop(left=0):
            self._entries.pop(name, None)

    def items(self) -> Iterator[tuple[str, Value]]:
        """All keys and their values, in no particular order."""
        for stored, *row in self._execute(sql.KEYS).fetchall():
            name = text_of(stored)
            entry = self._entry(name, row)
            value = entry.value if entry.rows is None else entry.rows.whole()
            if value is not None:
                yield name, value

    # -- rows of keys -----------------------------------------------------------------------

    def _load(self, name: str) -> _Entry:
        """Look a key up in the file."""
        row = self._execute(sql.KEY, (in_bytes(name),)).get
        entry = self._entries[name] = _Entry() if row is None else self._entry(name, row)
        return entry

    def _entry(self, name: str, row: Sequence[Any]) -> _Entry:
        entry = _Entry()
        entry.key, kind, entry.size, packed = row
        entry.kind = kind
        if packed is not None:
            entry.value = unpack(name, kind, packed) or None
            if len(packed) > _LARGEST:
                self._large.append(name)
        elif kind in _ROWS:
            entry.rows = _ROWS[kind](self._cursor, row[0], entry.size)
        else:
            text = f"{name}: a value of kind {kind} cannot lie in rows of its own"
            raise StoreCorrupted(text, argument=name, value=kind)
        return entry

    def _store_nothing(self, name: str, entry: _Entry, key: int) -> None:
        if entry.kind != SORTED_SET:
            self._execute(sql.DROP_KEY, (key,))
            entry.key = None
        elif entry.size:
            self._updates.append((SORTED_SET, 0, NO_MEMBERS, key))
            self._vacancies.leave(name, key)
            entry.size = 0

    def _store_size(self, entry: _Entry, size: int) -> None:
        if size != entry.size:
            entry.size = size
            self._execute(sql.SET_SIZE, (size, entry.key))

    def _store_value(self, name: str, entry: _Entry, value: Value) -> None:
        kind, size = KINDS[type(value)], len(value)
        packed = self._pack(value) if kind not in _FIT or size <= _FIT[kind] else None
        if entry.key is None:
            self._execute(sql.ADD_KEY, (in_bytes(name), kind, size, packed))
            entry.key = self._last_key()
        else:
            self._updates.append((kind, size, packed, entry.key))
            if not entry.size:
                self._vacancies.take(name)
        entry.kind, entry.size = kind, size
        if packed is None:
            entry.value, entry.rows = None, _ROWS[kind](self._cursor, entry.key, 0)
            entry.rows.fill(value)
        elif len(packed) > _LARGEST:
            self._large.append(name)
