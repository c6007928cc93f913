# SPDX-License-Identifier: MIT
"""
Turns at writing: among the threads of a storage first, so that only one of them looks for SQLite's lock.

Who has the turn carries out the work of those that wait for it along with its own, in one transaction. So a thread
that waits sleeps until its work is done, and is not woken to do it: threads that hand a lock on from one to the next
spend more time on that than on the work.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable
from itertools import repeat
from queue import Empty, SimpleQueue
from typing import Any, Final

from pyqless.errors import StoreUnavailable
from pyqless.storage.sqlite.lane import Lane
from pyqless.storage.sqlite.log import LogFile
from pyqless.storage.sqlite.patience import Patience

__all__ = ["Turn", "Turns"]

#: how many are carried out in one transaction at most, for other processes wait meanwhile
_TOGETHER: Final = 16


class Turn:
    """
    A turn at writing, from the moment it is asked for, and what comes of it.

    Args:
        work: is given the turn when it has come, and so alone may write.
        patience: how long to wait for it.

    Attributes:
        lane: in which to work; there is none before.
        has_waited: whether others had to be waited for.
        may_be_lost: whether a power cut may undo the commit even where commits are durable.
        settles: whether earlier commits must not be undone any more, so that the disk is waited for even if there
            is nothing in this one.
        result: what the work has given.
        error: why it came to nothing, although what else is in the transaction did not.
        is_committed: whether the transaction was, even if that was interrupted then.
        commit: the number of the last one that matters; 0 if none does.
        log: what has to be flushed before whoever waits for it may go on, or None.
        is_over: whether whoever waits for it may go on.
        news: tells who waits that it is over, or that it may have come.
    """

    lane: Lane
    has_waited = False
    may_be_lost = False
    settles = False
    result: Any = None
    error: Exception | None = None
    is_committed = False
    commit = 0
    log: LogFile | None = None
    is_over = False
    news: SimpleQueue[None]

    def __init__(self, work: Callable[[Turn], Any], patience: Patience) -> None:
        self.work = work
        self.patience = patience

    def end(self) -> None:
        """Let whoever waits for it go on."""
        if not self.is_over:
            self.is_over = True
            self.news.put(None)


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
        carry_out: carries a turn out, and those that it takes along, in one transaction; or raises, and then none.
        settle: waits after that until a turn's commit is on the disk, if it has to be, while another thread writes.
    """

    def __init__(
        self,
        path: str,
        carry_out: Callable[[list[Turn]], None],
        settle: Callable[[Turn], None],
    ) -> None:
        self._path = path
        self._carry_out = carry_out
        self._settle = settle
        self._lock = threading.Lock()
        self._waiting: deque[Turn] = deque()

    def take(self, turn: Turn) -> bool:
        """
        Wait for a turn and carry it out, or have another thread do so.

        Returns:
            bool: whether it was carried out; False if the time was up.

        Raises:
            StoreUnavailable: this thread is in the middle of another.
        """
        if self._path in _writing.paths:
            raise StoreUnavailable("a transition cannot be carried out in the middle of another")
        if self._lock.acquire(blocking=False) or self._wait(turn):
            self._lead(turn)
            return True
        return turn.is_over

    def take_along(self, turns: list[Turn]) -> None:
        """Add those that have waited longest to some that are being carried out."""
        if self._waiting and len(turns) < _TOGETHER:
            with contextlib.suppress(IndexError):
                # in one call, so that no signal comes between the one list and the other
                turns.extend(map(deque.popleft, repeat(self._waiting, _TOGETHER - len(turns))))

    def _wait(self, turn: Turn) -> bool:
        """Wait until this thread has the lock, or, False, another has carried the turn out, or the time is up."""
        turn.has_waited, turn.news = True, SimpleQueue()
        self._waiting.append(turn)
        try:
            while not turn.is_over:
                if self._lock.acquire(blocking=False):
                    if self._withdraw(turn):
                        return True
                    self._give_back()
                left = turn.patience.left()
                if not left and self._withdraw(turn):
                    self._call_next()  # it may have been this thread that was called
                    break
                with contextlib.suppress(Empty):
                    # what is being carried out is waited for
                    turn.news.get(timeout=left or None)
        except BaseException:
            self._withdraw(turn)
            self._call_next()
            raise
        return False

    def _withdraw(self, turn: Turn) -> bool:
        """Let a turn wait no more; tell whether it did."""
        try:
            self._waiting.remove(turn)
        except ValueError:
            return False
        return True

    def _lead(self, turn: Turn) -> None:
        """Carry out a turn, and those that are taken along, as this thread has the lock."""
        turns = [turn]
        _writing.paths.add(self._path)
        try:
            self._carry_out(turns)
        finally:
            _writing.paths.discard(self._path)
            if len(turns) > 1:
                self._part_with(turns[1:], is_committed=turn.is_committed)
            else:
                self._give_back()

    def _part_with(self, turns: list[Turn], *, is_committed: bool) -> None:
        """Give the lock back, and let the threads go on whose turns these are, if they were carried out."""
        if not is_committed:
            # what they would have come to, they find out by themselves
            self._waiting.extendleft(reversed(turns))
            self._give_back()
            return
        self._give_back()
        # who need not wait for the disk goes on before the others
        turns.sort(key=lambda turn: turn.log is not None)
        try:
            for turn in turns:
                self._settle(turn)
                turn.end()
        finally:
            for turn in turns:
                turn.end()

    def _give_back(self) -> None:
        self._lock.release()
        if self._waiting:
            self._call_next()

    def _call_next(self) -> None:
        """Wake who has waited longest; whoever comes before it takes it along."""
        with contextlib.suppress(IndexError):
            self._waiting[0].news.put(None)
