# SPDX-License-Identifier: MIT
"""Carrying out transitions, attempt by attempt."""

from __future__ import annotations

from typing import Any, Final, TypeVar, cast

from pyqless.core.effects import Batch, Continue, Factory, FollowedBy
from pyqless.core.transaction import Stale, Transaction
from pyqless.errors import ConflictError, QlessError
from pyqless.storage.described import Described, logger
from pyqless.storage.memory.database import Database

__all__ = ["run"]

T = TypeVar("T")

#: how often a transition is begun that finds stale what it has read
_ATTEMPTS: Final = 100


def run(storage: Described, database: Database, transition: Factory[T], now: float | None) -> T:
    """
    Carry out a transition, and what it says is to follow.

    Args:
        database: of which the caller holds the lock.
        now: see ``Storage.run``.
    """
    value, moment = _until_done(storage, database, transition, now)
    while isinstance(value, Continue):
        value, moment = _until_done(storage, database, value.rest, moment)
    if isinstance(value, FollowedBy):
        try:
            run(storage, database, value.rest, moment)
        except QlessError as fault:
            logger.warning("housekeeping is left to a later call: %s", fault)
        value = value.value
    return cast("T", value)


def _until_done(
    storage: Described, database: Database, transition: Factory[Any], now: float | None
) -> tuple[Any, float]:
    """Try until the transition finds nothing stale; give its value and its moment."""
    batches: list[Batch] = []
    for attempt in range(_ATTEMPTS):
        tx = Transaction(storage.moment() if now is None else now, storage.keys, attempt)
        storage.metrics.attempts += 1
        batches.clear()
        try:
            value = database.drive(transition(tx), batches)
        except Stale:
            storage.metrics.conflicts += 1
            continue
        database.apply(tx)
        storage.committed(tx)
        return value, tx.now
    raise _always_stale(batches)


def _always_stale(batches: list[Batch]) -> ConflictError:
    guards = dict.fromkeys((key for batch in batches for key in batch.guards), False)
    names = ", ".join(guards)
    return ConflictError(
        f"the transaction has found what it read stale {_ATTEMPTS} times: {names}", value=guards
    )
