# SPDX-License-Identifier: MIT
"""Moving all that is in a queue to another one, in the same order and with the same delays."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

from pyqless.core import records
from pyqless.core.effects import Continue, Replies, Transition
from pyqless.core.keys import Keys
from pyqless.core.messages import publish_change, publish_event
from pyqless.core.records import StoredJob
from pyqless.core.settings import Settings
from pyqless.core.sweeping import Course, Dealt, Swept, from_the_top, require_standing, sweep
from pyqless.core.transaction import Transaction
from pyqless.errors import StoreCorrupted

__all__ = ["move", "places"]

_SETTINGS = ("max-job-history",)


def places(keys: Keys, queue: str) -> dict[str, str]:
    """The sets of a queue from which jobs can be moved, by their states."""
    return {
        "waiting": keys.work(queue),
        "scheduled": keys.scheduled(queue),
        "depends": keys.depends(queue),
        "recurring": keys.recur(queue),
    }


def move(
    tx: Transaction, queue: str, to: str, states: Collection[str], *, dry_run: bool = False
) -> Transition[Swept | Continue]:
    """
    Move the jobs of a queue that are in some states to another queue, each to the same place there.

    Args:
        states: of ``places``. What runs stays: its worker has been told where it came from.
    """
    keys = tx.keys
    sources, targets = places(keys, queue), places(keys, to)
    ways = {sources[state]: targets[state] for state in sources if state in states}
    course = Course.through(*ways, dry_run=dry_run)
    deal = partial(_move, to=to, ways=ways)
    return (yield from sweep(tx, course, from_the_top, deal))


def _move(
    tx: Transaction, key: str, jids: list[str], _: Course, *, to: str, ways: dict[str, str]
) -> Transition[Dealt]:
    if tx.keys.queue_of(key, "-recur") is not None:
        return (yield from _move_recurring(tx, key, jids, to, ways[key]))
    keys = tx.keys
    texts, *replies = yield from tx.read(
        Settings.read(keys, _SETTINGS),
        *(read for jid in jids for read in records.reads(keys, jid)),
        free=[
            *(("ZSCORE", key, jid) for jid in jids),
            *(("ZSCORE", keys.tracked, jid) for jid in jids),
        ],
        last=True,
        tolerant=True,
    )
    jobs, scores = 2 * len(jids), replies[2 * len(jids) : 3 * len(jids)]
    require_standing(scores)
    limit = Settings(_SETTINGS, texts).history_limit()
    tx.zadd_new(keys.queues, tx.now, to)
    kept = []
    for at, jid in enumerate(jids):
        job = _sound(tx, jid, *replies[2 * at : 2 * at + 2])
        if job is None:
            kept.append(jid)
            continue
        _take_over(job, to, limit)
        tx.zrem(key, jid)
        tx.zadd(ways[key], scores[at], jid)
        publish_event(tx, "put", jid, replies[jobs + len(jids) + at])
    return Dealt([jid for jid in jids if jid not in kept], kept)


def _sound(tx: Transaction, jid: str, fields: Any, entries: Any) -> StoredJob | None:
    try:
        return records.checked(tx, jid, fields, entries)
    except StoreCorrupted as fault:
        tx.reports.append(fault)
        return None


def _take_over(job: StoredJob, to: str, limit: int) -> None:
    publish_change(job.tx, job.jid, event="put", queue=to)
    job.record(limit, "put", q=to)
    job.set("queue", to)


def _move_recurring(
    tx: Transaction, key: str, jids: list[str], to: str, target: str
) -> Transition[Dealt]:
    keys = tx.keys
    queues, scores = yield from _recurring(tx, key, jids)
    require_standing(scores)
    tx.zadd_new(keys.queues, tx.now, to)
    kept = [jid for jid, queue in zip(jids, queues, strict=True) if queue is None]
    for jid, score in zip(jids, scores, strict=True):
        if jid not in kept:
            tx.hset(keys.recurring_job(jid), "queue", to)
            tx.zrem(key, jid)
            tx.zadd(target, score, jid)
    return Dealt([jid for jid in jids if jid not in kept], kept)


def _recurring(tx: Transaction, key: str, jids: list[str]) -> Transition[tuple[Replies, Replies]]:
    """The queues that recurring jobs belong to, and when they run next."""
    replies = yield from tx.read(
        *(("HGET", tx.keys.recurring_job(jid), "queue") for jid in jids),
        free=[("ZSCORE", key, jid) for jid in jids],
        last=True,
    )
    return replies[: len(jids)], replies[len(jids) :]
