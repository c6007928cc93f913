# SPDX-License-Identifier: MIT
"""Wherever a call asks for a job's jid, the job itself will do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from pyqless import AsyncClient, AsyncJob, Client, Job, NewJob, Queue
from pyqless.errors import InvalidArgument, JobNotFound


@pytest.fixture
async def aio() -> AsyncIterator[AsyncClient]:
    """Give a client that is closed in the end."""
    async with AsyncClient("memory://") as client:
        yield client


def put(queue: Queue, jid: str, **options: Any) -> Job:
    return queue.client.jobs[queue.put("k", jid=jid, **options)]


def test_a_job_is_looked_up_by_itself(client: Client, queue: Queue) -> None:
    a, b = put(queue, "a"), put(queue, "b")
    assert client.jobs[a].jid == "a"
    assert a in client.jobs
    found = client.jobs.get(b)
    assert found is not None
    assert found.jid == "b"
    assert [job.jid for job in client.jobs.multiget(b, "a", a)] == ["b", "a"]
    assert client.jobs.explain(a).reason == "waiting"


def test_a_job_is_waited_for_by_itself(client: Client, queue: Queue) -> None:
    job = put(queue, "a")
    assert client.jobs.wait(job, timeout=0) is None
    taken = queue.pop()
    assert taken is not None
    taken.complete()
    assert (ended := client.jobs.wait(job)) is not None
    assert ended.state == "complete"


def test_jobs_are_cancelled_by_themselves(client: Client, queue: Queue) -> None:
    a, b, c = (put(queue, jid) for jid in "abc")
    client.jobs.cancel(a, "b")
    assert client.jobs.cancel_many([b, c]) == ["b", "c"]
    assert (a in client.jobs, c in client.jobs) == (False, False)
    with pytest.raises(JobNotFound):
        client.jobs[a]


def test_jobs_wait_for_jobs(client: Client, queue: Queue) -> None:
    a, b = put(queue, "a"), put(queue, "b")
    assert put(queue, "put", depends=[a, "b"]).dependencies == ["a", "b"]
    queue.put_many([NewJob("k", jid="many", depends=[b])])
    many = client.jobs["many"]
    assert many.dependencies == ["b"]
    many.depend(a)
    many.undepend(b)
    many.refresh()
    assert many.dependencies == ["a"]


def test_jobs_that_go_on_wait_for_jobs(client: Client, queue: Queue) -> None:
    other = put(client.queues["other"], "other")
    for jid, go_on in ONWARD.items():
        put(queue, jid)
        job = queue.pop()
        assert job is not None
        go_on(job, other)
        assert client.jobs[jid].dependencies == ["other"]


ONWARD: dict[str, Callable[[Job, Job], object]] = {
    "complete": lambda job, other: job.complete("next", depends=[other]),
    "turn": lambda job, other: job.complete_and_pop("next", depends=[other]),
    "requeue": lambda job, other: job.requeue(depends=[other]),
    "many": lambda job, other: job.client.jobs.complete_many([job], "next", depends=[other]),
}


async def test_so_it_is_with_asyncio(aio: AsyncClient) -> None:
    queue = aio.queues["q"]

    async def put(jid: str, **options: Any) -> AsyncJob:
        return await aio.jobs[await queue.put("k", jid=jid, **options)]

    a, b, c = await put("a"), await put("b"), await put("c")
    assert (await aio.jobs[a]).jid == "a"
    assert [job.jid for job in await aio.jobs.multiget(b, c)] == ["b", "c"]
    assert (await aio.jobs.explain(a)).reason == "waiting"
    assert await aio.jobs.wait(a, timeout=0) is None
    d = await put("d", depends=[a])
    await d.depend(b)
    await d.undepend(a)
    await d.refresh()
    assert d.dependencies == ["b"]
    await aio.jobs.cancel(d, a)
    assert await aio.jobs.cancel_many([b, c]) == ["b", "c"]
    assert await aio.jobs.get(b) is None


def test_a_recurring_job_is_no_job(client: Client, queue: Queue) -> None:
    recurring: Any = client.recurring[queue.recur("k", {}, 60, jid="r")]
    with pytest.raises(
        InvalidArgument, match=r"^jids\[0\] must be a job or its jid, not RecurringJob"
    ):
        client.jobs.cancel(recurring)


def test_a_job_is_no_list_of_jobs(client: Client, queue: Queue) -> None:
    job: Any = put(queue, "a")
    for value in (job, "a"):
        with pytest.raises(InvalidArgument, match=r"^depends must be a list of jobs or their jids"):
            queue.put("k", depends=value)


def test_a_new_jid_is_a_text(client: Client, queue: Queue) -> None:
    job: Any = put(queue, "a")
    with pytest.raises(InvalidArgument, match=r"^jid must be text, not Job"):
        queue.put("k", jid=job)
