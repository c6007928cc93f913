# SPDX-License-Identifier: MIT
"""
The driver: carries a transition out in one transaction of SQLite.

A transition that may write runs from its first read to its last write inside one transaction for writing, of
which there is one at a time: so nobody can interfere. One that only takes snapshots reads what was last
committed, and neither waits for writers nor holds them up.
"""

from __future__ import annotations

import contextlib
from typing import Any, Final

from pyqless.core.effects import Continue, Factory, FollowedBy
from pyqless.core.lending import only_lends
from pyqless.core.transaction import Stale
from pyqless.errors import ConflictError, QlessError, StorageError
from pyqless.storage.base import Described, logger
from pyqless.storage.sqlite.attempt import Attempt
from pyqless.storage.sqlite.bells import ring
from pyqless.storage.sqlite.file import DatabaseFile
from pyqless.storage.sqlite.listeners import Listener, drop_listener

__all__ = ["carry_out"]

#: how often a transition is begun that finds stale what it has read
_ATTEMPTS: Final = 100


def carry_out(
    storage: Described, file: DatabaseFile, transition: Factory[Any], now: float | None
) -> Any:
    """
    Carry out a transition, and what it says is to follow.

    Raises:
        QlessError: what the transition raises, or why it could not be carried out.
    """
    value, moment = _until_done(storage, file, transition, now)
    while isinstance(value, Continue):
        value, moment = _until_done(storage, file, value.rest, moment)
    if isinstance(value, FollowedBy):
        try:
            carry_out(storage, file, value.rest, moment)
        except QlessError as fault:
            logger.warning("housekeeping is left to a later call: %s", fault)
        return value.value
    return value


def _until_done(
    storage: Described, file: DatabaseFile, transition: Factory[Any], now: float | None
) -> tuple[Any, float]:
    """Try until the transition finds nothing stale; give its value and its moment."""
    for number in range(_ATTEMPTS):
        attempt = Attempt(storage, transition, now, number)
        try:
            _once(file, attempt)
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


def _once(file: DatabaseFile, attempt: Attempt) -> None:
    """Carry out one attempt."""
    attempt.begin()
    if attempt.only_looks:
        if attempt.is_over or _look(file, attempt):
            return
        attempt.begin()
    with file.writing() as turn:
        if turn.has_waited:
            attempt.begin()  # its moment has passed meanwhile
        messages = attempt.carry_out(turn.lane.keyspace)
        listeners = turn.lane.publish(messages)
        turn.may_be_lost = file.durable and only_lends(attempt.tx)
    if listeners:
        _wake(file, listeners)


def _look(file: DatabaseFile, attempt: Attempt) -> bool:
    """Read as long as snapshots will do; tell whether they did to the end."""
    with file.looking() as lane:
        return attempt.look(lane.keyspace)


def _wake(file: DatabaseFile, listeners: list[Listener]) -> None:
    """Wake those who listen, and forget those who are not there any more."""
    gone = [who for who in listeners if who.bell is not None and not ring(file.path, who.bell)]
    if gone:
        with contextlib.suppress(StorageError), file.writing() as turn:
            for listener in gone:
                drop_listener(turn.lane.connection, listener.id)
            turn.lane.forget()
