# SPDX-License-Identifier: MIT
"""The job as its code sees it, to type checkers: this file is checked, as ``api`` is, and never run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, assert_type

from pyqless import AsyncClient, AsyncJob, Client, Job, QlessError
from pyqless.client import Explanation
from pyqless.client.views import JobState
from pyqless.worker import AwaitableJob, BlockingJob, current_job
from pyqless.worker.context import JobLogger


@dataclass
class Mail:
    to: str


def work(job: BlockingJob) -> None:
    assert_type(job.data, Any)
    assert_type(job["to"], Any)
    assert_type(job.data_as(Mail), Mail)
    assert_type(job.jid, str)
    assert_type(job.queue_name, str)
    assert_type(job.tags, list[str])
    assert_type(job.state, JobState)
    assert_type(job.ttl, float)
    assert_type(job.heartbeat(), float)
    assert_type(job.complete("next"), str)
    assert_type(job.explain(), Explanation)
    assert_type(job.logger, JobLogger)
    assert_type(job.sandbox, Path | None)
    assert_type(job.client, Any)
    job.log("half way", done=5)
    job.progress(1, 2)
    job.checkpoint()
    as_job(job)


async def work_slowly(job: AwaitableJob) -> None:
    assert_type(job.data_as(Mail), Mail)
    assert_type(job.remaining, int)
    assert_type(await job.heartbeat(), float)
    assert_type(await job.complete("next"), str)
    await job.log("half way", done=5)
    job.progress(1, 2)
    await job.checkpoint()


def anywhere() -> None:
    if (job := current_job()) is not None:
        assert_type(job, BlockingJob | AwaitableJob)
        assert_type(job.jid, str)
        job.progress(1)


def as_job(job: Job) -> str:
    return job.jid


def with_others(client: Client, job: BlockingJob, other: Job) -> None:
    assert_type(client.jobs.complete_many([job, other]), list[str | QlessError])
    assert_type(client.jobs.heartbeat_many([job]), list[float | QlessError])


async def slowly_with_others(client: AsyncClient, job: AwaitableJob) -> None:
    assert_type(await client.jobs.fail_many([job], "group", "message"), list[str | QlessError])


async def refused(job: BlockingJob, slow: AwaitableJob) -> None:
    job.progres(3)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    job.complete(5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    slow.log("forgotten")  # type: ignore[unused-coroutine]  # pyright: ignore[reportUnusedCoroutine]
    slow.checkpoint()  # type: ignore[unused-coroutine]  # pyright: ignore[reportUnusedCoroutine]
    _: AsyncJob = job  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
