# SPDX-License-Identifier: MIT
"""Workers: who has been seen, and what each has in hand (worker.lua)."""

from __future__ import annotations

from typing import NamedTuple

from pyqless.core.effects import Transition
from pyqless.core.settings import Settings
from pyqless.core.transaction import Stale, Transaction

__all__ = ["WorkerCounts", "WorkerJobs", "counts", "deregister", "jobs"]

_SETTINGS = ("max-worker-age",)

#: a lock that lasts longer than this from now on is not counted, seconds
_HORIZON = 8640000


class WorkerCounts(NamedTuple):
    """How many jobs a worker has."""

    name: str
    jobs: int
    #: their lock has expired
    stalled: int


class WorkerJobs(NamedTuple):
    """The jids that a worker has."""

    jobs: list[str]
    #: their lock has expired
    stalled: list[str]


def counts(tx: Transaction) -> Transition[list[WorkerCounts]]:
    """
    All workers, the one seen last first; those not seen for ``max-worker-age`` are dropped.

    The counts may be of a slightly later moment than the list.
    """
    keys, now = tx.keys, tx.now
    known = yield from _drop_old(tx)
    if not known:
        return []
    found = yield from tx.read(
        free=[
            ("ZCOUNT", keys.worker_jobs(name), *span)
            for name in known
            for span in ((now, now + _HORIZON), (0, now))
        ],
        last=True,
    )
    return [WorkerCounts(*row) for row in zip(known, found[::2], found[1::2], strict=True)]


def jobs(tx: Transaction, worker: str) -> Transition[WorkerJobs]:
    """What a worker has in hand, the lock that lasts longest first; old workers are dropped."""
    yield from _drop_old(tx)
    key, now = tx.keys.worker_jobs(worker), tx.now
    found = yield from tx.read(
        free=(
            ("ZREVRANGEBYSCORE", key, now + _HORIZON, now),
            ("ZREVRANGEBYSCORE", key, now, 0),
        ),
        last=True,
    )
    return WorkerJobs(*found)


def _drop_old(tx: Transaction) -> Transition[list[str]]:
    """
    Drop the workers that have not been seen for long, with their lists, even of jobs they hold locks on.

    Returns:
        list: the others, the one seen last first.
    """
    keys = tx.keys
    texts, seen = yield from tx.read(
        Settings.read(keys, _SETTINGS),
        free=[("ZREVRANGE", keys.workers, 0, -1, "WITHSCORES")],
    )
    oldest = tx.now - Settings(_SETTINGS, texts).number("max-worker-age", 86400.0)
    old = [name for name, moment in seen if 0 <= moment <= oldest]
    if old:
        lists = [keys.worker_jobs(name) for name in old]
        replies = yield from tx.read(
            *(("ZCARD", key) for key in lists),
            free=[("ZSCORE", keys.workers, name) for name in old],
        )
        # one that came back before its list was guarded has jobs in it
        if any(moment is not None and moment > oldest for moment in replies[len(old) :]):
            raise Stale
        for key in lists:
            tx.delete(key)
        # judged by the store at the commit, so that a worker that came back stays
        tx.zremrangebyscore(keys.workers, 0, oldest)
    return [name for name, _ in seen if name not in old]


def deregister(tx: Transaction, names: list[str]) -> Transition[None]:
    """Strike workers from the list of known ones; their jobs stay."""
    tx.zrem(tx.keys.workers, *names)
    return
    yield
