# SPDX-License-Identifier: MIT
"""What a test calls a job's code with is what a worker would give it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from pyqless.errors import InvalidArgument
from pyqless.testing import in_hand, in_hand_async
from pyqless.worker import JobStopped, Progress, StopReason


def greet(job: Any) -> int:
    for number, _ in enumerate(job["names"]):
        job.checkpoint()
        job.progress(number, len(job["names"]))
        job.logger.info("greeting")
    job["done"] = True
    job.checkpoint()
    return len(job["names"])


async def greet_slowly(job: Any) -> int:
    job["done"] = True
    await job.checkpoint()
    job.progress(1)
    job.logger.info("greeting")
    await job.complete("archive")
    return len(job["names"])


def test_a_function_has_what_a_worker_gives(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    job = in_hand("mail.greet", {"names": ("ann", "bob")}, jid="J", queue="mail", worker_name="w")
    assert greet(job) == 2
    assert job.attempt.progress == Progress(1, 2)
    assert caplog.messages == ["[mail.greet J] greeting"] * 2
    kept = job.client.jobs["J"]
    assert (kept.state, kept.queue_name, kept.worker_name) == ("running", "mail", "w")
    assert kept.data == {"names": ["ann", "bob"], "done": True}
    assert job.sandbox is None


async def test_a_coroutine_has_what_a_worker_gives() -> None:
    job = in_hand_async("mail.greet", {"names": ["ann"]}, jid="J")
    assert await greet_slowly(job) == 1
    assert job.is_settled
    assert job.client.jobs["J"].queue_name == "archive"
    assert job.attempt.progress == Progress(1)


def test_a_job_that_is_stopped_ends_at_its_checkpoint(tmp_path: Path) -> None:
    job = in_hand("mail.greet", {"names": ["ann"]}, sandbox=tmp_path)
    assert job.sandbox == tmp_path
    job.attempt.stop(StopReason.LOST)
    with pytest.raises(JobStopped):
        greet(job)


@pytest.mark.parametrize("make", [in_hand, in_hand_async])
def test_a_job_that_waits_for_something_is_in_nobodys_hand(make: Any) -> None:
    with pytest.raises(InvalidArgument, match="options must leave nothing"):
        make("k", delay=60)
