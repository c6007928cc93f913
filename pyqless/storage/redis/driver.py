# SPDX-License-Identifier: MIT
"""
The driver: carries transitions out on a Redis by WATCH, MULTI and EXEC.

One packet carries the guards and the reads of a batch, one more the writes and EXEC. MULTI stands at the
end of the packet of the last batch, and no write is sent before its +OK has been read: behind a MULTI that
was refused, the writes would be carried out one by one, unguarded.
"""

from __future__ import annotations

from typing import Any

from pyqless.core.effects import Continue, Factory, FollowedBy
from pyqless.core.transaction import Stale
from pyqless.core.wording import counted
from pyqless.errors import NotReplicated, QlessError, StoreUnavailable
from pyqless.storage.described import Described, logger
from pyqless.storage.redis.attempt import Attempt
from pyqless.storage.redis.conflicts import explain
from pyqless.storage.redis.lane import Lane
from pyqless.storage.redis.policy import Pauses, Policy
from pyqless.storage.redis.steps import LinkLost, Pause, Steps

__all__ = ["carry_out"]


def carry_out(
    storage: Described, policy: Policy, lane: Lane, transition: Factory[Any], now: float | None
) -> Steps[Any]:
    """
    Carry out a transition, and what it says is to follow.

    Raises:
        QlessError: what the transition raises, or why it could not be carried out.
    """
    done = yield from _until_done(storage, policy, lane, transition, now)
    replicas = done.replicas
    while isinstance(done.value, Continue):
        done = yield from _until_done(storage, policy, lane, done.value.rest, done.tx.now)
        replicas = done.replicas if replicas is None else replicas
    value = done.value
    if isinstance(value, FollowedBy):
        try:
            yield from carry_out(storage, policy, lane, value.rest, done.tx.now)
        except QlessError as fault:
            logger.warning("housekeeping is left to a later call: %s", fault)
        value = value.value
    if replicas is not None:
        raise _not_replicated(replicas, value)
    return value


def _until_done(
    storage: Described, policy: Policy, lane: Lane, transition: Factory[Any], now: float | None
) -> Steps[Attempt]:
    """Try until an attempt is committed; gives that attempt."""
    began = policy.monotonic()
    tries = conflicts = 0
    pauses: Pauses | None = None
    while True:
        tries += 1
        storage.metrics.attempts += 1
        attempt = Attempt(storage, lane, now, conflicts)
        try:
            yield from attempt.run(transition)
        except Stale as conflict:
            storage.metrics.conflicts += 1
            conflicts += 1
            failure: Exception = conflict
        except LinkLost as lost:
            failure = lost
        except StoreUnavailable as unavailable:
            # a store that has answered before, on whatever connection, may be about to come back
            if not storage.metrics.answers:
                raise
            failure = unavailable
        else:
            storage.committed(attempt.tx)
            return attempt
        pauses = policy.pauses(began) if pauses is None else pauses
        seconds = next(pauses, None)
        if seconds is None:
            break
        yield Pause(seconds)
    if isinstance(failure, Stale):
        failure = yield from explain(lane, attempt.reader, tries)
    elif isinstance(failure, LinkLost):
        failure = StoreUnavailable(f"the connection keeps breaking: {failure}")
    raise failure


def _not_replicated(replicas: int, value: Any) -> NotReplicated:
    known = None if replicas < 0 else replicas
    number = f"only {counted(replicas, 'replica', 'replicas')}"
    if known is None:
        number = "it is not known how many replicas"
    error = NotReplicated(
        f"the call was carried out, but {number} had it in time",
        argument="durability",
        value=known,
    )
    error.result = value
    return error
