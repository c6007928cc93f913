# SPDX-License-Identifier: MIT
"""Per-day statistics of a queue: counts, and times as a histogram with Welford's mean and variance (queue.lua)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias

from pyqless.core import busyness, lua
from pyqless.core.effects import Command, Continue, Factory, Replies, Transition
from pyqless.core.keys import Keys
from pyqless.core.transaction import Transaction
from pyqless.errors import StoreCorrupted

__all__ = [
    "Sampler",
    "Statistics",
    "Times",
    "count",
    "day_of",
    "enter_gathered",
    "fold",
    "stats",
]

#: the histogram's bins in the order of ``stats``: 60 seconds, 59 minutes, 23 hours, 6 days
BINS = (
    *(f"s{second}" for second in range(60)),
    *(f"m{minute}" for minute in range(1, 60)),
    *(f"h{hour}" for hour in range(1, 24)),
    *(f"d{day}" for day in range(1, 7)),
)


@dataclass(frozen=True, slots=True)
class Times:
    """How long jobs waited or ran."""

    count: float
    #: seconds
    mean: float
    #: standard deviation, seconds
    std: float
    #: one count a bin, as in ``BINS``
    histogram: list[float]


@dataclass(frozen=True, slots=True)
class Statistics:
    """A queue's day."""

    retries: float
    failed: float
    failures: float
    wait: Times
    run: Times


@lru_cache(maxsize=64)
def day_of(moment: float) -> str:
    """The day of a moment, as it stands in the keys of statistics."""
    if 0 <= moment < 1e12:
        return str(math.floor(moment / 86400.0) * 86400)
    return lua.concat(lua.day(moment))


def count(tx: Transaction, queue: str, moment: float, **increments: int) -> None:
    """Add to the ``retries``, ``failed`` and ``failures`` of a queue on the day of a moment."""
    key = tx.keys.statistics("stats", day_of(moment), queue)
    for field, increment in increments.items():
        tx.hincrby(key, field, increment)


#: how many deferred samples a transaction takes up beside its own
_SOME: Final = 64


class _Place(NamedTuple):
    """Where the samples of one queue and day lie."""

    #: the hash, and the list of what is deferred
    key: str
    pending: str
    summary: Command
    deferred: Command


@lru_cache(maxsize=256)
def _place(keys: Keys, key: str) -> _Place:
    pending = keys.pending(key)
    summary = ("HMGET", key, "total", "mean", "vk")
    return _Place(key, pending, summary, ("LRANGE", pending, 0, _SOME - 1))


#: number, mean, and squares of distances, as the store keeps them
_Summary: TypeAlias = tuple[float, float, float]


