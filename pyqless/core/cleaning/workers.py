# SPDX-License-Identifier: MIT
"""Cleaning up after workers that are gone."""

from __future__ import annotations

from pyqless.core.cleaning.paging import PAGE
from pyqless.core.effects import Transition
from pyqless.core.presence import record_key, register_key
from pyqless.core.settings import Settings
from pyqless.core.transaction import Transaction

__all__ = ["drop_silent_workers", "drop_worker_entries", "known_workers", "old_workers"]

_WORKERS = ("max-worker-age",)


def known_workers(tx: Transaction) -> Transition[list[str]]:
    """The workers that there are."""
    (names,) = yield from tx.snapshot(("ZRANGE", tx.keys.workers, 0, -1))
    return list(names)


def old_workers(tx: Transaction) -> Transition[list[str]]:
    """The workers that have not been seen for ``max-worker-age``, which ``workers.counts`` drops."""
    texts, seen = yield from tx.snapshot(
        Settings.read(tx.keys, _WORKERS), ("ZRANGE", tx.keys.workers, 0, -1, "WITHSCORES")
    )
    oldest = tx.now - Settings(_WORKERS, texts).number("max-worker-age", 86400.0)
    return [name for name, moment in seen if 0 <= moment <= oldest]


def drop_worker_entries(
    tx: Transaction, worker: str, offset: int, *, dry: bool = False
) -> Transition[tuple[list[str], int]]:
    """
    Remove from a worker's list the jobs that it has no longer: those timed out by hand stay there for ever.

    Args:
        offset: where to begin.

    Returns:
        tuple: their jids, and how many were looked at.
    """
    keys = tx.keys
    key = keys.worker_jobs(worker)
    (jids,) = yield from tx.read(free=[("ZRANGE", key, offset, offset + PAGE - 1)])
    if not jids:
        return [], 0
    held = yield from tx.read(
        *(("HMGET", keys.job(jid), "worker", "state") for jid in jids), last=True
    )
    gone = [jid for jid, job in zip(jids, held, strict=True) if job != [worker, "running"]]
    if gone and not dry:
        tx.zrem(key, *gone)
    return gone, len(jids)


def drop_silent_workers(tx: Transaction, age: float, *, dry: bool = False) -> Transition[list[str]]:
    """
    Forget what workers of pyqless have told of themselves that have told nothing for long.

    Args:
        age: for how long, seconds.

    Returns:
        list: their names.
    """
    keys = tx.keys
    (seen,) = yield from tx.read(("ZRANGE", register_key(keys), 0, -1, "WITHSCORES"), last=True)
    silent = [name for name, moment in seen if moment <= tx.now - age][:PAGE]
    if silent and not dry:
        tx.zrem(register_key(keys), *silent)
        for name in silent:
            tx.delete(record_key(keys, name))
    return silent
