# SPDX-License-Identifier: MIT
"""Locks: how a worker keeps one (heartbeat), is made to give one up (timeout), or loses one that has expired."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from enum import Enum, auto

from pyqless.core import failures, foreseeing, lua, places, records, statistics
from pyqless.core.effects import Transition
from pyqless.core.messages import lock_lost, publish_event, publish_log
from pyqless.core.ownership import HEARTBEAT, require_lock
from pyqless.core.records import StoredJob
from pyqless.core.settings import Settings
from pyqless.core.transaction import Transaction
from pyqless.errors import JobNotFound, NotRunning

__all__ = ["Expired", "expire", "heartbeat", "hold", "require_running", "timeout"]

_HISTORY = ("max-job-history",)


def hold(tx: Transaction, queue: str, worker: str, expires: float, jids: Iterable[str]) -> None:
    """Enter a worker's locks on jobs, or extend them, where locks are looked up."""
    held, locks = tx.keys.worker_jobs(worker), tx.keys.locks(queue)
    for jid in jids:
        tx.zadd(held, expires, jid)
        tx.zadd(locks, expires, jid)


def heartbeat(tx: Transaction, jid: str, worker: str, data: str | None = None) -> Transition[float]:
    """
    Renew a worker's lock (QlessJob:heartbeat).

    Args:
        data: JSON text that replaces the job's data, or None to keep it.

    Returns:
        float: Unix time at which the lock now expires, seconds.

    Raises:
        JobNotFound, NotRunning, JobLost: the worker does not hold the job's lock.
    """
    keys = tx.keys
    # whole, since only the job says which queue's heartbeat setting counts
    fields, settings = yield from tx.read(
        ("HGETALL", keys.job(jid)),
        ("HGETALL", keys.config),
        last=True,
    )
    job = StoredJob(tx, jid, fields)
    queue = fields.get("queue", "")
    names = Settings.heartbeat_names(queue)
    expires = tx.now + Settings(names, map(settings.get, names)).heartbeat(queue)
    require_lock(job, worker, HEARTBEAT)
    if data is not None:
        job.set("data", data)
    job.set("expires", lua.argument(expires), "worker", worker)
    tx.zadd(keys.workers, tx.now, worker)
    hold(tx, job.text("queue"), worker, expires, [jid])
    foreseeing.completion(tx, jid, queue)
    return expires


# -- giving up --------------------------------------------------------------------------------


def timeout(tx: Transaction, jids: list[str]) -> Transition[None]:
    """
    Take running jobs from their workers at once (QlessJob:timeout); all of them or none.

    Raises:
        JobNotFound: there is no such job.
        NotRunning: it is not running.
    """
    keys = tx.keys
    texts, *replies = yield from tx.read(
        Settings.read(keys, _HISTORY),
        *(read for jid in jids for read in records.reads(keys, jid)),
        last=True,
    )
    for jid, fields, entries in zip(jids, replies[::2], replies[1::2], strict=True):
        _time_out(StoredJob(tx, jid, fields, entries), Settings(_HISTORY, texts))


def require_running(jid: str, fields: Mapping[str, str]) -> None:
    """
    Refuse unless a job is running.

    Args:
        fields: its ``queue`` and ``state``, as far as it has them.

    Raises:
        JobNotFound, NotRunning: see ``timeout``.
    """
    if "queue" not in fields:
        text = f"Timeout(): Job {jid} does not exist"
        raise JobNotFound(f"there is no job {jid!r}", argument="jid", value=jid, lua=text)
    state = fields.get("state")
    if state != "running":
        raise NotRunning(
            f"job {jid!r} is not running but {state}",
            argument="state",
            value=state,
            lua=f"Timeout(): Job {jid} not running",
        )


def _time_out(job: StoredJob, settings: Settings) -> None:
    tx, jid = job.tx, job.jid
    require_running(jid, job.fields)
    queue, worker = job.text("queue"), job.text("worker")
    job.record(settings.history_limit(), "timed-out")
    tx.zrem(tx.keys.locks(queue), jid)
    tx.zadd(tx.keys.work(queue), math.inf, jid)
    job.set("state", "stalled", "expires", "0")
    lock_lost(tx, jid, worker)


# -- expiring ---------------------------------------------------------------------------------


class Expired(Enum):
    """What becomes of a job whose lock has expired."""

    #: its worker has been told, and has the grace period left
    TOLD = auto()
    #: it can be handed to another worker now
    FREE = auto()
    #: its retries were exhausted
    FAILED = auto()


def expire(job: StoredJob, queue: str, settings: Settings, tracked: float | None) -> Expired:
    """
    Deal with an expired lock that pop has met in a queue (invalidate_locks in queue.lua).

    The first time the worker is told, and given the grace period;
    the next time, or at once where there is no grace period, the job is taken from it.

    Args:
        settings: ``grace-period`` (0 or less: none), and those of histories.
        tracked: whether the job is tracked, and since when.

    Raises:
        CorruptedJob: the job's fields make no sense; nothing has been staged.
    """
    tx, jid = job.tx, job.jid
    grace_period = settings.number("grace-period", 10.0)
    worker = job.text("worker")
    told = lua.to_number(job.fields.get("grace", "0")) == 1
    taken = told or grace_period <= 0
    exhausted = taken and job.whole("remaining") <= 0
    group = "failed-retries-" + job.text("queue") if exhausted else ""
    tx.zrem(tx.keys.worker_jobs(worker), jid)
    if not told or grace_period <= 0:
        publish_event(tx, "stalled", jid, tracked)
        job.record(settings.history_limit(), "timed-out")
        job.set("grace", "1")
        lock_lost(tx, jid, worker)
        tx.zadd(tx.keys.locks(queue), tx.now + grace_period, jid)
        statistics.count(tx, queue, tx.now, retries=1)
    if taken:
        job.spend_retry()
    if exhausted:
        _exhaust(job, queue, worker, group, settings, tracked)
        return Expired.FAILED
    return Expired.FREE if taken else Expired.TOLD


def _exhaust(
    job: StoredJob,
    queue: str,
    worker: str,
    group: str,
    settings: Settings,
    tracked: float | None,
) -> None:
    tx, jid = job.tx, job.jid
    places.leave(tx, queue, jid)
    message = failures.exhausted_message(queue)
    job.record(settings.history_limit(), "failed", group=group)
    failures.enter(job, queue, group, message, worker="", when=tx.now)
    publish_event(tx, "failed", jid, tracked)
    publish_log(tx, jid=jid, event="failed", group=group, worker=worker, message=message)
