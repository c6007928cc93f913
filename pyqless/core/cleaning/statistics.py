# SPDX-License-Identifier: MIT
"""Cleaning up statistics: days, and histograms, that are too old."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pyqless.core import lua
from pyqless.core.effects import Transition
from pyqless.core.keys import Keys
from pyqless.core.settings import DEFAULTS, Settings
from pyqless.core.statistics import BINS
from pyqless.core.transaction import Transaction

__all__ = ["Days", "clean_histograms", "clean_statistics", "known_queues", "statistics_days"]

_DAY = 86400
_TIMES = ("wait", "run")
_KINDS = (*_TIMES, "stats")
_STATISTICS = ("stats-history", "histogram-history")


class Days(NamedTuple):
    """The days of which a queue may have statistics that are too old; midnights, UTC, Unix time in seconds."""

    #: the first one
    first: int
    #: the first one that is to be kept
    end: int
    #: the first one of which the histograms are to be kept, too
    shapes: int

    @property
    def old(self) -> range:
        """Those that are too old."""
        return range(self.first, self.end, _DAY)

    @property
    def shapeless(self) -> range:
        """Those of which only the numbers are to be kept."""
        return range(self.end, self.shapes, _DAY)


def known_queues(tx: Transaction) -> Transition[list[str]]:
    """The queues that there are."""
    (names,) = yield from tx.snapshot(("ZRANGE", tx.keys.queues, 0, -1))
    return list(names)


def statistics_days(tx: Transaction, queue: str) -> Transition[Days]:
    """The days from the one on which a queue was first seen to the oldest that the settings keep."""
    texts, seen = yield from tx.snapshot(
        Settings.read(tx.keys, _STATISTICS), ("ZSCORE", tx.keys.queues, queue)
    )
    settings = Settings(_STATISTICS, texts)
    end, shapes = (
        _midnight(tx.now - settings.number(name, float(DEFAULTS[name])) * _DAY)
        for name in _STATISTICS
    )
    first = end if seen is None or not math.isfinite(seen) else _midnight(seen)
    return Days(min(max(0, first), end), end, max(shapes, end))


def clean_statistics(
    tx: Transaction, queue: str, days: Iterable[int], *, dry: bool = False
) -> Transition[int]:
    """
    Remove a queue's statistics of some days.

    Returns:
        int: how many hashes there were.
    """
    keys = list(_statistics_keys(tx.keys, queue, days, _KINDS))
    if not keys:
        return 0
    found = yield from tx.read(free=[("EXISTS", key) for key in keys], last=True)
    there = [key for key, exists in zip(keys, found, strict=True) if exists]
    if not dry:
        for key in there:
            tx.delete(key)
    return len(there)


def clean_histograms(
    tx: Transaction, queue: str, days: Iterable[int], *, dry: bool = False
) -> Transition[int]:
    """
    Remove the histograms of some days from a queue's statistics; counts, means and deviations stay.

    Returns:
        int: how many hashes had one.
    """
    keys = list(_statistics_keys(tx.keys, queue, days, _TIMES))
    if not keys:
        return 0
    found = yield from tx.read(free=[("HMGET", key, *BINS) for key in keys], last=True)
    count = 0
    for key, texts in zip(keys, found, strict=True):
        bins = [name for name, text in zip(BINS, texts, strict=True) if text is not None]
        count += bool(bins)
        if bins and not dry:
            tx.hdel(key, *bins)
    return count


def _statistics_keys(
    keys: Keys, queue: str, days: Iterable[int], kinds: Iterable[str]
) -> Iterator[str]:
    for day in days:
        for kind in kinds:
            yield keys.statistics(kind, lua.concat(float(day)), queue)


def _midnight(moment: float) -> int:
    return math.floor(moment / _DAY) * _DAY
