# SPDX-License-Identifier: MIT
"""How a queue hands out jobs (pop in queue.lua), and how it shows what it would hand out (peek)."""

from __future__ import annotations

from functools import partial
from typing import Final

from pyqless.core import busyness, letting_go, lua
from pyqless.core.candidates import Candidate, head_reads
from pyqless.core.chaining import followed
from pyqless.core.effects import Continue, FollowedBy, Transition
from pyqless.core.foreseeing import completion, note_next, pop_opening, pop_settings
from pyqless.core.line import Line
from pyqless.core.locks import hold
from pyqless.core.messages import publish_event
from pyqless.core.models import Job
from pyqless.core.paging import whole
from pyqless.core.settings import Settings
from pyqless.core.statistics import Sampler
from pyqless.core.transaction import Transaction
from pyqless.errors import InvalidSetting, QlessError

__all__ = ["peek", "pop"]

#: how many jobs a transaction hands out; each takes two guards
MANY: Final = 100


def pop(
    tx: Transaction, queue: str, worker: str, count: float
) -> Transition[list[Job] | Continue | FollowedBy]:
    """
    Hand jobs to a worker.

    First those whose lock has expired; then, by priority, the waiting ones,
    among them what recurring jobs make now and what was delayed until now.

    Args:
        count: how many at most; the core's ways with negative ones are kept.

    Returns:
        list: the jobs as they are now; one that stands in two places comes twice, as from the core.
        Fewer than there are come only where damaged entries stood in the way.
    """
    if count > MANY and lua.integer_argument(count) is not None:
        return (yield from _pop_many(tx, queue, worker, count, []))
    busyness.notice(tx, queue)
    names = pop_settings(queue)
    reads = head_reads(tx.keys, queue, count, busyness.spread(tx, queue))
    texts, paused, *replies, owed = yield from tx.read(
        *pop_opening(tx.keys, queue), free=(*reads, letting_go.look(tx.keys))
    )
    settings = Settings(names, texts)
    expires = tx.now + settings.heartbeat(queue)
    if paused:
        return []
    number = yield from _allowed(tx, queue, settings, count)
    if number == 0:
        tx.zadd(tx.keys.workers, tx.now, worker)
        return []
    line = Line(tx, queue, number, settings)
    sampler = Sampler.of(tx, "wait", queue)
    yield from line.load(reads, replies, sampler)
    tx.zadd(tx.keys.workers, tx.now, worker)
    handed = line.invalidate_locks()
    handed += yield from line.take(number - len(handed))
    if line.obstructed and not handed:
        return Continue(lambda tx: _pop_again(tx, queue, worker, count))
    for candidate in handed:
        _hand_out(candidate, queue, worker, expires, settings, sampler)
    if handed:
        tx.zrem(tx.keys.work(queue), *(candidate.job.jid for candidate in handed))
    note_next(tx, queue, line.runner_up)
    if len(handed) == 1:
        completion(tx, handed[0].job.jid, queue)
    jobs = [candidate.view() for candidate in handed]
    rest = sampler.housekeeping()
    return followed(jobs, letting_go.take_up if owed else None, rest if jobs else None)


def _allowed(tx: Transaction, queue: str, settings: Settings, count: float) -> Transition[int]:
    """How many of the jobs asked for a limit on running jobs allows."""
    name = f"{queue}-max-concurrency"
    limit = settings.number(name, 0.0)
    if limit > 0:
        (running,) = yield from tx.read(("ZCOUNT", tx.keys.locks(queue), tx.now, "+inf"))
        allowed = max(0.0, limit - float(running))
        if allowed < count:
            return settings.whole(name, allowed)
    return whole("count", count)


def _pop_many(
    tx: Transaction, queue: str, worker: str, count: float, handed: list[Job]
) -> Transition[list[Job] | Continue | FollowedBy]:
    """
    Hand out some jobs beside those in hand, then go on until a transaction meets none.

    What goes wrong once jobs are in hand is left to the next call to tell.
    """
    some = min(count, MANY)
    try:
        value = yield from pop(tx, queue, worker, some)
    except QlessError:
        if not handed:
            raise
        tx.drop_writes()
        return handed
    if isinstance(value, Continue):
        return Continue(partial(_pop_many, queue=queue, worker=worker, count=count, handed=handed))
    jobs, *rest = value if isinstance(value, FollowedBy) else (value,)
    handed = [*handed, *jobs]
    if count > some and _goes_on(tx, queue, jobs):
        left = count - some
        return Continue(partial(_pop_many, queue=queue, worker=worker, count=left, handed=handed))
    return followed(handed, *rest)


def _goes_on(tx: Transaction, queue: str, jobs: list[Job]) -> bool:
    """Whether a lock was met or made; one that has expired as it was made would be met again and again."""
    locks = tx.keys.locks(queue)
    return any(write[1] == locks for write in tx.writes) and all(
        job.expires > tx.now for job in jobs
    )


def _pop_again(
    tx: Transaction, queue: str, worker: str, count: float
) -> Transition[list[Job] | Continue | FollowedBy]:
    """Go on behind what was in the way; this call has changed things, so a bad setting is left to the next to tell."""
    try:
        return (yield from pop(tx, queue, worker, count))
    except InvalidSetting:
        tx.drop_writes()
        return []


def _hand_out(
    candidate: Candidate,
    queue: str,
    worker: str,
    expires: float,
    settings: Settings,
    sampler: Sampler,
) -> None:
    job = candidate.job
    tx = job.tx
    job.record(settings.history_limit(), "popped", worker=worker)
    sampler.add(tx.now - job.number("time", tx.now))
    job.set(
        *("time", lua.timestamp(tx.now), "worker", worker),
        *("expires", lua.argument(expires), "state", "running"),
    )
    hold(job, queue, worker, expires)
    publish_event(tx, "popped", job.jid, candidate.tracked)


def peek(tx: Transaction, queue: str, count: float) -> Transition[list[Job]]:
    """
    Show the jobs that pop would look at first; what is due is made and promoted by it all the same.

    Args:
        count: how many at most.
    """
    number = whole("count", count)
    if number == 0:
        return []
    names = ("max-job-history",)
    reads = head_reads(tx.keys, queue, number)
    texts, *replies = yield from tx.read(Settings.read(tx.keys, names), free=reads)
    line = Line(tx, queue, number, Settings(names, texts), shows=True)
    yield from line.load(reads, replies)
    shown = line.stalled()
    shown += yield from line.take(number - line.expired)
    return [candidate.view() for candidate in shown]
