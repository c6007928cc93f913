# SPDX-License-Identifier: MIT
"""Cancelling many jobs: those that stand in a queue, those that failed long ago, a whole queue."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any, TypeAlias

from pyqless.core import failures, records, settings
from pyqless.core.cancelling import cancel_some
from pyqless.core.effects import Command, Continue, Factory, Transition, raise_first
from pyqless.core.keys import Keys
from pyqless.core.records import StoredJob
from pyqless.core.settings import Settings
from pyqless.core.sweeping import (
    Course,
    Dealt,
    Swept,
    from_the_tail,
    from_the_top,
    require_standing,
    sweep,
)
from pyqless.core.transaction import Transaction
from pyqless.errors import DanglingEntry, StoreCorrupted

__all__ = ["delete", "places", "purge", "purge_failed"]

#: a job and the jids that wait for it, or what is wrong with it
_Found: TypeAlias = "tuple[StoredJob, set[str]] | StoreCorrupted"


def places(keys: Keys, queue: str) -> dict[str, str]:
    """The sets of a queue by the states of the jobs in them, in an order in which they can be cancelled."""
    return {
        "depends": keys.depends(queue),
        "scheduled": keys.scheduled(queue),
        "waiting": keys.work(queue),
        "running": keys.locks(queue),
    }


def purge(
    tx: Transaction, queue: str, states: Collection[str], *, dry_run: bool = False
) -> Transition[Swept | Continue]:
    """
    Cancel the jobs of a queue that are in some states.

    A job for which another one waits is kept, unless that one is cancelled, too.

    Args:
        states: of ``places``; ``running`` includes those whose lock has expired.
    """
    keys = [key for state, key in places(tx.keys, queue).items() if state in states]
    course = Course.through(*keys, dry_run=dry_run)
    return (yield from sweep(tx, course, from_the_top, _cancel_standing))


def _cancel_standing(
    tx: Transaction, key: str, jids: list[str], course: Course
) -> Transition[Dealt]:
    found = yield from _load(tx, jids, [("ZSCORE", key, jid) for jid in jids])
    dangling = [jid for jid in jids if isinstance(found[jid], DanglingEntry)]
    for jid in dangling:
        tx.zrem(key, jid)
    done = yield from _cancel(tx, _sound(found), course)
    return Dealt([*dangling, *done], [jid for jid in jids if jid not in {*dangling, *done}])


def purge_failed(
    tx: Transaction, group: str | None, until: float, *, dry_run: bool = False
) -> Transition[Swept | Continue]:
    """
    Cancel the jobs that failed at a moment or before.

    Args:
        group: of which; of all groups if None.
        until: Unix time, seconds.
    """
    names = [group] if group is not None else sorted((yield from failures.groups(tx)))
    course = Course.through(*map(tx.keys.failed, names), dry_run=dry_run)
    return (yield from sweep(tx, course, from_the_tail, partial(_cancel_old, until=until)))


def _cancel_old(
    tx: Transaction, _: str, jids: list[str], course: Course, *, until: float
) -> Transition[Dealt]:
    found = yield from _load(tx, jids, [])
    jobs = _sound(found)
    young = [jid for jid, (job, _) in jobs.items() if not _has_failed_until(job, until)]
    old = {jid: job for jid, job in jobs.items() if jid not in young}
    done = yield from _cancel(tx, old, course)
    kept = [jid for jid in jids if jid not in {*young, *done}]
    # the newest stand at the head, so all that come behind a young one are younger still
    return Dealt(done, kept, ends=bool(young))


def _has_failed_until(job: StoredJob, until: float) -> bool:
    return job.fields.get("state") == "failed" and failures.failure_of(job).when <= until


# -- a bounded number of jobs -----------------------------------------------------------------


def _load(
    tx: Transaction, jids: list[str], standing: list[Command]
) -> Transition[dict[str, _Found]]:
    """Guard what cancelling reads of jobs, and make sure that they still stand where they stood."""
    keys = tx.keys
    replies = yield from tx.read(
        *(
            read
            for jid in jids
            for read in (
                ("HGETALL", keys.job(jid)),
                ("SMEMBERS", keys.dependents(jid)),
                ("SMEMBERS", keys.dependencies(jid)),
            )
        ),
        free=standing,
        tolerant=True,
    )
    require_standing(replies[3 * len(jids) :])
    return {jid: _found(tx, jid, replies[3 * at : 3 * at + 3]) for at, jid in enumerate(jids)}


def _found(tx: Transaction, jid: str, replies: list[Any]) -> _Found:
    try:
        raise_first(replies)
        job = records.checked(tx, jid, replies[0], ())
        if "tags" in job.fields:
            job.tag_list()
        if job.fields.get("state") == "failed":
            failures.failure_of(job)
    except StoreCorrupted as fault:
        tx.reports.append(fault)
        return fault
    return job, replies[1]


def _sound(found: Mapping[str, _Found]) -> dict[str, tuple[StoredJob, set[str]]]:
    return {jid: job for jid, job in found.items() if not isinstance(job, StoreCorrupted)}


def _cancel(
    tx: Transaction, jobs: Mapping[str, tuple[StoredJob, set[str]]], course: Course
) -> Transition[list[str]]:
    """Cancel those that no job waits for but the others of them, and those that are gone."""
    going = set(jobs)
    while blocked := {jid for jid in going if jobs[jid][1] - going - course.gone}:
        going -= blocked
    jids = [jid for jid in jobs if jid in going]
    if not course.dry_run:
        yield from cancel_some(tx, jids, jids)
    return jids


# -- a whole queue ----------------------------------------------------------------------------


def delete(tx: Transaction, queue: str, *, dry_run: bool = False) -> Transition[Swept | Continue]:
    """
    Cancel all jobs and recurring jobs of a queue, whatever their state, and forget the queue.

    Its settings go with it. While jobs are kept in it, it stays known.
    """
    keys = tx.keys
    course = Course.through(keys.recur(queue), *places(keys, queue).values(), dry_run=dry_run)
    erase = partial(sweep, course=course, page=from_the_top, deal=_cancel_standing_or_recurring)
    return (yield from _and_forget(erase, queue)(tx))


def _cancel_standing_or_recurring(
    tx: Transaction, key: str, jids: list[str], course: Course
) -> Transition[Dealt]:
    queue = tx.keys.queue_of(key, "-recur")
    if queue is None:
        return (yield from _cancel_standing(tx, key, jids, course))
    yield from tx.read(*(("HGET", tx.keys.recurring_job(jid), "queue") for jid in jids), last=True)
    for jid in jids:
        tx.delete(tx.keys.recurring_job(jid))
    tx.zrem(key, *jids)
    return Dealt(jids, [])


def _and_forget(transition: Factory[Swept | Continue], queue: str) -> Factory[Swept | Continue]:
    def begin(tx: Transaction) -> Transition[Swept | Continue]:
        value = yield from transition(tx)
        if isinstance(value, Continue):
            return Continue(_and_forget(value.rest, queue))
        yield from _forget(tx, queue)
        return value

    return begin


def _forget(tx: Transaction, queue: str) -> Transition[None]:
    """Forget a queue and its settings, if nothing is in it."""
    keys = tx.keys
    names = (f"{queue}-heartbeat", f"{queue}-max-concurrency")
    every = (*places(keys, queue).values(), keys.recur(queue))
    texts, *sizes = yield from tx.read(
        Settings.read(keys, names), *(("ZCARD", key) for key in every), last=True
    )
    if any(sizes):
        return
    tx.zrem(keys.queues, queue)
    tx.srem(keys.paused, queue)
    for name, text in zip(names, texts, strict=True):
        if text is not None:
            yield from settings.unset(tx, name)
