# SPDX-License-Identifier: MIT
"""Looks at queues that write nothing, and so suit dashboards, replicas and users without write rights."""

from __future__ import annotations

import math
from typing import NamedTuple, TypeVar

from pyqless.core.effects import Factory, Transition
from pyqless.core.paging import limits, page
from pyqless.core.queues import QueueCounts, count_reads
from pyqless.core.transaction import Transaction

__all__ = [
    "Cursor",
    "Page",
    "all_counts",
    "counts",
    "entries",
    "next_run",
    "scheduled",
    "waiting",
    "without_writes",
]

T = TypeVar("T")


def without_writes(transition: Factory[T]) -> Factory[T]:
    """
    Show what a transition gives, and carry out nothing of it.

    What it would put in order first is shown in order, as it reads its own writes.
    It must not be a chain: the next link would find the work of the first one undone.
    """

    def begin(tx: Transaction) -> Transition[T]:
        value = yield from transition(tx)
        tx.drop_writes()
        return value

    return begin


# -- counts and pages -------------------------------------------------------------------------


def counts(tx: Transaction, queue: str) -> Transition[QueueCounts]:
    """A queue's counts at one instant; a delayed job that is due counts as waiting."""
    (found,) = yield from _counts(tx, [queue])
    return found


def all_counts(tx: Transaction) -> Transition[list[QueueCounts]]:
    """The counts of all known queues, in the order in which they were first seen."""
    (names,) = yield from tx.snapshot(("ZRANGE", tx.keys.queues, 0, -1))
    return (yield from _counts(tx, names)) if names else []


def _counts(tx: Transaction, names: list[str]) -> Transition[list[QueueCounts]]:
    reads = [read for name in names for read in count_reads(tx.keys, name, tx.now)]
    replies = yield from tx.snapshot(*reads)
    rows = [replies[at : at + 8] for at in range(0, len(replies), 8)]
    return [
        QueueCounts(
            name=name,
            waiting=waiting + due,
            running=locked - stalled,
            stalled=stalled,
            scheduled=delayed - due,
            depends=depends,
            recurring=recurring,
            paused=bool(paused),
        )
        for name, (due, waiting, locked, stalled, delayed, depends, recurring, paused) in zip(
            names, rows, strict=True
        )
    ]


def waiting(tx: Transaction, queue: str, offset: float, count: float) -> Transition[list[str]]:
    """One page of the jids that wait for a worker, the one that goes first at the head."""
    read = ("ZREVRANGE", tx.keys.work(queue), *page(offset, count))
    (found,) = yield from tx.snapshot(read)
    return list(found)


def scheduled(tx: Transaction, queue: str, offset: float, count: float) -> Transition[list[str]]:
    """One page of the jids that are delayed still, the one due first at the head."""
    later = math.nextafter(tx.now, math.inf)
    key, limit = tx.keys.scheduled(queue), limits(offset, count)
    (found,) = yield from tx.snapshot(("ZRANGEBYSCORE", key, later, "+inf", "LIMIT", *limit))
    return list(found)


def next_run(tx: Transaction, jid: str) -> Transition[float | None]:
    """Unix time at which a recurring job makes its next job, seconds; None where there is none."""
    (queue,) = yield from tx.snapshot(("HGET", tx.keys.recurring_job(jid), "queue"))
    if queue is None:
        return None
    (moment,) = yield from tx.snapshot(("ZSCORE", tx.keys.recur(queue), jid))
    return None if moment is None else float(moment)


# -- all entries of a sorted set, a page at a time --------------------------------------------


class Cursor(NamedTuple):
    """How far a sorted set has been read: from the highest score down."""

    score: float = math.inf
    #: the members of that score which have been read
    seen: frozenset[str] = frozenset()


class Page(NamedTuple):
    """Some entries, and where to go on; None at the end."""

    jids: list[str]
    rest: Cursor | None


def entries(tx: Transaction, key: str, cursor: Cursor, count: int) -> Transition[Page]:
    """
    Read on in a sorted set.

    What stays in its place is read once, whatever comes and goes around it meanwhile.

    Args:
        count: how many entries at most, 1 or more.
    """
    number = count + len(cursor.seen)
    read = ("ZREVRANGEBYSCORE", key, cursor.score, "-inf", "WITHSCORES", "LIMIT", 0, number)
    (found,) = yield from tx.snapshot(read)
    new = [entry for entry in found if entry[0] not in cursor.seen]
    if len(found) < number or not new:
        return Page([jid for jid, _ in new], None)
    lowest = new[-1][1]
    ties = frozenset(jid for jid, score in found if score == lowest)
    return Page([jid for jid, _ in new], Cursor(lowest, ties))
