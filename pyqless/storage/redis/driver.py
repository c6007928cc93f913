# SPDX-License-Identifier: MIT
"""
The driver: carries transitions out on a Redis by WATCH, MULTI and EXEC.

One packet carries the guards and the reads of a batch, one more the writes and EXEC. MULTI stands at the
end of the packet of the last batch, and no write is sent before its +OK has been read: behind a MULTI that
was refused, the writes would be carried out one by one, unguarded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pyqless.core.effects import Batch, Command, Continue, Factory, FollowedBy, Replies, Transition
from pyqless.core.transaction import Stale, Transaction
from pyqless.errors import (
    ConflictError,
    NotReplicated,
    QlessError,
    StoreCorrupted,
    StoreRefused,
    StoreUnavailable,
)
from pyqless.storage.base import Described, logger
from pyqless.storage.redis.clock import StoreClock
from pyqless.storage.redis.foresight import Foresight, Unconfirmed
from pyqless.storage.redis.lane import Lane, State
from pyqless.storage.redis.outcomes import Kind, Outcome
from pyqless.storage.redis.policy import Pauses, Policy
from pyqless.storage.redis.protocol import ServerError, replies_of, same
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
        done = yield from _until_done(storage, policy, lane, done.value.rest, done.now)
        replicas = done.replicas if replicas is None else replicas
    value = done.value
    if isinstance(value, FollowedBy):
        try:
            yield from carry_out(storage, policy, lane, value.rest, done.now)
        except QlessError as fault:
            logger.warning("housekeeping is left to a later call: %s", fault)
        value = value.value
    if replicas is not None:
        raise _not_replicated(replicas, value)
    return value


class _Done(NamedTuple):
    value: Any
    now: float
    #: how many replicas have the commit, if these are too few
    replicas: int | None


def _until_done(
    storage: Described, policy: Policy, lane: Lane, transition: Factory[Any], now: float | None
) -> Steps[_Done]:
    """Try until an attempt is committed."""
    began = policy.monotonic()
    tries = conflicts = 0
    pauses: Pauses | None = None
    while True:
        tries += 1
        storage.metrics.attempts += 1
        attempt = _Attempt(storage, lane, now, conflicts)
        try:
            value = yield from attempt.run(transition)
        except Stale as conflict:
            storage.metrics.conflicts += 1
            conflicts += 1
            failure: Exception = conflict
        except LinkLost as lost:
            failure = lost
        except StoreUnavailable as unavailable:
            # a store that has answered before may be about to come back
            if not lane.has_answered:
                raise
            failure = unavailable
        else:
            storage.committed(attempt.tx)
            return _Done(value, attempt.tx.now, attempt.replicas)
        pauses = policy.pauses(began) if pauses is None else pauses
        seconds = next(pauses, None)
        if seconds is None:
            break
        yield Pause(seconds)
    if isinstance(failure, Stale):
        failure = yield from attempt.conflict(tries)
    elif isinstance(failure, LinkLost):
        failure = StoreUnavailable(f"the connection keeps breaking: {failure}")
    raise failure


def _keep_time(clock: StoreClock, lane: Lane) -> Steps[None]:
    """See to it that the store's clock is known."""
    if clock.is_due() or lane.is_new:
        yield from lane.learn_time(clock)


def _not_replicated(replicas: int, value: Any) -> NotReplicated:
    known = None if replicas < 0 else replicas
    number = "it is not known how many" if known is None else f"only {known}"
    error = NotReplicated(
        f"the call was carried out, but {number} replicas had it in time",
        argument="durability",
        value=known,
    )
    error.result = value
    return error


