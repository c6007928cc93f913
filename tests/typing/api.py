# SPDX-License-Identifier: MIT
"""
The types of the public surface, pinned: this file is checked, and never run.

It is checked by mypy with everything else, and by basedpyright, both by ``make lint``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, assert_type

import pyqless
from pyqless import (
    AsyncClient,
    AsyncJob,
    AsyncOnCommit,
    Client,
    Event,
    Job,
    NewJob,
    OnCommit,
    QlessError,
    Queue,
)
from pyqless.client import (
    AsyncConsumer,
    AsyncOrder,
    Consumer,
    Explanation,
    HistoryEntry,
    JobFunction,
    JobPage,
    JobState,
    Order,
    QueueCounts,
    Recurrence,
    Statistics,
    Swept,
    Tagged,
    TrackedJobs,
    WorkerCounts,
    WorkerJobs,
)


@dataclass
class Mail:
    to: str


@pyqless.job(queue="mail", retries=3, tags=["mail"], priority=1, heartbeat=30)
def send(to: str, *, copies: int = 1) -> bool:
    return bool(to) and copies > 0


async def declared(client: Client, aio: AsyncClient) -> None:
    assert_type(send("ann", copies=2), bool)
    assert_type(send.put("ann", copies=2), str)
    assert_type(send.delay(5).put("ann"), str)
    assert_type(send.at(datetime.now(UTC)).put("ann"), str)
    assert_type(send.recur(60, offset=5, on_conflict="keep").put("ann"), str)
    assert_type(send.options(jid="a", unique=False, on_conflict="keep").put("ann"), str)
    assert_type(send.on(client).put("ann"), str)
    assert_type(send.options(priority=1).on(client).put("ann"), str)
    assert_type(await send.options(priority=1).on(aio).put("ann"), str)
    assert_type(await send.on(aio).delay(5).put("ann"), str)
    assert_type(await send.on(aio).recur(60).put("ann"), str)
    assert_type(send.prepared("ann", copies=2), NewJob)
    assert_type(send.on(aio).delay(5).prepared("ann"), NewJob)
    assert_type(OnCommit(client, print).call(send, "ann", copies=2), str)
    assert_type(AsyncOnCommit(aio, print).call(send, "ann", copies=2), str)


def refused(client: Client) -> None:
    pyqless.job()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    send(5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    send.put()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    send.put("ann", copies="two")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    send.delay(5).put(5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    send.options(colour="blue")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    client.queues["q"].put("k", on_conflict="explode")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    send.prepared(5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    client.jobs.cancel(client.recurring["r"])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    NewJob("k", colour="blue")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    OnCommit(client, print).call(send, 5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    client.events("everything")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def batches(client: Client, job: Job) -> None:
    queue, jobs = client.queues["q"], client.jobs
    assert_type(queue.put_many([("k", 1), NewJob("k", jid="a")]), list[str | QlessError])
    assert_type(queue.put_many(send.prepared("ann") for _ in "ab"), list[str | QlessError])
    assert_type(jobs.complete_many([job], "next", delay=5), list[str | QlessError])
    assert_type(jobs.fail_many([job], "group", "message"), list[str | QlessError])
    assert_type(jobs.heartbeat_many([job]), list[float | QlessError])
    assert_type(jobs.cancel_many([job, "a"], all_or_nothing=True), list[str | QlessError])
    assert_type(job.complete_and_pop(source="q"), Job | None)
    assert_type(jobs.multiget("a", job), list[Job])
    assert_type(jobs.wait(job, 5), Job | None)
    assert_type(jobs[job], Job)
    assert_type(queue.put("k", depends=[job, "a"]), str)
    assert_type(queue.put("k", depends=jobs.multiget("a")), str)
    assert_type(queue.put("k", depends=queue.waiting()), str)
    assert_type(send.options(depends=[job]).put("ann"), str)


async def async_batches(client: AsyncClient, job: AsyncJob) -> None:
    assert_type(await client.queues["q"].put_many([("k", 1)]), list[str | QlessError])
    assert_type(await client.jobs.heartbeat_many([job]), list[float | QlessError])
    assert_type(await client.jobs.cancel_many([job, "a"]), list[str | QlessError])
    assert_type(await job.complete_and_pop(), AsyncJob | None)
    assert_type(await client.jobs.wait(job), AsyncJob | None)
    assert_type(await client.queues["q"].put("k", depends=[job, "a"]), str)


def some() -> int | None: ...


def name() -> str | None: ...


def blocking(client: Client) -> None:
    queue = client.queues["q"]
    assert_type(queue, Queue)
    assert_type(queue.put("k", Mail("ann")), str)
    assert_type(queue.pop(), Job | None)
    assert_type(queue.pop(timeout=5), Job | None)
    assert_type(queue.pop(5, timeout=5), list[Job])
    assert_type(queue.peek(5), list[Job])
    assert_type(queue.pop(some()), Job | list[Job] | None)
    assert_type(queue.peek(some()), Job | list[Job] | None)
    assert_type(client.consumer("q").pop(some()), Job | list[Job] | None)
    assert_type(client.jobs.failed(None), dict[str, int])
    assert_type(client.jobs.failed(name()), dict[str, int] | JobPage[Job])
    assert_type(client.jobs["a"].state, JobState)
    assert_type(client.jobs["a"].history, list[HistoryEntry])
    assert_type(client.jobs["a"].history[0].when, float)
    assert_type(client.jobs["a"].history[0]["anything"], Any)
    assert_type(client.jobs["a"].result_as(Mail), Mail)
    assert_type(queue.counts(), QueueCounts)
    assert_type(queue.stats(), Statistics)
    assert_type(queue.all(), Iterator[Job])
    assert_type(queue.purge("waiting", dry_run=True), Swept)
    assert_type(queue.heartbeat, float | None)
    assert_type(queue.max_waiting, int | None)
    assert_type(queue.recur("k", None, 60, unique=True, on_conflict="error"), str)
    assert_type(client.consumer("q"), Consumer)
    assert_type(client.jobs["a"], Job)
    assert_type(client.jobs.get("a"), Job | None)
    assert_type(client.jobs.failed(), dict[str, int])
    assert_type(client.jobs.failed("g"), JobPage[Job])
    assert_type(client.jobs.tracked(), TrackedJobs[Job])
    assert_type(client.jobs.tagged("t"), Tagged)
    assert_type(client.jobs.explain("a"), Explanation)
    assert_type(client.jobs["a"].data_as(Mail), Mail)
    assert_type(client.jobs["a"].complete(), str)
    assert_type(client.recurring["r"].next_run(), float | None)
    assert_type(client.workers.counts(), list[WorkerCounts])
    assert_type(client.workers["w"], WorkerJobs)
    with client.events("log") as events:
        assert_type(events.get(5), Event | None)


async def waiting(client: AsyncClient) -> None:
    queue = client.queues["q"]
    assert_type(await queue.put("k", Mail("ann")), str)
    assert_type(await queue.pop(timeout=5), AsyncJob | None)
    assert_type(await queue.pop(5), list[AsyncJob])
    assert_type(await queue.pop(some()), AsyncJob | list[AsyncJob] | None)
    assert_type(await queue.peek(some()), AsyncJob | list[AsyncJob] | None)
    assert_type(await client.consumer("q").pop(some()), AsyncJob | list[AsyncJob] | None)
    assert_type(await client.jobs.failed(None), dict[str, int])
    assert_type(await client.jobs.failed(name()), dict[str, int] | JobPage[AsyncJob])
    assert_type(queue.all(), AsyncIterator[AsyncJob])
    assert_type(await queue.delete(dry_run=True), Swept)
    assert_type(client.consumer("q"), AsyncConsumer)
    assert_type(await client.jobs["a"], AsyncJob)
    assert_type(await client.jobs.failed("g"), JobPage[AsyncJob])
    assert_type((await client.jobs["a"]).data_as(list[Mail]), list[Mail])
    async for job in client.jobs.all():
        assert_type(job, AsyncJob)


def unions(job: Job) -> None:
    _number: int | str = job.data_as(int | str)
    _mail: Mail | None = job.data_as(Mail | None)
    _result: Mail | None = job.result_as(Mail | None)
    assert_type(job.result_as(Mail), Mail)


def orders(client: Client, aio: AsyncClient, function: JobFunction[[int], str]) -> None:
    assert_type(function.on(client), Order[[int]])
    assert_type(function.on(aio), AsyncOrder[[int]])
    assert_type(function.recur(5), Recurrence[[int], str])
