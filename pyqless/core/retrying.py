# SPDX-License-Identifier: MIT
"""How a worker gives a job back to be tried again (QlessJob:retry)."""

from __future__ import annotations

from pyqless.core import failures, lua, places, records
from pyqless.core.effects import Transition
from pyqless.core.messages import publish_event
from pyqless.core.ownership import RETRY, require_lock
from pyqless.core.records import StoredJob
from pyqless.core.settings import Settings
from pyqless.core.transaction import Transaction

__all__ = ["retry"]

_SETTINGS = ("max-job-history",)


def retry(
    tx: Transaction,
    jid: str,
    queue: str,
    worker: str,
    delay: float = 0.0,
    group: str | None = None,
    message: str | None = None,
) -> Transition[int]:
    """
    Give a job back; with its retries exhausted, it fails.

    Args:
        queue: where it is to wait; what its hash says of its queue stays.
        delay: seconds to wait before it may run again.
        group: of the failure, with ``message``: why it is tried again.

    Returns:
        int: the retries that remain; below 0: it has failed.

    Raises:
        JobNotFound, NotRunning, JobLost: the worker does not hold the job's lock.
    """
    keys = tx.keys
    fields, entries, texts, tracked = yield from tx.read(
        *records.reads(keys, jid),
        Settings.read(keys, _SETTINGS),
        free=(("ZSCORE", keys.tracked, jid),),
        last=True,
    )
    job = StoredJob(tx, jid, fields, entries)
    require_lock(job, worker, RETRY)
    old_queue = job.text("queue")
    remaining = job.whole("remaining") - 1
    job.spend_retry()
    tx.zrem(keys.locks(old_queue), jid)
    tx.zrem(keys.worker_jobs(worker), jid)
    if remaining < 0:
        limit = Settings(_SETTINGS, texts).history_limit()
        _exhaust(job, queue, old_queue, worker, group, message, limit)
        publish_event(tx, "failed", jid, tracked)
    else:
        _wait_again(job, queue, delay)
        if group is not None and message is not None:
            failure = failures.describe(group, message, lua.floor(tx.now), worker)
            job.set("failure", failure)
    return remaining


def _exhaust(
    job: StoredJob,
    queue: str,
    old_queue: str,
    worker: str,
    group: str | None,
    message: str | None,
    limit: int,
) -> None:
    """The core names its own reason, and nobody, unless it is given group and message."""
    named = f"failed-retries-{queue}" if group is None else group
    job.record(limit, "failed", group=named)
    if group is not None and message is not None:
        failures.enter(job, queue, group, message, worker, when=lua.floor(job.tx.now))
    else:
        standard = failures.exhausted_message(old_queue)
        failures.enter(job, queue, named, standard, "", when=job.tx.now)


def _wait_again(job: StoredJob, queue: str, delay: float) -> None:
    tx = job.tx
    if delay > 0:
        tx.zadd(tx.keys.scheduled(queue), tx.now + delay, job.jid)
        job.set("state", "scheduled")
    else:
        places.enqueue(tx, queue, job.jid, job.number("priority"))
        job.set("state", "waiting")
