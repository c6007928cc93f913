# SPDX-License-Identifier: MIT
"""Queues: their counts, the jids in each state, pausing and forgetting (QlessQueue.counts, Qless.jobs, ...)."""

from __future__ import annotations

from typing import NamedTuple

from pyqless.core.candidates import Place, set_aside
from pyqless.core.effects import Command, Continue, Transition, raise_first
from pyqless.core.keys import Keys
from pyqless.core.paging import limits, page
from pyqless.core.places import promote
from pyqless.core.records import StoredJob
from pyqless.core.transaction import Stale, Transaction
from pyqless.errors import StoreCorrupted

__all__ = [
    "STATES",
    "QueueCounts",
    "all_counts",
    "completed",
    "count_reads",
    "counts",
    "forget",
    "jids",
    "length",
    "pause",
    "unpause",
]

#: the states whose jids a queue can list
STATES = ("running", "stalled", "scheduled", "depends", "recurring")

#: how many delayed jobs a transaction promotes at most
MANY = 100


class QueueCounts(NamedTuple):
    """How many jobs of a queue are in each state."""

    name: str
    waiting: int
    running: int
    #: their lock has expired
    stalled: int
    scheduled: int
    depends: int
    recurring: int
    paused: bool


def counts(tx: Transaction, queue: str) -> Transition[QueueCounts | Continue]:
    """A queue's counts at one instant; what was delayed until now is promoted first."""
    found = yield from _counts(tx, [queue])
    return found[0] if found else Continue(lambda tx: counts(tx, queue))


def all_counts(tx: Transaction) -> Transition[list[QueueCounts] | Continue]:
    """The counts of all known queues, in the order in which they were first seen."""
    (names,) = yield from tx.snapshot(("ZRANGE", tx.keys.queues, 0, -1))
    if not names:
        return []
    return (yield from _counts(tx, names)) or Continue(all_counts)


def _counts(tx: Transaction, names: list[str]) -> Transition[list[QueueCounts] | None]:
    """The counts, or None where some jobs had to be promoted first."""
    reads = [read for name in names for read in count_reads(tx.keys, name, tx.now)]
    replies = yield from tx.snapshot(*reads)
    rows = [replies[at : at + 8] for at in range(0, len(replies), 8)]
    late = [name for name, row in zip(names, rows, strict=True) if row[0]]
    if late:
        yield from _promote(tx, late[0])
        return None
    return [
        QueueCounts(
            name, waiting, locked - stalled, stalled, scheduled, depends, recurring, bool(paused)
        )
        for name, (_, waiting, locked, stalled, scheduled, depends, recurring, paused) in zip(
            names, rows, strict=True
        )
    ]


def count_reads(keys: Keys, queue: str, now: float) -> tuple[Command, ...]:
    """The reads that a queue's counts are made of; the first tells how many delayed jobs are due."""
    return (
        ("ZCOUNT", keys.scheduled(queue), 0, now),
        ("ZCARD", keys.work(queue)),
        ("ZCARD", keys.locks(queue)),
        ("ZCOUNT", keys.locks(queue), 0, now),
        ("ZCARD", keys.scheduled(queue)),
        ("ZCARD", keys.depends(queue)),
        ("ZCARD", keys.recur(queue)),
        ("SISMEMBER", keys.paused, queue),
    )


def _promote(tx: Transaction, queue: str) -> Transition[None]:
    """Promote a bounded number of the jobs that were delayed until now."""
    keys, place = tx.keys, tx.keys.scheduled(queue)
    (head,) = yield from tx.read(
        free=[("ZRANGEBYSCORE", place, 0, "+inf", "WITHSCORES", "LIMIT", 0, MANY)]
    )
    due = [(jid, moment) for jid, moment in head if moment <= tx.now]
    replies = yield from tx.read(
        *(("HGETALL", keys.job(jid)) for jid, _ in due),
        free=[("ZSCORE", place, jid) for jid, _ in due],
        last=True,
        tolerant=True,
    )
    if replies[len(due) :] != [moment for _, moment in due]:
        raise Stale
    for (jid, moment), fields in zip(due, replies, strict=False):
        try:
            raise_first([fields])
            promote(StoredJob(tx, jid, fields), queue)
        except StoreCorrupted as fault:
            set_aside(tx, queue, Place(place, jid, moment), fault)


def jids(
    tx: Transaction, state: str, queue: str, offset: float, count: float
) -> Transition[list[str] | Continue]:
    """
    One page of a queue's jids in a state.

    Args:
        state: one of ``STATES``.
    """
    keys, now = tx.keys, tx.now
    if state == "scheduled":
        read: Command = ("ZRANGE", keys.scheduled(queue), *page(offset, count))
        late, found = yield from tx.snapshot(("ZCOUNT", keys.scheduled(queue), 0, now), read)
        if late:
            yield from _promote(tx, queue)
            return Continue(lambda tx: jids(tx, state, queue, offset, count))
        return list(found)
    if state == "depends":
        read = ("ZRANGE", keys.depends(queue), *page(offset, count))
    else:
        key, lowest, highest = {
            "running": (keys.locks(queue), now, "+inf"),
            "stalled": (keys.locks(queue), "-inf", now),
            "recurring": (keys.recur(queue), 0, "+inf"),
        }[state]
        read = ("ZRANGEBYSCORE", key, lowest, highest, "LIMIT", *limits(offset, count))
    (found,) = yield from tx.snapshot(read)
    return list(found)


def completed(tx: Transaction, offset: float, count: float) -> Transition[list[str]]:
    """One page of the completed jids of all queues, the last one first."""
    (found,) = yield from tx.snapshot(("ZREVRANGE", tx.keys.completed, *page(offset, count)))
    return list(found)


def length(tx: Transaction, queue: str) -> Transition[int]:
    """How many jobs of a queue run, wait or are delayed."""
    keys = tx.keys
    sets = (keys.locks(queue), keys.work(queue), keys.scheduled(queue))
    return sum((yield from tx.snapshot(*(("ZCARD", key) for key in sets))))


def pause(tx: Transaction, names: list[str]) -> Transition[None]:
    """Let queues hand out nothing."""
    tx.sadd(tx.keys.paused, *names)
    return
    yield


def unpause(tx: Transaction, names: list[str]) -> Transition[None]:
    """Let queues hand out jobs again."""
    tx.srem(tx.keys.paused, *names)
    return
    yield


def forget(tx: Transaction, names: list[str]) -> Transition[None]:
    """Strike queues from the list of known ones; what is in them stays."""
    tx.zrem(tx.keys.queues, *names)
    return
    yield
