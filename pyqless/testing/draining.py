# SPDX-License-Identifier: MIT
"""Doing the jobs of some queues here and now, until none is left."""

from __future__ import annotations

import inspect
import math
import pkgutil
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from pyqless.client import AsyncClient, AsyncJob, Client, Job, JobFunction, checks
from pyqless.core import waking
from pyqless.errors import InvalidArgument
from pyqless.testing.clock import Clock

__all__ = ["drain", "drain_async"]

#: what runs jobs, by their klass
Code: TypeAlias = Mapping[str, Callable[[Any], Any]]


def drain(
    client: Client,
    *queues: str,
    code: Code | None = None,
    clock: Clock | None = None,
    seconds: float = 0.0,
) -> list[Job]:
    """
    Do all jobs of some queues, those that they put in turn, too, in this thread.

    A job is run as by a worker: it is completed unless it did something else with itself.
    What it raises, comes out: a test should fail with it.

    Args:
        queues: their names, those of the first going first; all queues there are unless named.
        code: what is called with a job, by its klass; of others, the name is imported: a function declared by
            ``pyqless.job``, a class with a method ``process``, or a function of the job.
        clock: the client's, to be moved on to delayed and recurring jobs.
        seconds: how far it is moved at most.

    Returns:
        list: the jobs that were run, in order.

    Raises:
        InvalidArgument: an argument is no good, or a job names no code.
    """
    checks.instance("client", client, Client)
    end = _end(queues, code, clock, seconds)
    ran: list[Job] = []
    while True:
        names = queues or tuple(counts.name for counts in client.queues.counts())
        if job := next(filter(None, (client.queues[name].pop() for name in names)), None):
            _code_of(job.klass_name, job.queue_name, code or {})(job)
            if job.state == "running":
                job.complete()
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
    code: Code | None = None,
    clock: Clock | None = None,
    seconds: float = 0.0,
) -> list[AsyncJob]:
    """As ``drain``, for asyncio; what a job's code gives is awaited where it can be."""
    checks.instance("client", client, AsyncClient)
    end = _end(queues, code, clock, seconds)
    ran: list[AsyncJob] = []
    while True:
        names = queues or tuple(counts.name for counts in await client.queues.counts())
        if job := await _pop(client, names):
            value = _code_of(job.klass_name, job.queue_name, code or {})(job)
            if inspect.isawaitable(value):
                await value
            if job.state == "running":
                await job.complete()
            ran.append(job)
            continue
        if clock is None or end is None:
            return ran
        looks = [await client.storage.run(partial(waking.outlook, queue=name)) for name in names]
        if not _move_on(clock, end, looks):
            return ran


def _end(
    queues: tuple[str, ...], code: Code | None, clock: Clock | None, seconds: float
) -> float | None:
    """Check what is asked for; give the moment up to which a clock may be moved, if there is one."""
    checks.names("queues", queues)
    checks.callbacks("code", {} if code is None else code)
    checks.number("seconds", seconds, least=0)
    return None if clock is None else checks.instance("clock", clock, Clock).now + seconds


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


def _code_of(klass: str, queue: str, code: Code) -> Callable[[Any], Any]:
    if klass in code:
        return code[klass]
    try:
        found = pkgutil.resolve_name(klass)
    except (ImportError, AttributeError, ValueError) as error:
        message = f"klass names no code: {klass!r}"
        raise InvalidArgument(message, argument="klass", value=klass) from error
    if isinstance(found, type):
        found = getattr(found, queue, None) or getattr(found, "process", None)
    elif isinstance(found, JobFunction):
        found = found.process
    if not callable(found):
        message = f"klass names nothing that runs a job: {klass!r}"
        raise InvalidArgument(message, argument="klass", value=klass)
    return found  # type: ignore[no-any-return]
