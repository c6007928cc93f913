# SPDX-License-Identifier: MIT
"""How a worker gives back a job that it was kept from finishing, through no fault of the job's."""

from __future__ import annotations

import math

from pyqless.core import records
from pyqless.core.effects import Transition
from pyqless.core.ownership import RETRY, require_lock
from pyqless.core.records import StoredJob
from pyqless.core.settings import Settings
from pyqless.core.transaction import Transaction

__all__ = ["release"]

_SETTINGS = ("max-job-history",)


def release(
    tx: Transaction, jid: str, worker: str, why: str, delay: float = 0.0
) -> Transition[None]:
    """
    Give a job back at no cost: no retry is spent, and it is the next to be popped.

    The core has no such rule. It is ``timeout`` for the holder of the lock alone: a job that was handed to
    another meanwhile stays with that one. The hash and the sets are left as after ``retry``,
    so that Lua clients know what they see.

    Args:
        why: shown in the job's history.
        delay: seconds to wait before it may run again; then it waits like any other.

    Raises:
        JobNotFound, NotRunning, JobLost: the worker does not hold the job's lock.
    """
    keys = tx.keys
    fields, entries, texts = yield from tx.read(
        *records.reads(keys, jid), Settings.read(keys, _SETTINGS), last=True
    )
    job = StoredJob(tx, jid, fields, entries)
    require_lock(job, worker, RETRY)
    queue = job.text("queue")
    job.record(Settings(_SETTINGS, texts).history_limit(), "released", why=why, worker=worker)
    tx.zrem(keys.locks(queue), jid)
    tx.zrem(keys.worker_jobs(worker), jid)
    if "grace" in fields:
        tx.hdel(keys.job(jid), "grace")
    if delay > 0:
        tx.zadd(keys.scheduled(queue), tx.now + delay, jid)
        job.set("state", "scheduled", "expires", "0")
    else:
        tx.zadd(keys.work(queue), math.inf, jid)
        job.set("state", "waiting", "expires", "0")