class Sampler:
    """
    Adds samples to the times of one queue and day.

    Mean and variance are read, and written anew: where many workers do that at once, all but one of them
    do it in vain. So a queue that is busy has its samples deferred, to a list to which they only append;
    the next quiet transaction enters them, and whoever looks at the statistics counts them in.

    Args:
        key: the hash.
        defers: whether samples are deferred.
        topic: kind and queue, of whatever day.
    """

    __slots__ = ("_deferred", "_place", "_summary", "_topic", "_tx", "defers")

    def __init__(
        self, tx: Transaction, key: str, *, defers: bool = False, topic: tuple[str, str] = ("", "")
    ) -> None:
        self._tx = tx
        self._place = _place(tx.keys, key)
        #: as the store has it
        self._summary: list[str | None] | StoreCorrupted = [None]
        self._deferred: list[str] = []
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
        return self._place.pending

    def guarded(self) -> tuple[Command, ...]:
        """What has to be read, and guarded, before samples are added."""
        return () if self.defers else (self._place.summary,)

    def free(self) -> tuple[Command, ...]:
        """What has to be read besides; who removes from it changes what is guarded."""
        return () if self.defers else (self._place.deferred,)

    def take(self, replies: Replies) -> Replies:
        """
        Begin with what was read.

        Args:
            replies: those to ``guarded`` first, those to ``free`` last.

        Returns:
            what stands in between.
        """
        if self.defers:
            return replies
        self._summary, *others, deferred = replies
        self._deferred = [] if isinstance(deferred, StoreCorrupted) else deferred
        return others

    def add(self, *samples: float) -> None:
        """Add samples, seconds; where the store holds no statistics, report it and leave them out."""
        tx = self._tx
        if tx.gathers:
            for seconds in samples:
                tx.samples.append((self, seconds))
        elif self.defers:
            tx.rpush(self.pending, *map(repr, samples))
            tx.sadd(tx.keys.pendings, self._place.key)
        else:
            self._enter(samples)

    def housekeeping(self) -> Factory[None] | None:
        """What is to follow, now and then, so that deferred samples do not pile up."""
        if self.defers and busyness.seldom(self._tx, ("fold", *self._topic), _SOME // 2):
            return partial(_fold_some, key=self._place.key)
        return None

    def catch_up(self) -> None:
        """Enter what others have deferred."""
        self._enter(())

    def _enter(self, samples: Iterable[float]) -> None:
        """Enter samples behind those that others have deferred."""
        tx, key, deferred = self._tx, self._place.key, self._deferred
        summary = _parsed(key, self._summary)
        bins: dict[str, int] = {}
        for seconds in chain((lua.to_number(text) or 0.0 for text in deferred), samples):
            try:
                summary = _with(key, summary, seconds)
            except StoreCorrupted as fault:
                tx.reports.append(fault)
                continue
            name = _bin(seconds)
            bins[name] = bins.get(name, 0) + 1
        for name, number in bins.items():
            tx.hincrby(key, name, number)
        if bins and isinstance(summary, tuple):
            total, mean, vk = map(lua.argument, summary)
            self._summary = [total, mean, vk]
            tx.hset(key, "total", total, "mean", mean, "vk", vk)
        if deferred:
            tx.ltrim(self.pending, len(deferred), -1)
            self._deferred = []


def _parsed(
    key: str, summary: list[str | None] | StoreCorrupted
) -> _Summary | StoreCorrupted | None:
    """A summary; None where there is no sample yet."""
    if isinstance(summary, StoreCorrupted):
        return summary
    if summary[0] is None:
        return None
    total, mean, vk = map(lua.to_number, summary)
    if total is None or mean is None or vk is None:
        return _no_statistics(key, summary)
    return total, mean, vk


def _with(key: str, summary: _Summary | StoreCorrupted | None, sample: float) -> _Summary:
    """A summary with one more sample."""
    if isinstance(summary, StoreCorrupted):
        raise summary
    if not math.isfinite(sample):
        raise StoreCorrupted(f"{key} takes no sample of {sample} seconds", argument=key)
    if summary is None:
        return 1.0, sample, 0.0
    if summary[0] == -1:
        raise _no_statistics(key, summary)
    return _welford(*summary, sample)


def _no_statistics(key: str, summary: Any) -> StoreCorrupted:
    return StoreCorrupted(f"{key} holds no statistics: {summary!r}", argument=key, value=summary)


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


def _bin(seconds: float) -> str:
    whole = lua.floor(seconds)
    for unit, size, end in (("s", 1, 60), ("m", 60, 3600), ("h", 3600, 86400)):
        if whole < end:
            return unit + lua.concat(whole // size)
    return "d" + lua.concat(whole // 86400)


def fold(tx: Transaction) -> Transition[Continue | None]:
    """Enter all samples that are still deferred."""
    (names,) = yield from tx.snapshot(("SMEMBERS", tx.keys.pendings))
    return Continue(partial(_fold, names=sorted(names))) if names else None


def _fold(tx: Transaction, names: list[str]) -> Transition[Continue | None]:
    """Enter some of the first hash's, then go on."""
    sampler = Sampler(tx, names[0])
    length = ("LLEN", tx.keys.pending(names[0]))
    summary, size, deferred = yield from tx.read(
        *sampler.guarded(), length, free=sampler.free(), last=True, tolerant=True
    )
    sampler.take([summary, deferred])
    sampler.catch_up()
    is_done = not size or isinstance(size, StoreCorrupted) or size <= _SOME
    if is_done:
        tx.srem(tx.keys.pendings, names[0])
    rest = names[1:] if is_done else names
    return Continue(partial(_fold, names=rest)) if rest else None


def _fold_some(tx: Transaction, key: str) -> Transition[None]:
    """Enter some of a hash's, beside others that go on to defer."""
    sampler = Sampler(tx, key)
    summary, deferred = yield from tx.read(
        *sampler.guarded(), free=sampler.free(), last=True, tolerant=True
    )
    sampler.take([summary, deferred])
    sampler.catch_up()


def stats(tx: Transaction, queue: str, date: float) -> Transition[Statistics]:
    """A queue's statistics of the day that a moment lies in, deferred samples included."""
    keys = tx.keys
    day = day_of(date)
    times = [keys.statistics(kind, day, queue) for kind in ("wait", "run")]
    counts, *rest = yield from tx.snapshot(
        ("HMGET", keys.statistics("stats", day, queue), "retries", "failed", "failures"),
        *(("HMGET", key, "total", "mean", "vk", *BINS) for key in times),
        *(("LRANGE", keys.pending(key), 0, -1) for key in times),
    )
    wait, run = map(_times, rest[:2], rest[2:])
    retries, failed, failures = (_number(text) for text in counts)
    return Statistics(retries, failed, failures, wait, run)


def _times(texts: list[str | None], deferred: Iterable[str]) -> Times:
    total, mean, vk, *counts = (_number(text) for text in texts)
    histogram = dict(zip(BINS, counts, strict=True))
    for sample in map(_number, deferred):
        total, mean, vk = _welford(total, mean, vk, sample)
        if (name := _bin(sample)) in histogram:
            histogram[name] += 1
    std = math.sqrt(vk / (total - 1)) if total > 1 and vk > 0 else 0.0
    return Times(total, mean, std, list(histogram.values()))


def _welford(total: float, mean: float, vk: float, sample: float) -> tuple[float, float, float]:
    """Mean and squares of distances with one more sample, in the core's order of operations."""
    total += 1
    new_mean = mean + (sample - mean) / total
    return total, new_mean, vk + (sample - new_mean) * (sample - mean)


def _number(text: str | None) -> float:
    return (lua.to_number(text) or 0.0) if text is not None else 0.0
