# SPDX-License-Identifier: MIT
"""Adding samples to the times of a queue, at once or later."""

from __future__ import annotations

from functools import partial

from pyqless.core import busyness
from pyqless.core.effects import Command, Factory, Replies
from pyqless.core.statistics.counting import day_of
from pyqless.core.statistics.folding import fold_some
from pyqless.core.statistics.stored import SOME, StoredTimes
from pyqless.core.transaction import Transaction

__all__ = ["Sampler", "enter_gathered"]


class Sampler:
    """
    Adds samples to the times of one queue and day.

    Args:
        key: the hash.
        defers: whether samples are deferred.
        topic: kind and queue, of whatever day.
    """

    __slots__ = ("_times", "_topic", "_tx", "defers")

    def __init__(
        self, tx: Transaction, key: str, *, defers: bool = False, topic: tuple[str, str] = ("", "")
    ) -> None:
        self._tx = tx
        self._times = StoredTimes(tx, key)
        self.defers = defers
        self._topic = topic

    @classmethod
    def of(cls, tx: Transaction, kind: str, queue: str) -> Sampler:
        """The sampler of today's times of a kind, ``wait`` or ``run``, in a queue."""
        key = tx.keys.statistics(kind, day_of(tx.now), queue)
        return cls(tx, key, defers=busyness.is_busy(tx, queue), topic=(kind, queue))

    @property
    def pending(self) -> str:
        """The list of what is deferred."""
        return self._times.place.pending

    def guarded(self) -> tuple[Command, ...]:
        """What has to be read, and guarded, before samples are added."""
        return () if self.defers else self._times.place.guarded

    def free(self) -> tuple[Command, ...]:
        """What has to be read besides; who removes from it changes what is guarded."""
        return () if self.defers else self._times.place.free

    def take(self, replies: Replies) -> Replies:
        """
        Begin with what was read.

        Args:
            replies: those to ``guarded`` first, those to ``free`` last.

        Returns:
            what stands in between.
        """
        return replies if self.defers else self._times.take(replies)

    def add(self, *samples: float) -> None:
        """Add samples, seconds; where the store holds no statistics, report it and leave them out."""
        tx = self._tx
        if tx.gathers:
            for seconds in samples:
                tx.samples.append((self, seconds))
        elif self.defers:
            tx.rpush(self.pending, *map(repr, samples))
            tx.sadd(tx.keys.pendings, self._times.key)
        else:
            self._times.enter(samples)

    def housekeeping(self) -> Factory[None] | None:
        """What is to follow, now and then, so that deferred samples do not pile up."""
        if self.defers and busyness.seldom(self._tx, ("fold", *self._topic), SOME // 2):
            return partial(fold_some, key=self._times.key)
        return None


def enter_gathered(tx: Transaction) -> None:
    """Enter the samples that several transitions have left in ``tx.samples``, with a write a hash and field."""
    gathered, tx.samples, tx.gathers = tx.samples, [], False
    samples: dict[str, list[float]] = {}
    samplers: dict[str, Sampler] = {}
    for sampler, seconds in gathered:
        samplers.setdefault(sampler.pending, sampler)
        samples.setdefault(sampler.pending, []).append(seconds)
    for pending, sampler in samplers.items():
        sampler.add(*samples[pending])
