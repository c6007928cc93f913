# SPDX-License-Identifier: MIT
"""Turns at writing: among the threads of a storage first, so that only one of them looks for SQLite's lock."""

from __future__ import annotations

import threading
from types import FrameType
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
    """The files that a thread is writing to, or was when it was interrupted, and the frames in which it does."""

    def __init__(self) -> None:
        self.frames: dict[str, FrameType | None] = {}


_writing: Final = _Writing()


class Turns:
    """
    Whose turn it is among the threads of a storage.

    Args:
        path: of the file.

    Attributes:
        lock: whose turn it is has it. It knows its owner: so it can be released whether it was taken or not when an
            interruption came, first of all and in one step of Python's own, ahead of which no other can come;
            then one calls ``leave``.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self.lock = threading.RLock()

    def require_none(self) -> None:
        """
        Make sure that this thread has no turn.

        Raises:
            StoreUnavailable: it is in the middle of one.
        """
        frame = _writing.frames.get(self._path)
        # who was interrupted when it had released the lock may not have left
        if frame is not None and _is_running(frame):
            raise StoreUnavailable("a transition cannot be carried out in the middle of another")

    def take(self, patience: Patience, frame: FrameType | None) -> bool | None:
        """
        Wait for a turn; the thread must have none.

        Args:
            frame: of the function that has the turn, until it ends; None where Python cannot tell.

        Returns:
            bool: whether others had to be waited for; None if that was in vain.
        """
        has_waited = not self.lock.acquire(blocking=False)
        if has_waited and not self.lock.acquire(timeout=patience.left()):
            return None
        _writing.frames[self._path] = frame
        return has_waited

    def leave(self) -> None:
        """Note that this thread has no turn any more."""
        _writing.frames.pop(self._path, None)


def _is_running(frame: FrameType) -> bool:
    """Whether a function has not come to its end."""
    try:
        frame.clear()
    except RuntimeError:
        return True
    return False
