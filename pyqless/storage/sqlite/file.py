# SPDX-License-Identifier: MIT
"""The file as a storage uses it: transactions for looking and for writing, one writer at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import currentframe
from typing import Final, TypeVar

from pyqless.errors import StoreUnavailable
from pyqless.storage.sqlite import statements as sql
from pyqless.storage.sqlite.connection import open_connection
from pyqless.storage.sqlite.faults import BUSY, translated
from pyqless.storage.sqlite.lane import Lane
from pyqless.storage.sqlite.lanes import Lanes
from pyqless.storage.sqlite.log import Log
from pyqless.storage.sqlite.patience import Patience
from pyqless.storage.sqlite.turns import Turn, Turns

__all__ = ["DatabaseFile"]

T = TypeVar("T")

#: After how many commits one looks whether the file should shrink, and what it may keep: so many free pages,
#: or such a part of all.
_TIDY_EVERY: Final = 256
_SPARE_PAGES: Final = 1024
_SPARE_PART: Final = 4


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
        self.durable = durable
        self._timeout = timeout
        self._translated = translated(path)
        self._turns = Turns(path)
        self._log = Log(path)
        self._lanes = Lanes(path, self._open_lane, timeout)

    def _open_lane(self) -> Lane:
        return Lane(open_connection(self.path, Patience(self._timeout)))

    @contextmanager
    def looking(self) -> Iterator[Lane]:
        """A transaction that sees what was committed when it began; it waits for no writer."""
        lanes, caller, patience = self._lanes, object(), Patience(self._timeout)
        with self._translated:
            try:
                lanes.enter(caller)
                lane = lanes.take_for_looking()
                try:
                    try:
                        self._begin(lane.begin_looking, patience)
                        yield lane
                    finally:
                        lane.end()
                finally:
                    lanes.give_back_looked(lane)
            finally:
                lanes.inside.discard(caller)
                lanes.leave()

    def write(self, work: Callable[[Turn], T]) -> T:
        """
        Do some work in a transaction that alone may write; committed at the end, or rolled back if that is an error.

        Raises:
            StoreUnavailable: others have written for so long that the time was up.
            OutcomeUnknown: the disk failed after the commit.
        """
        lanes, caller, patience = self._lanes, object(), Patience(self._timeout)
        with self._translated:
            try:
                lanes.enter(caller)
                self._turns.require_none()
                try:
                    if (has_queued := self._turns.take(patience, currentframe())) is None:
                        raise self._too_busy()
                    turn, result = self._write(work, patience, has_queued=has_queued)
                finally:
                    try:  # noqa: SIM105 - suppress would be more than one step
                        self._turns.lock.release()
                    except RuntimeError:
                        pass
                    self._turns.leave()
                # others write meanwhile
                if turn.commit and turn.log is not None:
                    self._log.flush(turn.log, turn.commit)
            finally:
                lanes.inside.discard(caller)
                lanes.leave()
        return result

    def _write(
        self, work: Callable[[Turn], T], patience: Patience, *, has_queued: bool
    ) -> tuple[Turn, T]:
        lane = self._lanes.take_for_writing()
        try:
            # an interruption may come just behind BEGIN, too
            has_waited = self._begin(lane.begin_writing, patience)
            turn = Turn(lane, has_waited=has_waited or has_queued)
            result = work(turn)
            self._commit(turn)
        except BaseException:
            lane.roll_back()
            raise
        finally:
            self._lanes.give_back_written(lane)
        return turn, result

    def _commit(self, turn: Turn) -> None:
        lane = turn.lane
        if self.durable and not turn.may_be_lost:
            turn.log = lane.log()
        if lane.commit():
            turn.commit = self._log.committed()
            if turn.commit % _TIDY_EVERY == 0:
                self._tidy(lane)
        elif turn.settles:
            turn.commit = self._log.latest

    def _begin(self, begin: Callable[[], None], patience: Patience) -> bool:
        """Begin a transaction; tell whether others had to be waited for."""
        has_waited = False
        while True:
            try:
                begin()
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
        with self._translated:
            self._lanes.close()
