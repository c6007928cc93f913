# SPDX-License-Identifier: MIT
"""The file as a storage uses it: transactions for looking and for writing, one writer at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar, cast

from pyqless.errors import OutcomeUnknown, StoreUnavailable
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
        self._turns = Turns(path, self._carry_out, self._settle)
        self._log = Log(path)
        self._lanes = Lanes(path, self._open_lane, timeout)

    def _open_lane(self) -> Lane:
        return Lane(open_connection(self.path, Patience(self._timeout)))

    @contextmanager
    def looking(self) -> Iterator[Lane]:
        """A transaction that sees what was committed when it began; it waits for no writer."""
        with self._translated, self._lanes:
            lane = self._lanes.take_for_looking()
            try:
                self._begin(lane.begin_looking, Patience(self._timeout))
                try:
                    yield lane
                finally:
                    lane.end()
            finally:
                self._lanes.give_back_looked(lane)

    def write(self, work: Callable[[Turn], T]) -> T:
        """
        Do some work in a transaction that alone may write; committed at the end, or rolled back if that is an error.

        Raises:
            StoreUnavailable: others have written for so long that the time was up.
            OutcomeUnknown: the disk failed after the commit.
        """
        turn = Turn(work, Patience(self._timeout))
        with self._translated, self._lanes:
            if not self._turns.take(turn):
                raise self._too_busy()
            if turn.error is not None:
                raise turn.error
            if turn.log is not None:
                # others write meanwhile
                self._log.flush(turn.log, turn.commit)
        return cast("T", turn.result)

    def _carry_out(self, turns: list[Turn]) -> None:
        """Carry turns out in one transaction."""
        lane, is_changed = self._lanes.take_for_writing(), False
        try:
            turns[0].has_waited |= self._begin(lane.begin_writing, turns[0].patience)
            try:
                is_changed = self._work(lane, turns)
                lane.commit()
            except BaseException as error:
                if lane.is_committed_despite(error):
                    self._note_commit(turns, is_changed=is_changed)
                lane.roll_back()
                raise
            self._note_commit(turns, is_changed=is_changed)
            if is_changed and turns[0].commit % _TIDY_EVERY == 0:
                self._tidy(lane)
        finally:
            self._lanes.give_back_written(lane)

    def _work(self, lane: Lane, turns: list[Turn]) -> bool:
        """Do all but the commit, and take those along that come meanwhile; tell whether there is anything to commit."""
        for turn in turns:
            turn.lane = lane
            if turn is turns[0]:
                turn.result = turn.work(turn)
            else:
                _work_among_others(turn)
            if self.durable and not (turn.may_be_lost or turn.error):
                turn.log = lane.log()
            self._turns.take_along(turns)
        return lane.save()

    def _note_commit(self, turns: list[Turn], *, is_changed: bool) -> None:
        """Number a commit; not before it is in the log, or it might be taken for one that was flushed."""
        commit = self._log.committed() if is_changed else 0
        for turn in turns:
            turn.commit = commit or (self._log.latest if turn.settles else 0)
            if not turn.commit:
                turn.log = None
            turn.is_committed = True

    def _settle(self, turn: Turn) -> None:
        """Wait until a commit is on the disk, if it has to be, so that the thread that waits need not do so."""
        if turn.log is not None:
            with contextlib.suppress(OutcomeUnknown):  # it finds out by itself
                self._log.flush(turn.log, turn.commit)

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


def _work_among_others(turn: Turn) -> None:
    """Do work that may come to nothing while that of others in the transaction does not."""
    lane = turn.lane
    lane.save()
    lane.execute(sql.SAVEPOINT)
    try:
        turn.result = turn.work(turn)
        lane.save()
    except Exception as error:
        if not lane.connection.in_transaction:
            raise  # after some errors nothing is left to go on with
        lane.forget()
        lane.execute(sql.UNDO)
        turn.error = error
    lane.execute(sql.RELEASE)
