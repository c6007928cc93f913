# SPDX-License-Identifier: MIT
"""Per-day statistics of a queue: counts, and times as a histogram with Welford's mean and variance (queue.lua)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pyqless.core import lua
from pyqless.core.effects import Command, Transition
from pyqless.core.keys import Keys
from pyqless.core.transaction import Transaction
from pyqless.errors import StoreCorrupted

__all__ = ["Sampler", "Statistics", "Times", "count", "day_of", "stats"]

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


def day_of(moment: float) -> str:
    """The day of a moment, as it stands in the keys of statistics."""
    return lua.concat(lua.day(moment))


def count(tx: Transaction, queue: str, moment: float, **increments: int) -> None:
    """Add to the ``retries``, ``failed`` and ``failures`` of a queue on the day of a moment."""
    key = tx.keys.statistics("stats", day_of(moment), queue)
    for field, increment in increments.items():
        tx.hincrby(key, field, increment)


class Sampler:
    """Adds samples to the times of one queue and day, each reading what the one before wrote."""

    __slots__ = ("_key", "_summary", "_tx")

    def __init__(
        self, tx: Transaction, key: str, summary: list[str | None] | StoreCorrupted
    ) -> None:
        self._tx = tx
        self._key = key
        self._summary = summary

    @staticmethod
    def key(keys: Keys, kind: str, now: float, queue: str) -> str:
        """The hash of today's times of a kind, ``wait`` or ``run``; to be guarded."""
        return keys.statistics(kind, day_of(now), queue)

    @staticmethod
    def read(key: str) -> Command:
        """The read whose reply the constructor wants."""
        return ("HMGET", key, "total", "mean", "vk")

    def add(self, seconds: float) -> None:
        """Add a sample; where the store holds no statistics, report it and leave the sample out."""
        try:
            summary = self._with(seconds)
        except StoreCorrupted as fault:
            self._tx.reports.append(fault)
            return
        total, mean, vk = (lua.argument(number) for number in summary)
        self._summary = [total, mean, vk]
        self._tx.hincrby(self._key, _bin(seconds), 1)
        self._tx.hset(self._key, "total", total, "mean", mean, "vk", vk)

    def _with(self, sample: float) -> tuple[float, float, float]:
        summary = self._summary
        if isinstance(summary, StoreCorrupted):
            raise summary
        if not math.isfinite(sample):
            raise StoreCorrupted(
                f"{self._key} takes no sample of {sample} seconds", argument=self._key
            )
        if summary[0] is None:
            return 1.0, sample, 0.0
        total, mean, vk = (lua.to_number(text) for text in summary)
        if total is None or mean is None or vk is None or total == -1:
            message = f"{self._key} holds no statistics: {summary!r}"
            raise StoreCorrupted(message, argument=self._key, value=summary)
        total += 1
        new_mean = mean + (sample - mean) / total
        return total, new_mean, vk + (sample - new_mean) * (sample - mean)


def _bin(seconds: float) -> str:
    whole = lua.floor(seconds)
    for unit, size, end in (("s", 1, 60), ("m", 60, 3600), ("h", 3600, 86400)):
        if whole < end:
            return unit + lua.concat(whole // size)
    return "d" + lua.concat(whole // 86400)


def stats(tx: Transaction, queue: str, date: float) -> Transition[Statistics]:
    """A queue's statistics of the day that a moment lies in."""
    keys = tx.keys
    day = day_of(date)
    times = [keys.statistics(kind, day, queue) for kind in ("wait", "run")]
    counts, *rest = yield from tx.snapshot(
        ("HMGET", keys.statistics("stats", day, queue), "retries", "failed", "failures"),
        *(("HMGET", key, "total", "mean", "vk", *BINS) for key in times),
    )
    wait, run = (_times(reply) for reply in rest)
    retries, failed, failures = (_number(text) for text in counts)
    return Statistics(retries, failed, failures, wait, run)


def _times(texts: list[str | None]) -> Times:
    total, mean, vk, *histogram = (_number(text) for text in texts)
    std = math.sqrt(vk / (total - 1)) if total > 1 and vk > 0 else 0.0
    return Times(total, mean, std, histogram)


def _number(text: str | None) -> float:
    return (lua.to_number(text) or 0.0) if text is not None else 0.0
