# SPDX-License-Identifier: MIT
"""One attempt at a transition."""

from __future__ import annotations

from typing import Any

from pyqless.core.effects import Batch, Factory, Replies, Transition
from pyqless.core.transaction import Stale, Transaction
from pyqless.errors import QlessError
from pyqless.storage.described import Described
from pyqless.storage.redis.asking import ask_room, ask_time
from pyqless.storage.redis.clock import StoreClock
from pyqless.storage.redis.committing import commit, give_way
from pyqless.storage.redis.foresight import Foresight, Unconfirmed
from pyqless.storage.redis.lane import Lane
from pyqless.storage.redis.reading import Reader
from pyqless.storage.redis.steps import Steps

__all__ = ["Attempt"]


class Attempt:
    """
    One attempt at a transition; begun twice where what was read ahead turns out to be of no use.

    Args:
        now: the moment of the call, Unix time in seconds; None where the storage's clock gives it.
        number: how many attempts have met a conflict before.

    Attributes:
        value: what the transition has ended with.
        tx: what it works on.
        reader: what it has read.
        replicas: how many have the commit, if these are too few; see ``ask_replicas``.
    """

    def __init__(self, storage: Described, lane: Lane, now: float | None, number: int) -> None:
        self._storage = storage
        self._lane = lane
        self._now = now
        self._number = number
        self.replicas: int | None = None
        self.value: Any = None

    def run(self, transition: Factory[Any]) -> Steps[None]:
        """
        Drive the transition, and commit what it staged.

        Raises:
            Stale: others have changed what it had read.
            LinkLost: the connection broke, and nothing was changed.
        """
        lane, storage = self._lane, self._storage
        if self._now is None and isinstance(storage.clock, StoreClock):
            yield from ask_time(lane, storage.clock)
        if lane.room.headroom:
            yield from ask_room(lane)
        foresight = lane.take_foresight()
        if foresight is None:
            yield from self._run(transition, None)
            return
        try:
            yield from self._run(transition, foresight)
        except (Stale, Unconfirmed):
            if not self.reader.stands:
                raise
            storage.metrics.misguesses += 1
            lane.trust.wrong(foresight.topic)
            yield from self._run(transition, None)
            return
        if self.reader.has_guessed:
            lane.trust.right(foresight.topic)
        else:
            lane.trust.unused(foresight.topic)

    def _run(self, transition: Factory[Any], foresight: Foresight | None) -> Steps[None]:
        self._begin(foresight)
        reader = self.reader
        steps = transition(self.tx)
        try:
            batch = next(steps)
            while True:
                replies = reader.at_hand(batch)
                if replies is None:
                    replies = yield from reader.read(batch)
                    if reader.has_waited:
                        self._renew_moment()
                batch = self._send(steps, replies)
        except StopIteration as end:
            self.value = end.value
        except (QlessError, Stale):
            yield from give_way(self._lane)
            raise
        if reader.stands and reader.has_guessed and not self.tx.writes:
            raise Unconfirmed
        self.replicas = yield from commit(self._lane, self.tx, reader)

    def _begin(self, foresight: Foresight | None) -> None:
        storage, lane, moment = self._storage, self._lane, self._now
        moment = storage.moment() if moment is None else moment
        self.tx = Transaction(
            moment,
            storage.keys,
            self._number,
            storage.memory,
            lane.policy.chance(),
            takes_turns=lane.turns.are_worth_it,
        )
        self.reader = Reader(lane, foresight)

    def _renew_moment(self) -> None:
        """Whoever has waited comes later than it began, and finds what was put meanwhile."""
        if self._now is None:
            self.tx.now = self._storage.moment()

    def _send(self, steps: Transition[Any], replies: Replies) -> Batch:
        """Hand replies to the transition; no error rests on what was read ahead."""
        try:
            return steps.send(replies)
        except (QlessError, Stale):
            if self.reader.stands:
                raise Unconfirmed from None
            raise
