# SPDX-License-Identifier: MIT
"""Code that is not handed the job finds the one that it runs for, and no other."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import pyqless
from pyqless import AsyncClient, Client, Queue
from pyqless.testing import drain
from pyqless.worker import (
    AsyncWorker,
    Finder,
    Limits,
    Retry,
    Runner,
    Settings,
    ThreadWorker,
    current_job,
    uses,
)
from pyqless.worker.verdicts import Again, Done

Work = Callable[..., Any]


def jid() -> str | None:
    """Whose code this is, for all that it knows."""
    job = current_job()
    return None if job is None else str(job.jid)


def test_there_is_none_outside_of_jobs(queue: Queue, finder: Finder, work: Work) -> None:
    def refuse(_job: Any) -> None:
        raise Retry

    finder.register("run")(lambda _: jid())
    finder.register("refuse")(refuse)
    assert current_job() is None
    queue.put("run", {}, jid="J")
    assert work() == Done("J")
    assert current_job() is None
    queue.put("refuse", {}, jid="K")
    assert isinstance(work(), Again)
    assert current_job() is None


def test_it_is_what_the_code_of_others_is_handed(queue: Queue, finder: Finder, work: Work) -> None:
    @finder.register("blocks")
    def blocks(job: Any) -> bool:
        return current_job() is job

    @finder.register("waits")
    async def waits(job: Any) -> bool:
        await asyncio.sleep(0)
        return current_job() is job and await asyncio.to_thread(current_job) is job

    for klass in ("blocks", "waits"):
        queue.put(klass, {})
        assert work().value is True


def test_middleware_knows_of_it_too(queue: Queue, finder: Finder, work: Work) -> None:
    seen = []

    @contextmanager
    def looks(_job: Any) -> Iterator[None]:
        seen.append(jid())
        yield
        seen.append(jid())

    finder.register("run")(uses(looks)(lambda _: None))
    queue.put("run", {}, jid="J")
    work()
    assert seen == ["J", "J"]


def test_a_job_that_runs_others_is_itself_again_afterwards(
    client: Client, queue: Queue, finder: Finder, work: Work
) -> None:
    inner = []

    @finder.register("outer")
    def outer(_job: Any) -> str | None:
        client.queues["inner"].put("inner", {}, jid="K")
        drain(client, "inner", code={"inner": lambda _: inner.append(jid())})
        return jid()

    queue.put("outer", {}, jid="J")
    assert work() == Done("J")
    assert inner == ["K"]


def test_a_declared_function_finds_it(client: Client, queue: Queue, finder: Finder) -> None:
    @pyqless.job(queue="mail", name="index", client=client)
    def index(pages: int) -> str | None:
        return f"{jid()} of {pages}"

    finder.register("index")(index)
    name = index.put(3)
    drain(client, code={"index": index}, keeps_results=True)
    assert client.jobs[name].result == f"{name} of 3"
    assert index(3) == "None of 3"


@pytest.mark.parametrize("kind", ["threads", "functions of asyncio", "coroutines"])
def test_jobs_that_run_at_once_each_find_their_own(
    client: Client, url: str, queue: Queue, finder: Finder, kind: str
) -> None:
    together = threading.Barrier(3, timeout=10)
    arrived: list[str] = []
    seen: list[tuple[str, str | None]] = []

    def function(job: Any) -> None:
        together.wait()
        seen.append((job.jid, jid()))
        together.wait()

    async def coroutine(job: Any) -> None:
        arrived.append(job.jid)
        for _ in range(100):  # the others begin meanwhile
            await asyncio.sleep(0)
        assert len(arrived) == 3
        seen.append((job.jid, jid()))

    finder.register("run")(coroutine if kind == "coroutines" else function)
    for number in range(3):
        queue.put("run", {}, jid=f"J{number}")
    options = Settings(queues=["mail"], runner=Runner(finder=finder), limits=Limits(jobs=3))
    if kind == "threads":
        ThreadWorker(client, options, 3).run()
    else:
        ours = AsyncClient(url, worker_name="ann", clock=client.storage.clock)
        asyncio.run(AsyncWorker(ours, options, 3).run())
    assert sorted(seen) == [("J0", "J0"), ("J1", "J1"), ("J2", "J2")]
