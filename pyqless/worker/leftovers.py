# SPDX-License-Identifier: MIT
"""What a worker that is no more has left in hand."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

from pyqless.client import AsyncClient, Client, Job
from pyqless.core import lua
from pyqless.core.effects import Factory, Transition
from pyqless.core.transaction import Transaction
from pyqless.core.workers import WorkerCounts
from pyqless.errors import JobLost, JobNotFound, NotRunning
from pyqless.worker.attempts import Attempt
from pyqless.worker.ends import as_taken, log_end
from pyqless.worker.verdicts import Again, Verdict, giving_back

__all__ = ["Dealing", "Fate", "deal_with", "release", "resume", "resume_async"]

logger = logging.getLogger("pyqless.worker")


class Fate(NamedTuple):
    """What becomes of a job."""

    transition: Factory[Any]
    #: what that makes of its run, if the log is to say so
    verdict: Verdict | None = None


#: says what becomes of a job
Dealing = Callable[[Job], Fate]


def release(name: str, why: str) -> Dealing:
    """Give jobs back at no cost."""
    return lambda job: Fate(giving_back(job.jid, name, why))


def deal_with(client: Client, name: str, dealing: Dealing) -> int:
    """
    Deal with each job that the store says is in a dead worker's hand.

    Only the holder of a lock can end a run, so a job that another has got meanwhile stays with that one.

    Args:
        name: the dead worker's.

    Returns:
        int: with how many jobs something was done.

    Raises:
        StorageError: the store is at fault; calling again goes on.
    """
    held = client.workers[name]
    count = 0
    for job in client.jobs.multiget(*{*held.jobs, *held.stalled}):
        if job.state != "running" or job.worker_name != name:
            continue
        count += _carry_out(client, job, name, dealing(job))
    return count


def _carry_out(client: Client, job: Job, worker: str, fate: Fate) -> int:
    attempt = _last_run(client, job, worker)
    try:
        answer = client.storage.run(fate.transition)
    except (JobLost, JobNotFound, NotRunning) as error:
        logger.info("left alone: %s", error, extra=attempt.fields)
        return 0
    if (verdict := fate.verdict) is not None:
        if isinstance(verdict, Again):
            verdict = as_taken(verdict, job.queue_name, remaining=answer)
        log_end(verdict, job, attempt, client.storage.clock())
    return 1


def _last_run(client: Client, job: Job, worker: str) -> Attempt:
    attempt = Attempt.of(job, client.storage.clock())
    attempt.worker = worker
    popped = client.storage.run(partial(_popped_at, jid=job.jid))
    if popped is not None:
        attempt.began = popped
    return attempt


def _popped_at(tx: Transaction, jid: str) -> Transition[float | None]:
    """When a job in hand was popped, Unix time in seconds; its history has whole ones only."""
    (text,) = yield from tx.snapshot(("HGET", tx.keys.job(jid), "time"))
    return lua.to_number(text)


def resume(client: Client, name: str) -> int:
    """
    Take back what an earlier worker of a name, or a child of it, has left in hand: such jobs are the next to be popped.

    Returns:
        int: how many jobs there were.

    Raises:
        StorageError: the store is at fault.
    """
    count = 0
    for worker in _called(name, client.workers.counts()):
        count += deal_with(client, worker, release(worker, "resumed"))
        if worker != name:
            client.workers.deregister(worker)
    _tell(name, count)
    return count


async def resume_async(client: AsyncClient, name: str) -> int:
    """As ``resume``, for asyncio."""
    count = 0
    for worker in _called(name, await client.workers.counts()):
        held = await client.workers[worker]
        for jid in {*held.jobs, *held.stalled}:
            count += await _release_async(client, worker, jid)
        if worker != name:
            await client.workers.deregister(worker)
    _tell(name, count)
    return count


async def _release_async(client: AsyncClient, worker: str, jid: str) -> int:
    try:
        await client.storage.run(giving_back(jid, worker, "resumed"))
    except (JobLost, JobNotFound, NotRunning) as error:
        logger.info("left alone: %s", error, extra={"jid": jid, "worker": worker})
        return 0
    return 1


def _called(name: str, workers: Iterable[WorkerCounts]) -> list[str]:
    """The workers of a name, and those that are called like children of it."""
    names = (worker.name for worker in workers)
    return [found for found in names if found == name or found.startswith(f"{name}/")]


def _tell(name: str, count: int) -> None:
    if count:
        logger.warning("jobs taken back that an earlier %s had in hand: %d", name, count)
