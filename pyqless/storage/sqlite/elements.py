# SPDX-License-Identifier: MIT
"""Large lists: a row an element."""

from __future__ import annotations

from collections import deque
from typing import Any

from pyqless.core.ranges import span
from pyqless.storage.parts import in_bytes
from pyqless.storage.sqlite import statements as sql
from pyqless.storage.sqlite.packing import LIST, text_of
from pyqless.storage.sqlite.rows import Rows

__all__ = ["ListRows"]


class ListRows(Rows):
    """A list in rows."""

    kind = LIST
    name = "list"

    def fill(self, value: deque[str]) -> None:
        """See ``Rows.fill``."""
        self.append(*value)

    def whole(self) -> deque[str]:
        """See ``Rows.whole``."""
        return deque(self.range(0, -1))

    def clear(self) -> None:
        """See ``Rows.clear``."""
        self._drop(sql.DROP_ELEMENTS, (self.key,))

    # -- reads ------------------------------------------------------------------------------

    def range(self, start: int, stop: int) -> list[str]:
        """LRANGE."""
        begin, end = span(int(start), int(stop), self.size)
        if begin + end <= self.size:
            return self._slice(sql.SLICE, end - begin, begin)
        # the end is nearer: rows that are passed over cost as much as those that are read
        return self._slice(sql.REVERSE_SLICE, end - begin, self.size - end)[::-1]

    def index(self, place: int) -> str | None:
        """LINDEX."""
        found = self.range(place, place)
        return found[0] if found else None

    def _slice(self, statement: str, count: int, offset: int) -> list[str]:
        rows = self._execute(statement, (self.key, count, offset)).fetchall()
        return [text_of(row[0]) for row in rows]

    # -- writes -----------------------------------------------------------------------------

    def append(self, *elements: str) -> None:
        """RPUSH."""
        self._add(sql.APPEND, self._bindings(elements))

    def prepend(self, *elements: str) -> None:
        """LPUSH."""
        self._add(sql.PREPEND, self._bindings(elements))

    def _bindings(self, elements: tuple[str, ...]) -> list[tuple[Any, ...]]:
        return [(self.key, in_bytes(element)) for element in elements]

    def take(self) -> None:
        """LPOP."""
        self._drop(sql.DROP_FIRST, (self.key, 1))

    def trim(self, start: int, stop: int) -> None:
        """LTRIM."""
        begin, end = span(int(start), int(stop), self.size)
        self._drop(sql.DROP_LAST, (self.key, self.size - end))
        self._drop(sql.DROP_FIRST, (self.key, begin))

    def remove(self, count: int, element: str) -> None:
        """LREM."""
        if int(count):
            raise ValueError(f"LREM removes all or nothing here, so count must be 0, not {count!r}")
        self._drop(sql.DROP_EQUAL, (self.key, in_bytes(element)))


ListRows.reads = {
    "EXISTS": ListRows.exists,
    "LINDEX": ListRows.index,
    "LLEN": ListRows.length,
    "LRANGE": ListRows.range,
}
ListRows.writes = {
    "DEL": ListRows.clear,
    "LPOP": ListRows.take,
    "LPUSH": ListRows.prepend,
    "LREM": ListRows.remove,
    "LTRIM": ListRows.trim,
    "RPUSH": ListRows.append,
}
