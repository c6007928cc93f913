# SPDX-License-Identifier: MIT
"""Doing the jobs of some queues here and now, until none is left."""

from __future__ import annotations

import asyncio
import math
from functools import partial

from pyqless.client import AsyncClient, AsyncJob, Client, Job, checks
from pyqless.client.checks import Span
from pyqless.core import waking
from pyqless.testing.clock import Clock
from pyqless.testing.trying import CodeByName, StrictRunner, TriedAgain, awaiting
from pyqless.worker.attempts import Attempt
from pyqless.worker.verdicts import Done

__all__ = ["drain", "drain_async"]


def drain(
    client: Client,
    *queues: str,
    code: CodeByName | None = None,
    clock: Clock | None = None,
    seconds: Span = 0.0,
    keeps_results: bool = False,
) -> list[Job]:
    """
    Do all jobs of some queues, those that they put in turn, too, in this thread.

    A job is run as by a worker, within the middleware that it ``uses``: it is completed unless it did something else with
    itself. What ``retry_on`` or ``Retry`` wants tried again is given back. Anything else that it raises comes out, and so
    does what it raises when no retry remains: a test should fail with it.

    Args:
        queues: their names, those of the first going first; all queues there are unless named.
        code: what is called with a job, by its klass; of others, the name is imported: a function declared by
            ``pyqless.job``, a class with a method ``process``, or a function of the job.
        clock: the client's own, to be moved on to delayed and recurring jobs.
        seconds: how far it is moved at most: seconds, or a timedelta.
        keeps_results: enter what a job returns into its history, see ``Job.result``.

    Returns:
        list: the jobs that were run, in order.

    Raises:
        InvalidArgument: an argument is no good, or a job names no code.
    """
    checks.instance("client", client, Client)
    end = _end(client, queues, code, clock, seconds)
    runner = StrictRunner.of(code or {}, keeps_results=keeps_results)
    ran: list[Job] = []
    while True:
        names = queues or tuple(counts.name for counts in client.queues.counts())
        if job := next(filter(None, (client.queues[name].pop() for name in names)), None):
            _run(runner, job)
            ran.append(job)
            continue
        if clock is None or end is None:
            return ran
        looks = [client.storage.run(partial(waking.outlook, queue=name)) for name in names]
        if not _move_on(clock, end, looks):
            return ran


async def drain_async(
    client: AsyncClient,
    *queues: str,
    code: CodeByName | None = None,
    clock: Clock | None = None,
    seconds: Span = 0.0,
    keeps_results: bool = False,
) -> list[AsyncJob]:
    """As ``drain``, for asyncio; functions that a job names run in threads, and what ``code`` gives is awaited where it can be."""
    checks.instance("client", client, AsyncClient)
    end = _end(client, queues, code, clock, seconds)
    runner = StrictRunner.of(awaiting(code or {}), keeps_results=keeps_results)
    ran: list[AsyncJob] = []
    while True:
        names = queues or tuple(counts.name for counts in await client.queues.counts())
        if job := await _pop(client, names):
            await _run_async(runner, job)
            ran.append(job)
            continue
        if clock is None or end is None:
            return ran
        looks = [await client.storage.run(partial(waking.outlook, queue=name)) for name in names]
        if not _move_on(clock, end, looks):
            return ran


def _run(runner: StrictRunner, job: Job) -> None:
    try:
        verdict = runner.run(job, Attempt.of(job, job.client.storage.clock()))
    except TriedAgain as tried:
        if job.retry(tried.how.delay, group=tried.how.group, message=tried.how.message) < 0:
            raise tried.cause from None
        return
    if isinstance(verdict, Done):
        if runner.keeps_results:
            job.log("result", value=verdict.value)
        job.complete()


async def _run_async(runner: StrictRunner, job: AsyncJob) -> None:
    attempt = Attempt.of(job, job.client.storage.clock())
    try:
        verdict = await runner.run_async(job, attempt, asyncio.to_thread)
    except TriedAgain as tried:
        if await job.retry(tried.how.delay, group=tried.how.group, message=tried.how.message) < 0:
            raise tried.cause from None
        return
    if isinstance(verdict, Done):
        if runner.keeps_results:
            await job.log("result", value=verdict.value)
        await job.complete()


def _end(
    client: Client | AsyncClient,
    queues: tuple[str, ...],
    code: CodeByName | None,
    clock: Clock | None,
    seconds: Span,
) -> float | None:
    """Check what is asked for; give the moment up to which a clock may be moved, if there is one."""
    checks.names("queues", queues)
    checks.callbacks("code", {} if code is None else code)
    span = checks.span("seconds", seconds)
    if clock is None:
        if span:
            checks.refuse("seconds", seconds, "goes with clock only: no other clock can be moved")
        return None
    if checks.instance("clock", clock, Clock) is not client.storage.clock:
        fault = "must be the one that the client was made with, as Client(..., clock=clock)"
        checks.refuse("clock", clock, fault)
    return clock.now + span


async def _pop(client: AsyncClient, names: tuple[str, ...]) -> AsyncJob | None:
    for name in names:
        if job := await client.queues[name].pop():
            return job
    return None


def _move_on(clock: Clock, end: float, looks: list[waking.Outlook]) -> bool:
    """Move a clock to what is due next; False if that is too far."""
    due = min((look.due for look in looks if look.due > clock.now), default=math.inf)
    if due > end:
        return False
    clock.now = due
    return True
