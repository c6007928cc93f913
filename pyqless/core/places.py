# SPDX-License-Identifier: MIT
"""
The places a job can stand in: the sorted sets of its queue, and its worker's list.

Every change of a job's place comes with a write to its hash, also where the value is there already:
that write is the signal on which the narrow guards of all rules rest.
"""

from __future__ import annotations

from functools import lru_cache

from pyqless.core.keys import Keys
from pyqless.core.records import StoredJob
from pyqless.core.transaction import Transaction

__all__ = ["enqueue", "leave", "promote", "work_score"]


def work_score(priority: float, moment: float) -> float:
    """Where a job stands among the waiting: by priority, then first come, first served (work.add in queue.lua)."""
    return priority - moment / 10000000000


def enqueue(tx: Transaction, queue: str, jid: str, priority: float) -> None:
    """Let a job wait for a worker."""
    tx.zadd(tx.keys.work(queue), work_score(priority, tx.now), jid)


def leave(tx: Transaction, queue: str, jid: str, *, depends: bool = False) -> None:
    """Take a job out of the places in which a worker, a lock or a delay could find it."""
    for key in _places(tx.keys, queue):
        tx.zrem(key, jid)
    if depends:
        tx.zrem(tx.keys.depends(queue), jid)


@lru_cache(maxsize=256)
def _places(keys: Keys, queue: str) -> tuple[str, ...]:
    return keys.work(queue), keys.locks(queue), keys.scheduled(queue)


def promote(job: StoredJob, queue: str) -> float:
    """
    Let a delayed job wait for a worker, now that it is due (check_scheduled in queue.lua).

    A jid without a hash gets one that holds the state alone, as from the core.

    Returns:
        float: its score among the waiting.

    Raises:
        CorruptedJob: its priority is no number; nothing has been staged.
    """
    tx = job.tx
    score = work_score(job.number("priority", 0.0), tx.now)
    tx.zadd(tx.keys.work(queue), score, job.jid)
    tx.zrem(tx.keys.scheduled(queue), job.jid)
    job.set("state", "waiting")
    return score
