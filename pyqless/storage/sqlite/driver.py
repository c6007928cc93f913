# SPDX-License-Identifier: MIT
"""
The driver: carries a transition out in one transaction of SQLite.

A transition that may write runs from its first read to its last write inside one transaction for writing, of
which there is one at a time: so nobody can interfere. One that only takes snapshots reads what was last
committed, and neither waits for writers nor holds them up.
"""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Any, Final

from pyqless.core.effects import Continue, Factory, FollowedBy
from pyqless.core.lending import only_lends
from pyqless.core.transaction import Stale
from pyqless.errors import ClientClosed, ConflictError, QlessError, StorageError
from pyqless.storage.described import Described, logger
from pyqless.storage.sqlite.attempt import Attempt
from pyqless.storage.sqlite.bells import ring
from pyqless.storage.sqlite.file import DatabaseFile
from pyqless.storage.sqlite.listeners import Listener, drop_listener
from pyqless.storage.sqlite.turns import Turn

__all__ = ["carry_out"]

#: how often a transition is begun that finds stale what it has read
_ATTEMPTS: Final = 100


def carry_out(
    storage: Described,
    file: DatabaseFile,
    transition: Factory[Any],
    now: float | None,
    *,
    is_promised: bool = True,
) -> Any:
    """
    Carry out a transition, and what it says is to follow.

    Args:
        is_promised: whether what is done has to outlive a power cut, where the file is durable.

    Raises:
        QlessError: what the transition raises, or why it could not be carried out.
    """
    chain = _Chain(storage, file, is_promised=is_promised and file.durable)
    value, moment = chain.carry_out(transition, now)
    if isinstance(value, FollowedBy):
        try:
            # what a power cut undoes of that, a later call finds and does, as after a fault
            carry_out(storage, file, value.rest, moment, is_promised=False)
        except QlessError as fault:
            logger.warning("housekeeping is left to a later call: %s", fault)
        return value.value
    return value


class _Chain:
    """
    Transitions one after another, of which the last one's value is that of all.

    The log is safe from its beginning, so the disk is waited for once, with the last of them.

    Args:
        is_promised: see ``carry_out``.
    """

    def __init__(self, storage: Described, file: DatabaseFile, *, is_promised: bool) -> None:
        self._storage = storage
        self._file = file
        self._is_promised = is_promised
        #: whether something is committed that has to outlive a power cut, and was not waited for yet
        self._is_owed = False

    def carry_out(self, transition: Factory[Any], now: float | None) -> tuple[Any, float]:
        """Carry all of them out; give the value, and the moment."""
        value, moment = self._until_done(transition, now)
        while isinstance(value, Continue):
            value, moment = self._until_done(value.rest, moment)
        if self._is_owed:
            self._file.write(_settle)
        return value, moment

    def _until_done(self, transition: Factory[Any], now: float | None) -> tuple[Any, float]:
        """Try until a transition finds nothing stale; give its value and its moment."""
        storage = self._storage
        for number in range(_ATTEMPTS):
            attempt = Attempt(storage, transition, now, number)
            try:
                self._once(attempt)
            except Stale:
                storage.metrics.conflicts += 1
            else:
                storage.committed(attempt.tx)
                return attempt.value, attempt.tx.now
        raise ConflictError(
            f"the transaction has found what it read stale {_ATTEMPTS} times:"
            f" {', '.join(attempt.guards)}",
            value=dict.fromkeys(attempt.guards, False),
        )

    def _once(self, attempt: Attempt) -> None:
        """Carry out one attempt."""
        attempt.begin()
        if attempt.only_looks:
            if attempt.is_over or self._look(attempt):
                return
            attempt.begin()
        if listeners := self._file.write(partial(self._write, attempt)):
            _wake(self._file, listeners)

    def _look(self, attempt: Attempt) -> bool:
        """Read as long as snapshots will do; tell whether they did to the end."""
        with self._file.looking() as lane:
            return attempt.look(lane.keyspace)

    def _write(self, attempt: Attempt, turn: Turn) -> list[Listener]:
        """Carry out one attempt when it is its turn; give whom to wake."""
        if turn.has_waited:
            attempt.begin()  # its moment has passed meanwhile
        messages = attempt.carry_out(turn.lane.keyspace)
        is_promised = self._is_promised and not only_lends(attempt.tx)
        if isinstance(attempt.value, Continue):
            turn.may_be_lost = True
            self._is_owed |= is_promised
        else:
            turn.settles, self._is_owed = self._is_owed, False
            turn.may_be_lost = not (turn.settles or is_promised)
        return turn.lane.publish(messages)


def _settle(turn: Turn) -> None:
    turn.settles = True


def _wake(file: DatabaseFile, listeners: list[Listener]) -> None:
    """Wake those who listen, and forget those who are not there any more."""
    gone = [who for who in listeners if who.bell is not None and not ring(file.path, who.bell)]
    if gone:
        with contextlib.suppress(StorageError, ClientClosed):
            file.write(partial(_drop, gone))


def _drop(listeners: list[Listener], turn: Turn) -> None:
    turn.may_be_lost = True
    for listener in listeners:
        drop_listener(turn.lane.connection, listener.id)
    turn.lane.forget()
