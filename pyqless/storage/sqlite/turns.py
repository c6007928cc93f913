# SPDX-License-Identifier: MIT
"""Turns at writing: among the threads of a storage first, so that only one of them looks for SQLite's lock."""

from __future__ import annotations

import threading
from typing import Final

from pyqless.errors import StoreUnavailable
from pyqless.storage.sqlite.lane import Lane
from pyqless.storage.sqlite.log import LogFile
from pyqless.storage.sqlite.patience import Patience

__all__ = ["Turn", "Turns"]


class Turn:
    """
    A transaction that alone may write.

    Attributes:
        has_waited: whether others had to be waited for.
        may_be_lost: whether a power cut may undo the commit even where commits are durable.
        settles: whether earlier commits must not be undone any more, so that the disk is waited for even if there
            is nothing in this one.
        commit: the number of the last one that matters; 0 if none does.
        log: what has to be flushed until it is safe, or None.
    """

    __slots__ = ("commit", "has_waited", "lane", "log", "may_be_lost", "settles")

    def __init__(self, lane: Lane, *, has_waited: bool) -> None:
        self.lane = lane
        self.has_waited = has_waited
        self.may_be_lost = False
        self.settles = False
        self.commit = 0
        self.log: LogFile | None = None


class _Writing(threading.local):
    """The files that a thread is writing to."""

    def __init__(self) -> None:
        self.paths: set[str] = set()


_writing: Final = _Writing()


class Turns:
    """
    Whose turn it is among the threads of a storage.

    Args:
        path: of the file.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()

    def take(self, patience: Patience) -> bool | None:
        """
        Wait for a turn.

        Returns:
            bool: whether others had to be waited for; None if that was in vain.

        Raises:
            StoreUnavailable: this thread has one already.
        """
        paths = _writing.paths
        if self._path in paths:
            raise StoreUnavailable("a transition cannot be carried out in the middle of another")
        has_waited = not self._lock.acquire(blocking=False)
        if has_waited and not self._lock.acquire(timeout=patience.left()):
            return None
        paths.add(self._path)
        return has_waited

    def give_back(self) -> None:
        """Let another have a turn."""
        _writing.paths.discard(self._path)
        self._lock.release()
