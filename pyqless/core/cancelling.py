# SPDX-License-Identifier: MIT
"""How jobs are cancelled: deleted, whatever their state, unless others wait for them (Qless.cancel)."""

from __future__ import annotations

from typing import Any

from pyqless.core import failures, lua, places, statistics, tags
from pyqless.core.effects import Transition
from pyqless.core.messages import publish_event
from pyqless.core.records import StoredJob
from pyqless.core.transaction import Transaction
from pyqless.errors import HasDependents

__all__ = ["cancel"]


def cancel(tx: Transaction, jids: list[str]) -> Transition[list[str]]:
    """
    Cancel jobs, all of them or none; complete ones are left alone.

    Returns:
        list: the jids as given, also of jobs that are not there.

    Raises:
        HasDependents: a job waits for one of them and is not named itself.
    """
    if not jids:
        return []
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
        free=[("ZSCORE", keys.tracked, jid) for jid in jids],
        last=True,
    )
    found, tracked = replies[: 3 * len(jids)], replies[3 * len(jids) :]
    for jid, dependents in zip(jids, found[1::3], strict=True):
        _require_no_others(jid, dependents, jids)
    jobs = [StoredJob(tx, jid, fields) for jid, fields in zip(jids, found[::3], strict=True)]
    groups = _groups(jobs)
    if groups:
        yield from failures.forget(tx, groups)
    for job, dependencies, since in zip(jobs, found[2::3], tracked, strict=True):
        if job.fields.get("state") != "complete":
            _cancel(job, dependencies, since)
    return jids


def _require_no_others(jid: str, dependents: set[str], named: list[str]) -> None:
    others = sorted(dependents.difference(named))
    if others:
        raise HasDependents(
            f"job {jid!r} is waited for by {', '.join(others)}",
            argument="jids",
            value=others,
            lua=(
                f"Cancel(): {jid} is a dependency of {others[0]}"
                " but is not mentioned to be canceled"
            ),
        )


def _groups(jobs: list[StoredJob]) -> dict[str, list[str]]:
    """The failed ones among the jobs, by group."""
    groups: dict[str, list[str]] = {}
    for job in jobs:
        if job.fields.get("state") == "failed":
            groups.setdefault(failures.failure_of(job).group, []).append(job.jid)
    return groups


def _cancel(job: StoredJob, dependencies: set[str], tracked: float | None) -> None:
    """Delete a job; ``dependencies`` and the job's fields are live images."""
    tx, keys, jid, fields = job.tx, job.tx.keys, job.jid, job.fields
    queue, worker = fields.get("queue"), fields.get("worker")
    absent: Any = False
    message = lua.encode(
        {
            "jid": jid,
            "worker": absent if worker is None else worker,
            "event": "canceled",
            "queue": absent if queue is None else queue,
        }
    )
    tx.publish(keys.channel("log"), message)
    if worker:
        tx.zrem(keys.worker_jobs(worker), jid)
        tx.publish(keys.worker_channel(worker), message)
    if queue is not None:
        places.leave(tx, queue, jid, depends=True)
    for parent in sorted(dependencies):
        tx.srem(keys.dependents(parent), jid)
    tx.delete(keys.dependencies(jid))
    if fields.get("state") == "failed" and queue is not None:
        statistics.count(tx, queue, failures.failure_of(job).when, failed=-1)
    if "tags" in fields:
        tags.unindex(tx, jid, job.tag_list())
    publish_event(tx, "canceled", jid, tracked)
    tx.delete(keys.job(jid))
    tx.delete(keys.history(jid))
