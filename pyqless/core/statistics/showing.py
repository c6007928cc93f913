# SPDX-License-Identifier: MIT
"""What statistics show of a queue's day."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from pyqless.core import lua
from pyqless.core.effects import Transition
from pyqless.core.statistics.counting import day_of
from pyqless.core.statistics.histograms import BINS, bin_of
from pyqless.core.statistics.summaries import welford
from pyqless.core.transaction import Transaction

__all__ = ["Statistics", "Times", "stats"]


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
    total, mean, squares, *counts = (_number(text) for text in texts)
    histogram = dict(zip(BINS, counts, strict=True))
    for sample in map(_number, deferred):
        total, mean, squares = welford(total, mean, squares, sample)
        if (name := bin_of(sample)) in histogram:
            histogram[name] += 1
    std = math.sqrt(squares / (total - 1)) if total > 1 and squares > 0 else 0.0
    return Times(total, mean, std, list(histogram.values()))


def _number(text: str | None) -> float:
    return (lua.to_number(text) or 0.0) if text is not None else 0.0
