# SPDX-License-Identifier: MIT
"""Spans of time to type checkers: seconds or a timedelta are taken, and seconds given. It is checked as ``api`` is, and never run."""

from __future__ import annotations

from datetime import timedelta
from typing import assert_type

import pyqless
from pyqless import AsyncClient, AsyncJob, AsyncQueue, AsyncRecurringJob, Client, Job, NewJob
from pyqless.client import Consumer, JobOptions, Span
from pyqless.testing import Clock, drain
from pyqless.worker import BlockingJob, Retry, Settings
from pyqless.worker.middleware import constant, exponential, linear, retry_on, time_limit

MINUTE = timedelta(minutes=1)


class Mail:
    @staticmethod
    def default_job_options(_data: object) -> JobOptions:
        return {"delay": MINUTE, "offset": MINUTE}


@pyqless.job(queue="mail", heartbeat=MINUTE)
def send(to: str) -> None: ...


def declared(client: Client) -> None:
    assert_type(send.heartbeat, float | None)
    assert_type(send.delay(MINUTE).put("ann"), str)
    assert_type(send.options(delay=MINUTE).put("ann"), str)
    assert_type(send.on(client).recur(MINUTE, offset=MINUTE).put("ann"), str)


def blocking(client: Client, job: Job, span: Span) -> None:
    queue, recurring = client.queues["q"], client.recurring["r"]
    assert_type(queue.put("k", delay=MINUTE), str)
    assert_type(queue.put("k", delay=span), str)
    assert_type(queue.recur("k", None, MINUTE, offset=MINUTE), str)
    assert_type(queue.pop(timeout=MINUTE), Job | None)
    assert_type(client.consumer("q", interval=MINUTE), Consumer)
    assert_type(job.retry(MINUTE), int)
    assert_type(job.complete("next", delay=MINUTE), str)
    assert_type(job.wait(MINUTE, interval=MINUTE), bool)
    queue.put_many([NewJob("k", delay=MINUTE)])
    client.jobs.complete_many([job], "next", delay=MINUTE)
    client.jobs.purge_failed(MINUTE)
    client.config["heartbeat"] = MINUTE
    client.config.set("grace-period", MINUTE)
    queue.heartbeat = MINUTE
    recurring.interval = MINUTE
    recurring.update(interval=MINUTE)


def given_back(client: Client) -> None:
    assert_type(client.recurring["r"].interval, float)
    assert_type(client.queues["q"].heartbeat, float | None)
    assert_type(client.config["heartbeat"], str | float)
    assert_type(Settings(queues=["q"], interval=MINUTE, grace=MINUTE).interval, float)
    assert_type(Settings(queues=["q"]).grace, float)
    assert_type(Retry(MINUTE).delay, float)


async def awaited(
    client: AsyncClient, queue: AsyncQueue, job: AsyncJob, recurring: AsyncRecurringJob
) -> None:
    assert_type(await queue.put("k", delay=MINUTE), str)
    assert_type(await queue.recur("k", None, MINUTE, offset=MINUTE), str)
    assert_type(await queue.pop(timeout=MINUTE), AsyncJob | None)
    assert_type(await client.events().get(MINUTE), pyqless.Event | None)
    assert_type(await job.retry(MINUTE), int)
    await queue.set_heartbeat(MINUTE)
    await recurring.update(interval=MINUTE)
    await client.config.set("heartbeat", MINUTE)
    await client.jobs.complete_many([job], "next", delay=MINUTE)


def own_backoff(tries: int) -> timedelta:
    return MINUTE * tries


def at_work(job: BlockingJob) -> None:
    job.limit_time(MINUTE)
    time_limit(MINUTE)
    retry_on(ValueError, backoff=own_backoff)
    retry_on(ValueError, backoff=constant(MINUTE))
    retry_on(ValueError, backoff=linear(MINUTE, cap=MINUTE))
    retry_on(ValueError, backoff=exponential(MINUTE, cap=MINUTE))


def in_tests(client: Client, clock: Clock) -> None:
    clock.move(MINUTE)
    drain(client, clock=clock, seconds=MINUTE)


def refused(client: Client) -> None:
    queue = client.queues["q"]
    queue.put("k", delay="5")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    queue.put("k", priority=MINUTE)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    send.delay("5")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    Settings(queues=["q"], grace="5")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
