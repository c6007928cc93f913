# SPDX-License-Identifier: MIT
"""
Rows that sorted sets leave when they become empty.

Of all that a transaction writes, a row that comes or goes costs most, for it moves what lies beside it in its page
and in the index of names. But a queue that is empty is soon filled again, and so are the hands of a worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from pyqless.core.sortedset import SortedSet
from pyqless.storage.parts import in_bytes
from pyqless.storage.sqlite import statements as sql
from pyqless.storage.sqlite.packing import Packer

__all__ = ["NO_MEMBERS", "Vacancies"]

#: how a sorted set without members lies in its row
NO_MEMBERS: Final = Packer().pack(SortedSet())

#: how many rows are left at most
_MOST: Final = 64


class Vacancies:
    """
    The rows that one connection has left, and that nobody has taken since, as far as it knows.

    Args:
        execute: carries out a statement on the connection.
    """

    def __init__(self, execute: Callable[..., Any]) -> None:
        self._execute = execute
        #: their ids by their names, the oldest first
        self._rows: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def leave(self, name: str, key: int) -> None:
        """Note that a row, of the id ``key``, is left with nothing in it."""
        self._rows[name] = key

    def take(self, name: str) -> None:
        """Note that there is something in a row again."""
        self._rows.pop(name, None)

    @property
    def are_many(self) -> bool:
        """Whether it is time to drop some."""
        return len(self._rows) > _MOST

    def drop(self, left: int = _MOST // 2) -> Iterator[str]:
        """Delete the oldest ones, until so many are left; give their names."""
        while len(self._rows) > left:
            name = next(iter(self._rows))
            # another connection may have filled it, unnoticed; or it was undone, and its id is another's
            self._execute(sql.DROP_VACANT, (self._rows.pop(name), in_bytes(name)))
            yield name