class _Attempt:
    """One attempt at a transition; begun twice where what was read ahead turns out to be of no use."""

    def __init__(self, storage: Described, lane: Lane, now: float | None, number: int) -> None:
        self._storage = storage
        self._lane = lane
        self._now = now
        self._number = number
        #: how many replicas have the commit, if these are too few
        self.replicas: int | None = None

    def _begin(self, foresight: Foresight | None) -> None:
        storage, moment = self._storage, self._now
        moment = storage.clock() if moment is None else moment
        chance = self._lane.policy.chance()
        self.tx = Transaction(
            moment,
            storage.keys,
            self._number,
            storage.memory,
            chance,
            takes_turns=self._lane.turns.are_worth_it,
        )
        self._foresight = foresight
        #: whether the guards of what was read ahead stand, and whether the transition was answered with it
        self._stands = foresight is not None
        self._guessed = False
        self._batches = 0
        self._guards: list[str] = []
        #: what was read, as the server sent it
        self._log: list[tuple[Sequence[Command], Sequence[Any]]] = []

    @property
    def _seen(self) -> list[tuple[Command, Any]]:
        """What was read of guarded keys."""
        guarded = set(self._guards)
        return [entry for entry in self._entries() if entry[0][1] in guarded]

    def _entries(self) -> list[tuple[Command, Any]]:
        """All that was read."""
        return [entry for reads, replies in self._log for entry in zip(reads, replies, strict=True)]

    def run(self, transition: Factory[Any]) -> Steps[Any]:
        """
        Drive the transition, and commit what it staged.

        Raises:
            Stale: others have changed what it had read.
            LinkLost: the connection broke, and nothing was changed.
        """
        if self._now is None and isinstance(self._storage.clock, StoreClock):
            yield from _keep_time(self._storage.clock, self._lane)
        if self._lane.headroom:
            yield from self._lane.learn_room()
        foresight = self._lane.take_foresight()
        self._begin(foresight)
        if foresight is None:
            return (yield from self._run(transition))
        try:
            value = yield from self._run(transition)
        except (Stale, Unconfirmed):
            if not self._stands:
                raise
            self._storage.metrics.misguesses += 1
            self._lane.trust.wrong(foresight.topic)
            self._begin(None)
            return (yield from self._run(transition))
        if self._guessed:
            self._lane.trust.right(foresight.topic)
        else:
            self._lane.trust.unused(foresight.topic)
        return value

    def _run(self, transition: Factory[Any]) -> Steps[Any]:
        steps = transition(self.tx)
        try:
            batch = next(steps)
            while True:
                replies = self._at_hand(batch)
                if replies is None:
                    replies = yield from self._read(batch)
                batch = self._send(steps, replies)
        except StopIteration as end:
            value = end.value
        except (QlessError, Stale):
            yield from self._lane.give_way()
            raise
        if self._stands and self._guessed and not self.tx.writes:
            raise Unconfirmed
        yield from self._commit()
        return value

    def _send(self, steps: Transition[Any], replies: Replies) -> Batch:
        """Hand replies to the transition; no error rests on what was read ahead."""
        try:
            return steps.send(replies)
        except (QlessError, Stale):
            if self._stands:
                raise Unconfirmed from None
            raise

    # -- reading ----------------------------------------------------------------------------

    def _at_hand(self, batch: Batch) -> Replies | None:
        """The replies to a batch that needs no exchange."""
        self._batches += 1
        if not (batch.reads or self._guards) and self._lane.is_open():
            return []
        if self._foresight is None:
            return None
        raw = self._foresight.answer(batch)
        if raw is None:
            self._foresight = None
            return None
        if not self._guessed:
            self._note_guess(self._foresight)
        return replies_of(batch.reads, raw)

    def _note_guess(self, foresight: Foresight) -> None:
        self._guessed = True
        self._storage.metrics.guesses += 1
        self._guards = [self._lane.fence, *foresight.guards]
        self._log.append((foresight.reads, foresight.replies))

    def _read(self, batch: Batch) -> Steps[Replies]:
        if batch.snapshot:
            raw = yield from self._snapshot(tuple(batch.reads))
        elif self._guards and self._lane.state is State.QUEUEING:
            raw = yield from self._read_again(batch)
        else:
            raw = yield from self._read_on(batch)
        self._stands = False
        return replies_of(batch.reads, raw)

    def _snapshot(self, reads: tuple[Command, ...]) -> Steps[Replies]:
        """Read at one instant; a single command is one by itself."""
        lane, leave = self._lane, self._lane.leave()
        if not reads:
            return []
        if len(reads) > 1:
            outcome = yield from lane.execute(reads, before=(*leave, ("MULTI",)))
            if outcome.fault is not None and outcome.fault.value == "OOM":
                return (yield from self._guarded_snapshot(reads))
            return _results(outcome)
        replies = yield from lane.exchange(*leave, *reads)
        yield from lane.require_ok(leave, replies[: len(leave)])
        lane.state = State.IDLE
        return replies[len(leave) :]

    def _guarded_snapshot(self, reads: tuple[Command, ...]) -> Steps[Replies]:
        """As ``_snapshot`` where servers up to 7.2, out of memory, queue nothing, not even reads."""
        watch = ("WATCH", *dict.fromkeys(read[1] for read in reads))
        outcome = yield from self._lane.execute((), before=(watch, *reads, ("MULTI",)))
        _results(outcome)
        return list(outcome.before[1:-1])

    def _read_on(self, batch: Batch) -> Steps[Replies]:
        """Guard, read, and open the commit if this is the last batch; whoever is to wait does so in between."""
        lane = self._lane
        fresh = not self._guards
        waiting = lane.turns.wait(batch.turn)
        keys = (*((lane.fence,) if fresh else ()), *batch.guards)
        control = (*(lane.enter() if fresh else ()), *((("WATCH", *keys),) if keys else ()))
        raw = yield from self._exchange(control, waiting, batch)
        if waiting:
            lane.turns.came(raw[: len(waiting)], lane.fence)
            self._renew_moment()
        return raw[len(waiting) :]

    def _renew_moment(self) -> None:
        """Whoever has waited comes later than it began, and finds what was put meanwhile."""
        if self._now is None:
            self.tx.now = self._storage.clock()

    def _read_again(self, batch: Batch) -> Steps[Replies]:
        """
        Read on behind a batch that was announced as the last one.

        DISCARD drops the guards, so they are set anew, and what they guard must read as before. So must the places of
        jobs: a job may have moved by a write that left all that was read of its hash as it was.
        """
        self._storage.metrics.reopenings += 1
        lane = self._lane
        guarded = set(self._guards)
        seen = [
            (read, reply)
            for read, reply in self._entries()
            if read[1] in guarded or read[0] == "ZSCORE"
        ]
        again = tuple(read for read, _ in seen)
        control = (*lane.leave(), ("WATCH", *self._guards, *batch.guards))
        raw = yield from self._exchange(control, again, batch)
        for (read, before), now in zip(seen, raw, strict=False):
            if not same(read, before, now):
                raise Stale
        return raw[len(again) :]

    def _exchange(
        self, control: tuple[Command, ...], again: tuple[Command, ...], batch: Batch
    ) -> Steps[Replies]:
        lane = self._lane
        opening: tuple[Command, ...] = (("MULTI",),) if batch.last else ()
        replies = yield from lane.exchange(*control, *again, *batch.reads, *opening)
        lane.state = State.QUEUEING if batch.last else State.WATCHING
        first, end = len(control), len(replies) - len(opening)
        yield from lane.require_ok((*control, *opening), replies[:first] + replies[end:])
        self._guards += (*((lane.fence,) if not self._guards else ()), *batch.guards)
        raw = replies[first:end]
        self._log.append((batch.reads, raw[len(again) :]))
        return raw

    # -- committing -------------------------------------------------------------------------

    def _commit(self) -> Steps[None]:
        lane, writes = self._lane, self.tx.merged
        if self.tx.grows and lane.room < lane.headroom:
            raise StoreRefused(
                f"the store has {max(lane.room, 0):.1%} of its memory left, and the last"
                f" {lane.headroom:.1%} are for the work that is there",
                argument="headroom",
                value=lane.room,
            )
        if not writes and (self._batches < 2 or not self._guards):
            # what one batch of guarded reads saw needs no confirmation, a snapshot even less
            yield from lane.give_way()
            return
        if lane.state is not State.QUEUEING or not (self._guards or lane.is_open()):
            guard = () if self._guards else (*lane.enter(), ("WATCH", lane.fence))
            control: tuple[Command, ...] = (*guard, ("MULTI",))
            replies = yield from lane.exchange(*control)
            lane.state = State.QUEUEING
            yield from lane.require_ok(control, replies)
        outcome = yield from (lane.commit(writes, self.tx.ahead) if writes else lane.execute(()))
        if outcome.kind is Kind.UNKNOWN and writes:
            if not (yield from lane.recover()):
                raise LinkLost("the commit had not taken place", sent=False)
            self.replicas = yield from lane.is_replicated()
            return
        results = _results(outcome)
        if writes and lane.replication is not None:
            self.replicas = yield from lane.is_replicated()
        if ServerError not in map(type, results):
            return
        for write, result in zip(writes, results, strict=False):
            if isinstance(result, ServerError):
                raise StoreCorrupted(
                    f"{write[1]}: {write[0]} failed in the middle of a commit: {result}",
                    argument=write[1],
                    value=write[0],
                )

    def conflict(self, attempts: int) -> Steps[ConflictError]:
        """Look once more at what was guarded, to tell what others have changed."""
        changed = dict.fromkeys(self._guards[1:], False)
        try:
            replies = yield from self._snapshot(tuple(read for read, _ in self._seen))
        except (LinkLost, Stale, QlessError):
            replies = []
        for (read, before), now in zip(self._seen, replies, strict=False):
            changed[read[1]] |= not same(read, before, now)
        names = ", ".join(key for key, is_changed in changed.items() if is_changed) or "unknown"
        return ConflictError(
            f"others kept changing what the transaction had read, {attempts} times: {names}",
            value=changed,
        )


def _results(outcome: Outcome) -> Replies:
    """
    The replies of a commit that took place.

    Raises:
        Stale: it met a conflict.
        StorageError: the server refused it.
        LinkLost: the connection broke; there was nothing to be changed, or nothing was.
    """
    if outcome.kind is Kind.COMMITTED:
        return outcome.replies
    if outcome.kind is Kind.CONFLICT:
        raise Stale
    if outcome.fault is not None:
        raise outcome.fault
    raise LinkLost("the connection broke", sent=outcome.kind is Kind.UNKNOWN)
