# SPDX-License-Identifier: MIT
"""The file as a storage uses it: transactions for looking and for writing, one writer at a time."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from pyqless.errors import StoreUnavailable
from pyqless.storage.sqlite import statements as sql
from pyqless.storage.sqlite.connection import open_connection
from pyqless.storage.sqlite.faults import BUSY, translated
from pyqless.storage.sqlite.lane import Lane
from pyqless.storage.sqlite.lanes import Lanes
from pyqless.storage.sqlite.log import Log
from pyqless.storage.sqlite.patience import Patience

__all__ = ["DatabaseFile", "Turn"]

#: After how many commits one looks whether the file should shrink, and what it may keep: so many free pages,
#: or such a part of all.
_TIDY_EVERY: Final = 256
_SPARE_PAGES: Final = 1024
_SPARE_PART: Final = 4


class _Writing(threading.local):
    """The files that a thread is writing to."""

    def __init__(self) -> None:
        self.paths: set[str] = set()


_writing: Final = _Writing()


class Turn(NamedTuple):
    """A turn at writing."""

    lane: Lane
    #: whether others had to be waited for
    has_waited: bool


class DatabaseFile:
    """
    A file, for any number of threads and processes.

    Args:
        path: absolute.
        timeout: seconds that a call waits for others at most.
        durable: whether a commit is on the disk, so that it survives a power cut, before the call returns.
    """

    def __init__(self, path: str, *, timeout: float, durable: bool) -> None:
        self.path = path
        self._timeout = timeout
        self._durable = durable
        self._turn = threading.Lock()
        self._log = Log(path)
        self._lanes = Lanes(path, self._open_lane, timeout)

    def _open_lane(self) -> Lane:
        return Lane(open_connection(self.path, Patience(self._timeout)))

    @contextmanager
    def looking(self) -> Iterator[Lane]:
        """A transaction that sees what was committed when it began; it waits for no writer."""
        with translated(self.path), self._lanes.lane() as lane:
            self._begin(lane, sql.BEGIN_READING, Patience(self._timeout))
            try:
                yield lane
            finally:
                lane.end()

    @contextmanager
    def writing(self) -> Iterator[Turn]:
        """
        A transaction that alone may write; committed at the end, or rolled back if that is an error.

        Raises:
            StoreUnavailable: others have written for so long that the time was up.
            OutcomeUnknown: the disk failed after the commit.
        """
        patience = Patience(self._timeout)
        with translated(self.path), self._lanes.lane() as lane:
            with self._turn_of_this_thread(patience) as has_queued:
                has_waited = self._begin(lane, sql.BEGIN_WRITING, patience) or has_queued
                before = lane.connection.total_changes()
                try:
                    yield Turn(lane, has_waited)
                    lane.commit()
                except BaseException:
                    lane.roll_back()
                    raise
                if lane.connection.total_changes() == before:
                    return
                commit = self._log.committed()
            if self._durable:
                self._log.flush(lane.log, commit)
            if commit % _TIDY_EVERY == 0:
                self._tidy(lane)

    @contextmanager
    def _turn_of_this_thread(self, patience: Patience) -> Iterator[bool]:
        """The turn among the threads of this storage; whether it had to be waited for."""
        if self.path in _writing.paths:
            raise StoreUnavailable("a transition cannot be carried out in the middle of another")
        has_waited = not self._turn.acquire(blocking=False)
        if has_waited and not self._turn.acquire(timeout=patience.left()):
            raise self._too_busy()
        _writing.paths.add(self.path)
        try:
            yield has_waited
        finally:
            _writing.paths.discard(self.path)
            self._turn.release()

    def _begin(self, lane: Lane, statement: str, patience: Patience) -> bool:
        """Begin a transaction; tell whether others had to be waited for."""
        has_waited = False
        while True:
            try:
                lane.begin(statement)
            except BUSY as error:
                if not patience.pause():
                    raise self._too_busy() from error
                has_waited = True
            else:
                return has_waited

    def _too_busy(self) -> StoreUnavailable:
        return StoreUnavailable(
            f"{self.path}: others have kept it locked for {self._timeout:g} seconds",
            argument="path",
            value=self.path,
        )

    def _tidy(self, lane: Lane) -> None:
        """Give free pages back to the file system, a bounded number at a time, if there are many."""
        free, pages = (lane.execute(question).get for question in (sql.FREE_PAGES, sql.PAGES))
        if free > max(_SPARE_PAGES, pages // _SPARE_PART):
            with contextlib.suppress(*BUSY):  # a later commit will do it
                lane.execute(sql.GIVE_BACK).fetchall()

    def close(self) -> None:
        """Close all connections."""
        with translated(self.path):
            self._lanes.close()
