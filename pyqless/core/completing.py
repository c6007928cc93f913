# SPDX-License-Identifier: MIT
"""How a job is completed, or goes on to its next queue (QlessJob:complete)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from pyqless.core import busyness, expiry, letting_go, lua, places, records
from pyqless.core.candidates import Scored
from pyqless.core.chaining import followed
from pyqless.core.dependencies import state_reads, wait_for
from pyqless.core.effects import FollowedBy, Replies, Transition
from pyqless.core.foreseeing import COMPLETION_SETTINGS, completion_reads, next_pop
from pyqless.core.messages import publish_change, publish_event
from pyqless.core.ownership import COMPLETE, require_lock
from pyqless.core.records import StoredJob
from pyqless.core.settings import Settings
from pyqless.core.statistics import Sampler
from pyqless.core.transaction import Transaction
from pyqless.errors import InvalidArgument, WrongQueue

__all__ = ["Next", "advance", "complete"]

#: every how manieth completion in a busy queue sees to those that are too old
_SELDOM: Final = 16


#: of old jobs none go now, and others see to them, or nobody
_LATER: Final = expiry.Plan([], more=True)
_NEVER: Final = expiry.Plan([], more=False)


class Next(NamedTuple):
    """Where a job goes on."""

    queue: str
    #: seconds to wait before it may run there
    delay: float = 0.0
    #: jids to wait for there
    depends: Sequence[str | float] = ()


def complete(
    tx: Transaction, jid: str, worker: str, queue: str, data: str
) -> Transition[str | FollowedBy]:
    """
    Complete a job for good, let go what waited for it, and delete completed jobs that are too old.

    Args:
        data: JSON text that replaces the job's data.

    Returns:
        str: ``complete``.

    Raises:
        JobNotFound, NotRunning, JobLost: the worker does not hold the job's lock.
        WrongQueue: the job runs in another queue.
    """
    busyness.notice(tx, queue)
    sampler = Sampler.of(tx, "run", queue)
    guarded, free = completion_reads(tx, jid, sampler)
    replies = sampler.take((yield from tx.read(*guarded, free=free, last=True)))
    fields, entries, texts, dependents, tracked, *completed = replies
    job = StoredJob(tx, jid, fields, entries)
    settings = Settings(COMPLETION_SETTINGS, texts)
    _require(job, worker, queue)
    expiring = _expiring(job, settings, *completed) if completed else _left_to_others(tx)
    others = [entry for entry in expiring.going if entry[0] != jid]
    waiting = sorted(dependents)
    room = letting_go.room(tx) if waiting else 0
    children, later = waiting[:room], waiting[room:]
    released, found = (yield from _load(tx, children, others)) if waiting or others else ([], [])
    _leave(job, worker, queue, settings, sampler)
    publish_event(tx, "completed", jid, tracked)
    publish_change(tx, jid, event="completed", queue=queue)
    _write(job, data, "complete", "")
    tx.zadd(tx.keys.completed, tx.now, jid)
    if others:
        expiry.drop(tx, others, found)
    if len(others) < len(expiring.going):
        expiry.drop(tx, [(jid, tx.now)], [fields.get("tags"), tx.now])
    if waiting:
        letting_go.let_all_go(tx, children, released, jid)
        letting_go.put_off(tx, later, jid)
        tx.delete(tx.keys.dependents(jid))
    next_pop(tx, queue)
    return followed(
        "complete",
        letting_go.let_more_go if later else None,
        expiry.expire if expiring.more else sampler.housekeeping(),
    )


def advance(
    tx: Transaction, jid: str, worker: str, queue: str, data: str, to: Next | InvalidArgument
) -> Transition[str | FollowedBy]:
    """
    Complete a job in its queue and put it into the next.

    Args:
        data: JSON text that replaces the job's data.
        to: or what is wrong with it, which is told only to the worker that holds the job's lock.

    Returns:
        str: ``waiting``, ``scheduled`` or ``depends``.

    Raises:
        JobNotFound, NotRunning, JobLost: the worker does not hold the job's lock.
        WrongQueue: the job runs in another queue.
    """
    busyness.notice(tx, queue)
    keys = tx.keys
    sampler = Sampler.of(tx, "run", queue)
    parents = to.depends if isinstance(to, Next) else ()
    replies = yield from tx.read(
        *sampler.guarded(),
        *records.reads(keys, jid),
        Settings.read(keys, COMPLETION_SETTINGS),
        *state_reads(keys, parents),
        free=(("ZSCORE", keys.tracked, jid), *sampler.free()),
        last=True,
    )
    fields, entries, texts, *states, tracked = sampler.take(replies)
    job = StoredJob(tx, jid, fields, entries)
    settings = Settings(COMPLETION_SETTINGS, texts)
    _require(job, worker, queue)
    if isinstance(to, InvalidArgument):
        raise to
    _leave(job, worker, queue, settings, sampler)
    publish_event(tx, "completed", jid, tracked)
    publish_change(tx, jid, event="advanced", queue=queue, to=to.queue)
    job.record(settings.history_limit(), "put", q=to.queue)
    tx.zadd_new(keys.queues, tx.now, to.queue)
    _write(job, data, "waiting", to.queue)
    state = _enter(job, to, dict(zip(parents, states, strict=True)))
    next_pop(tx, queue)
    return followed(state, sampler.housekeeping())


def _require(job: StoredJob, worker: str, queue: str) -> None:
    require_lock(job, worker, COMPLETE)
    current = job.text("queue")
    if queue != current:
        raise WrongQueue(
            f"job {job.jid!r} runs in queue {current!r}, not in {queue!r}",
            argument="queue",
            value=current,
            lua=f"Complete(): Job {job.jid} running in another queue: {current}",
        )


def _expiring(
    job: StoredJob, settings: Settings, oldest: Scored, size: int, own: float | None
) -> expiry.Plan:
    """What has to go once this job, too, is completed."""
    tx = job.tx
    known = [entry for entry in oldest if entry[0] != job.jid]
    if len(oldest) >= size or not known or tx.now < known[-1][1]:
        known = sorted([*known, (job.jid, tx.now)], key=_order)
    return expiry.plan(known, size + (own is None), tx.now, settings)


def _left_to_others(tx: Transaction) -> expiry.Plan:
    """Many at once would all take the same oldest jobs: in a busy queue few do, and of a batch it is done once."""
    return _LATER if tx.batched or busyness.seldom(tx, "expire", _SELDOM) else _NEVER


def _order(entry: tuple[str, float]) -> tuple[float, bytes]:
    jid, moment = entry
    return moment, jid.encode("utf-8", "surrogateescape")


def _load(
    tx: Transaction, children: list[str], expiring: Scored
) -> Transition[tuple[Replies, Replies]]:
    """Read the jobs that completion lets go, and those that it deletes."""
    keys = tx.keys
    replies = yield from tx.read(
        *letting_go.reads(keys, children),
        *expiry.drop_reads(keys, expiring),
        free=expiry.place_reads(keys, expiring),
        last=True,
        tolerant=True,
    )
    return replies[: 2 * len(children)], replies[2 * len(children) :]


def _leave(job: StoredJob, worker: str, queue: str, settings: Settings, sampler: Sampler) -> None:
    tx = job.tx
    job.record(settings.history_limit(), "done")
    places.leave(tx, queue, job.jid)
    sampler.add(tx.now - job.number("time", tx.now))
    tx.zrem(tx.keys.worker_jobs(worker), job.jid)


def _write(job: StoredJob, data: str, state: str, queue: str) -> None:
    retries = lua.argument(job.number("retries"))
    job.set(
        *("data", data, "time", lua.timestamp(job.tx.now)),
        *("state", state, "worker", "", "failure", "{}"),
        *("queue", queue, "expires", "0", "remaining", retries),
    )


def _enter(job: StoredJob, to: Next, states: dict[str | float, str | None]) -> str:
    """Find the job's place in its next queue."""
    tx, keys, jid = job.tx, job.tx.keys, job.jid
    if to.delay > 0 and not to.depends:
        tx.zadd(keys.scheduled(to.queue), tx.now + to.delay, jid)
        return "scheduled"
    # a job can wait for itself: what counts is the state just written
    own = {other: "waiting" for other in states if lua.concat(other) == jid}
    if not wait_for(tx, jid, states | own):
        places.enqueue(tx, to.queue, jid, job.number("priority"))
        return "waiting"
    tx.zadd(keys.depends(to.queue), tx.now, jid)
    job.set("state", "depends")
    if to.delay > 0:
        job.set("scheduled", lua.argument(tx.now + to.delay))
    return "depends"
