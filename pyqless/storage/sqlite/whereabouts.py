# SPDX-License-Identifier: MIT
"""
Whether a path still leads to the file that was opened: it may be gone, or there may be another in its place.

An open file outlives its name. Who has it open would go on with it, unseen by all who open the path later.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import apsw

from pyqless.errors import StoreUnavailable

__all__ = ["Found", "Place", "Whereabouts"]

#: the device and the number of a file
Found = tuple[int, int]


class Place(NamedTuple):
    """What a connection has open; nothing else has these numbers until it is closed."""

    file: Found | None
    log: Found | None

    @classmethod
    def of(cls, connection: apsw.Connection) -> Place:
        """Where the paths of a connection lead that has just been opened."""
        return cls(_find(connection.filename), _find(connection.filename_wal))


class Whereabouts:
    """
    Where a path leads.

    Args:
        path: of the database.

    Attributes:
        was_open: whether the file was opened once, so that it has to be there.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self.was_open = False

    def look(self) -> Found | None:
        """
        Find what the path leads to; None if there is no telling.

        Raises:
            StoreUnavailable: there was a file, and is none any more.
        """
        found = _find(self._path)
        if found is None and self.was_open and not os.path.lexists(self._path):
            raise self._fault(
                "the file was deleted or moved away, and with it what it held; a backup can take its place,"
                " or a new file, such as any program makes that is started now"
            )
        return found

    def has(self, place: Place) -> bool:
        """Whether the path leads to what a connection has open."""
        return _find(self._path) == place.file

    def require_own_log(self, found: Found | None, places: Iterable[Place]) -> None:
        """
        Make sure that the log beside a file is not one that was left by a file that was in its place.

        Args:
            found: the file.
            places: what is open.

        Raises:
            StoreUnavailable: it is, and SQLite would write its pages into the file.
        """
        others = {place.log for place in places if place.file != found} - {None}
        if others and _find(f"{self._path}-wal") in others:
            name = Path(self._path).name
            raise self._fault(
                f"another file was put in its place, but {name}-wal is the former one's and would damage it:"
                f" end all that use it, and remove {name}-wal and {name}-shm"
            )

    def _fault(self, fault: str) -> StoreUnavailable:
        return StoreUnavailable(f"{self._path}: {fault}", argument="path", value=self._path)


def _find(path: str) -> Found | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - at each call, and Path takes thrice as long
    except OSError:
        return None
    return found.st_ino, found.st_dev
