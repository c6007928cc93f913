# SPDX-License-Identifier: MIT
"""
Cleaning up what no call of qless-core ever does: the rules of the janitor.

Each is a small transaction that is right by itself, finds what it removes under the guards that keep it true,
and finds nothing where another has just been. With ``dry`` it only looks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from pyqless.core import lua
from pyqless.core.dependencies import free, let_go
from pyqless.core.effects import Transition
from pyqless.core.keys import Keys
from pyqless.core.presence import record_key, register_key
from pyqless.core.records import StoredJob
from pyqless.core.settings import DEFAULTS, Settings
from pyqless.core.statistics import BINS
from pyqless.core.transaction import Transaction
from pyqless.errors import CorruptedJob

__all__ = [
    "Days",
    "clean_histograms",
    "clean_statistics",
    "clean_tag",
    "clean_tracked",
    "drop_silent_workers",
    "drop_worker_entries",
    "indexes",
    "known_queues",
    "known_tags",
    "known_workers",
    "mend_dependencies",
    "old_workers",
    "page_of_depending",
    "statistics_days",
]

_DAY = 86400
_TIMES = ("wait", "run")
_KINDS = (*_TIMES, "stats")
_STATISTICS = ("stats-history", "histogram-history")
_WORKERS = ("max-worker-age",)

#: how many jobs or workers are looked at in one transaction
PAGE = 100


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


# -- what there is ----------------------------------------------------------------------------


def known_queues(tx: Transaction) -> Transition[list[str]]:
    """The queues that there are."""
    (names,) = yield from tx.snapshot(("ZRANGE", tx.keys.queues, 0, -1))
    return list(names)


def known_tags(tx: Transaction) -> Transition[list[str]]:
    """The tags that are counted."""
    (names,) = yield from tx.snapshot(("ZRANGE", tx.keys.tag_counts, 0, -1))
    return list(names)


def known_workers(tx: Transaction) -> Transition[list[str]]:
    """The workers that there are."""
    (names,) = yield from tx.snapshot(("ZRANGE", tx.keys.workers, 0, -1))
    return list(names)


def old_workers(tx: Transaction) -> Transition[list[str]]:
    """The workers that have not been seen for ``max-worker-age``, which ``workers.counts`` drops."""
    texts, seen = yield from tx.snapshot(
        Settings.read(tx.keys, _WORKERS), ("ZRANGE", tx.keys.workers, 0, -1, "WITHSCORES")
    )
    oldest = tx.now - Settings(_WORKERS, texts).number("max-worker-age", 86400.0)
    return [name for name, moment in seen if 0 <= moment <= oldest]


# -- statistics -------------------------------------------------------------------------------


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


# -- workers ----------------------------------------------------------------------------------


def drop_worker_entries(
    tx: Transaction, worker: str, offset: int, *, dry: bool = False
) -> Transition[tuple[list[str], int]]:
    """
    Remove from a worker's list the jobs that it has no longer: those timed out by hand stay there for ever.

    Args:
        offset: where to begin.

    Returns:
        tuple: their jids, and how many were looked at.
    """
    keys = tx.keys
    key = keys.worker_jobs(worker)
    (jids,) = yield from tx.read(free=[("ZRANGE", key, offset, offset + PAGE - 1)])
    if not jids:
        return [], 0
    held = yield from tx.read(
        *(("HMGET", keys.job(jid), "worker", "state") for jid in jids), last=True
    )
    gone = [jid for jid, job in zip(jids, held, strict=True) if job != [worker, "running"]]
    if gone and not dry:
        tx.zrem(key, *gone)
    return gone, len(jids)


def drop_silent_workers(tx: Transaction, age: float, *, dry: bool = False) -> Transition[list[str]]:
    """
    Forget what workers of pyqless have told of themselves that have told nothing for long.

    Args:
        age: for how long, seconds.

    Returns:
        list: their names.
    """
    keys = tx.keys
    (seen,) = yield from tx.read(("ZRANGE", register_key(keys), 0, -1, "WITHSCORES"), last=True)
    silent = [name for name, moment in seen if moment <= tx.now - age][:PAGE]
    if silent and not dry:
        tx.zrem(register_key(keys), *silent)
        for name in silent:
            tx.delete(record_key(keys, name))
    return silent


# -- tracked jobs and tags --------------------------------------------------------------------


def clean_tracked(
    tx: Transaction, offset: int, *, dry: bool = False
) -> Transition[tuple[list[str], int]]:
    """
    Stop tracking jobs that are gone.

    Args:
        offset: where to begin.

    Returns:
        tuple: their jids, and how many were looked at.
    """
    keys = tx.keys
    (jids,) = yield from tx.read(free=[("ZRANGE", keys.tracked, offset, offset + PAGE - 1)])
    if not jids:
        return [], 0
    found = yield from tx.read(*(("EXISTS", keys.job(jid)) for jid in jids), last=True)
    gone = [jid for jid, exists in zip(jids, found, strict=True) if not exists]
    if gone and not dry:
        tx.zrem(keys.tracked, *gone)
    return gone, len(jids)


def indexes(name: str) -> list[str]:
    """
    The texts under which the jobs are found that bear a tag, by the name under which it is counted.

    A tag may be a number, since JSON has them, and Lua writes some numbers in two ways: with 14 digits in the name of the
    index, and with 17 in the count.
    """
    number = lua.to_number(name)
    if number is None or lua.argument(number) != name:
        return [name]
    return list(dict.fromkeys([name, lua.concat(number)]))


def clean_tag(
    tx: Transaction, tag: str, offset: int, *, dry: bool = False
) -> Transition[tuple[list[str], int]]:
    """
    Take jobs that are gone, or do not bear it, out of a tag's index; once all are seen, count the tag anew.

    The core counts a tag that was given twice twice, and takes it away once. A number is not counted anew: others may be
    found under its text.

    Args:
        tag: its text in the index.

    Returns:
        tuple: their jids, and how many were looked at.
    """
    keys = tx.keys
    key = keys.tag(tag)
    jids, size = yield from tx.read(("ZRANGE", key, offset, offset + PAGE - 1), ("ZCARD", key))
    texts = yield from tx.read(*(("HGET", keys.job(jid), "tags") for jid in jids))
    gone = [jid for jid, text in zip(jids, texts, strict=True) if not _bears(text, tag)]
    (count,) = yield from tx.read(free=[("ZSCORE", keys.tag_counts, tag)], last=True)
    if dry:
        return gone, len(jids)
    if gone:
        tx.zrem(key, *gone)
    left = size - len(gone)
    if offset + len(jids) >= size and count is not None:
        if left == 0 and indexes(tag) == [tag]:
            tx.zrem(keys.tag_counts, tag)
        elif count != left and lua.to_number(tag) is None:
            tx.zadd(keys.tag_counts, float(left), tag)
    return gone, len(jids)


def _bears(text: str | None, tag: str) -> bool:
    try:
        tags = lua.decode(text or "{}")
    except lua.JSONError:
        return True  # a damaged job is the doctor's business
    return isinstance(tags, list) and any(_text(borne) == tag for borne in tags)


def _text(tag: Any) -> str | None:
    """The text of a tag in the index; of what is no tag there is none."""
    return lua.concat(tag) if isinstance(tag, str | float) else None


# -- dependencies -----------------------------------------------------------------------------


def page_of_depending(tx: Transaction, queue: str, offset: int) -> Transition[list[str]]:
    """The jids of a queue that wait for others, a page of them."""
    (jids,) = yield from tx.snapshot(("ZRANGE", tx.keys.depends(queue), offset, offset + PAGE - 1))
    return list(jids)


def mend_dependencies(
    tx: Transaction, jid: str, *, dry: bool = False
) -> Transition[list[str] | None]:
    """
    Let a job no longer wait for jobs that are gone or complete; if it then waits for none, it is let go.

    Returns:
        list: the jids of those others, 100 at most; none where it waited for nothing at all. None if all is well.
    """
    keys = tx.keys
    fields, parents = yield from tx.read(
        ("HGETALL", keys.job(jid)), ("SMEMBERS", keys.dependencies(jid))
    )
    if fields.get("state") != "depends":
        return None
    gone = []
    if looked := sorted(parents)[:PAGE]:
        states = yield from tx.read(*(("HGET", keys.job(parent), "state") for parent in looked))
        ended = (state in (None, "complete") for state in states)
        gone = [parent for parent, has_ended in zip(looked, ended, strict=True) if has_ended]
        if not gone:
            return None
    try:
        if not dry:
            _let_go(StoredJob(tx, jid, fields), parents, gone)
    except CorruptedJob as fault:
        tx.reports.append(fault)
        return None
    return gone


def _let_go(child: StoredJob, parents: set[str], gone: list[str]) -> None:
    if not parents:
        free(child)
    for parent in gone:
        let_go(child, parents, parent)
        child.tx.srem(child.tx.keys.dependents(parent), child.jid)
