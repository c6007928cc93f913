# SPDX-License-Identifier: MIT
"""The job as its code sees it: the handle's, and yet no handle."""

from __future__ import annotations

from typing import Any

import pytest

from pyqless import Client, Job, Queue
from pyqless.testing import drain
from pyqless.worker import AwaitableJob, BlockingJob


def test_a_job_stands_for_itself_in_its_own_code(client: Client, queue: Queue) -> None:
    def run(job: BlockingJob) -> None:
        assert job in client.jobs
        client.queues["next"].put("after", depends=[job], jid="after")

    queue.put("run", {}, jid="J")
    drain(client, "mail", code={"run": run})
    assert client.jobs["after"].state == "waiting"
    assert client.jobs["J"].state == "complete"


def test_a_job_ends_with_others_by_itself(client: Client, queue: Queue) -> None:
    shown: list[Any] = []

    def run(job: BlockingJob) -> None:
        others = queue.pop(5)
        assert client.jobs.complete_many([job, *others]) == ["complete", "complete"]
        shown.append((job.state, job.is_settled))

    for jid in ("J", "K"):
        queue.put("run", {}, jid=jid)
    drain(client, "mail", code={"run": run})
    assert shown == [("complete", True)]
    assert [client.jobs[jid].state for jid in ("J", "K")] == ["complete", "complete"]


def test_a_coroutine_fails_its_own_with_others(client: Client, queue: Queue) -> None:
    kinds: list[type] = []

    async def run(job: Any) -> None:
        kinds.append(type(job))
        assert client.jobs.heartbeat_many([job]) == [client.storage.clock() + 60]
        assert client.jobs.fail_many([job], "group", "message") == ["J"]

    queue.put("run", {}, jid="J")
    drain(client, "mail", code={"run": run})
    failure = client.jobs["J"].failure
    assert kinds == [AwaitableJob]
    assert failure is not None
    assert failure.group == "group"


def test_what_a_job_has_not_is_no_attribute_of_its_faces(client: Client, queue: Queue) -> None:
    seen: list[Any] = []

    def run(job: Any) -> None:
        seen.append(job)
        with pytest.raises(AttributeError, match="progres"):
            job.progres(3)

    async def run_slowly(job: Any) -> None:
        run(job)

    queue.put("run", {})
    queue.put("run slowly", {})
    drain(client, code={"run": run, "run slowly": run_slowly})
    assert {type(job) for job in seen} == {BlockingJob, AwaitableJob}
    assert not any(isinstance(job, Job) for job in seen)
