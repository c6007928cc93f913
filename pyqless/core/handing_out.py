# SPDX-License-Identifier: MIT
"""What becomes of jobs that are handed to a worker, and how many a queue may hand out."""

from __future__ import annotations

from pyqless.core import history, lua
from pyqless.core.candidates import Candidate
from pyqless.core.effects import Transition
from pyqless.core.locks import hold
from pyqless.core.messages import publish_event
from pyqless.core.paging import whole
from pyqless.core.settings import Settings
from pyqless.core.statistics import Sampler
from pyqless.core.transaction import Transaction

__all__ = ["allowed", "hand_out"]


def allowed(
    tx: Transaction, queue: str, settings: Settings, count: float, told: int = 0
) -> Transition[int]:
    """
    How many of the jobs asked for a limit on running jobs allows.

    Args:
        told: how many of those that run now count as stalled, since this call itself has given them more time.
    """
    name = f"{queue}-max-concurrency"
    limit = settings.number(name, 0.0)
    if limit > 0:
        (running,) = yield from tx.read(("ZCOUNT", tx.keys.locks(queue), tx.now, "+inf"))
        room = max(0.0, limit - float(running - told))
        if room < count:
            return settings.whole(name, room)
    return whole("count", count)


def hand_out(
    tx: Transaction,
    queue: str,
    worker: str,
    candidates: list[Candidate],
    *,
    expires: float,
    settings: Settings,
    sampler: Sampler,
) -> None:
    """
    Hand jobs to a worker.

    Args:
        expires: when their locks do, Unix time in seconds.
        settings: those of histories.
        sampler: of the times that jobs have waited.
    """
    if not candidates:
        return
    limit, entry = settings.history_limit(), history.entry(tx.now, "popped", worker=worker)
    changes = (
        *("time", lua.timestamp(tx.now), "worker", worker),
        *("expires", lua.argument(expires), "state", "running"),
    )
    jids, waited = [], []
    for candidate in candidates:
        job = candidate.job
        jids.append(job.jid)
        waited.append(tx.now - job.number("time", tx.now))
        job.append(limit, entry)
        job.set(*changes)
        publish_event(tx, "popped", job.jid, candidate.tracked)
    hold(tx, queue, worker, expires, jids)
    sampler.add(*waited)
    tx.zrem(tx.keys.work(queue), *jids)
