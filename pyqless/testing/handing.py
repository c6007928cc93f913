# SPDX-License-Identifier: MIT
"""A job as a worker gives it to the job's code, for tests that call that code themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

from pyqless.client import Job, checks
from pyqless.client.options import PutOptions
from pyqless.worker import AwaitableJob, BlockingJob
from pyqless.worker.attempts import Attempt

__all__ = ["in_hand", "in_hand_async"]


def in_hand(
    klass: str | type,
    data: Any = None,
    *,
    queue: str = "test",
    worker_name: str = "test",
    sandbox: Path | None = None,
    **options: Unpack[PutOptions],
) -> BlockingJob:
    """
    Make a job as a worker gives it to a function, in a store in memory of its own.

    It has ``job[...]``, ``progress``, ``checkpoint``, ``logger`` and all calls of ``pyqless.Job``. What it tells of its progress is
    ``job.attempt.progress``. After ``job.attempt.stop(StopReason.LOST)``, or another reason, its next ``checkpoint`` raises what it
    would raise in a worker.

    Args:
        sandbox: its directory, if it is to have one.
        options: of ``Queue.put``.

    Returns:
        BlockingJob: in hand; ``job.client`` has the store.

    Raises:
        InvalidArgument: an argument is no good, or the job could not be popped at once.
    """
    job = _popped(klass, data, queue, worker_name, options)
    return BlockingJob(job, Attempt.of(job, job.client.storage.clock()), sandbox)


def in_hand_async(
    klass: str | type,
    data: Any = None,
    *,
    queue: str = "test",
    worker_name: str = "test",
    sandbox: Path | None = None,
    **options: Unpack[PutOptions],
) -> AwaitableJob:
    """As ``in_hand``, for a coroutine: the calls of the job are awaited, those of ``job.client`` are not."""
    job = _popped(klass, data, queue, worker_name, options)
    return AwaitableJob(job, Attempt.of(job, job.client.storage.clock()), sandbox)


def _popped(klass: str | type, data: Any, queue: str, worker_name: str, options: PutOptions) -> Job:
    job = Job.build(klass, data, queue=queue, worker_name=worker_name, **options)
    if job.state != "running":
        checks.refuse("options", options, "must leave nothing that the job has to wait for")
    return job
