# SPDX-License-Identifier: MIT
"""Help for tests of jobs: a job without a store, a clock, and queues that are done here and now."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import pyqless
from pyqless import AsyncClient, AsyncJob, Client, Job
from pyqless.errors import InvalidArgument, JobLost
from pyqless.testing import Clock, drain, drain_async
from pyqless.worker import Retry, uses
from pyqless.worker.middleware import constant, retry_on

ran: list[Any] = []


class Sum:
    """A class whose method runs its jobs."""

    @staticmethod
    def process(job: Any) -> None:
        ran.append(sum(job.data))


class Chain:
    """A class with a method for a queue of its own."""

    @staticmethod
    def first(job: Any) -> None:
        ran.append("first")
        job.complete("second")

    @staticmethod
    def second(job: Any) -> None:
        ran.append("second")


@pyqless.job(queue="q")
def add(left: int, right: int) -> None:
    ran.append(left + right)


@pyqless.job(queue="q")
async def add_later(left: int, right: int) -> None:
    ran.append(left + right)


@pytest.fixture(autouse=True)
def forgotten() -> None:
    ran.clear()
    tries.clear()


def test_a_job_can_be_built_without_a_store() -> None:
    job = Job.build("Send", {"to": ("ann", "bob")}, tags=["t"], retries=0, queue="mail")
    assert (job.klass_name, job.queue_name, job.state) == ("Send", "mail", "running")
    assert job.data == {"to": ["ann", "bob"]}
    job.data["n"] = 1
    assert job.heartbeat() == job.expires_at
    assert job.complete("next") == "waiting"
    assert job.client.jobs[job.jid].data == {"to": ["ann", "bob"], "n": 1}
    assert Job.build("Send", delay=5).state == "scheduled"
    with pytest.raises(InvalidArgument):
        Job.build("Send", b"1")


async def test_a_job_for_asyncio_can_be_built() -> None:
    job = await AsyncJob.build("Send", [1])
    assert await job.complete() == "complete"
    assert (await AsyncJob.build("Send", delay=5)).state == "scheduled"


def test_a_clock_stands_until_it_is_moved() -> None:
    clock = Clock(5.0)
    assert (clock(), clock()) == (5.0, 5.0)
    clock.move(2.5)
    assert repr(clock) == "<Clock at 7.500>"


def test_queues_are_done_here_and_now(client: Client) -> None:
    client.queues["q"].put(Sum, [1, 2], priority=1)
    add.on(client).put(3, 4)
    client.queues["first"].put(Chain)
    client.queues["q"].put("other", "x", priority=-1)

    jobs = drain(client, code={"other": lambda job: ran.append(job.data)})

    assert ran == ["first", 3, 7, "x", "second"]
    assert [job.state for job in jobs] == ["waiting"] + ["complete"] * 4
    assert client.queues["q"].length() == 0


def test_only_the_queues_named_are_done(client: Client) -> None:
    client.queues["q"].put(Sum, [1, 2])
    client.queues["p"].put(Sum, [3])
    drain(client, "p")
    assert ran == [3]


def test_a_clock_is_moved_to_what_is_delayed(url: str) -> None:
    clock = Clock(1000.0)
    with Client(url, clock=clock) as client:
        client.queues["q"].put(Sum, [1], delay=60)
        client.queues["q"].recur(Sum, [2], 100, offset=100)
        client.queues["q"].put(Sum, [3], delay=5000)
        drain(client)
        assert ran == []
        drain(client, clock=clock, seconds=250)
        assert ran == [1, 2, 2]
        assert clock.now == 1200.0


def test_what_a_job_raises_comes_out(client: Client) -> None:
    client.queues["q"].put(Sum, ["a"])
    with pytest.raises(TypeError):
        drain(client)


@pytest.mark.parametrize("klass", ["nowhere.Nothing", "pyqless.__all__", "nothing"])
def test_code_that_is_not_there_is_told(client: Client, klass: str) -> None:
    client.queues["q"].put(klass)
    with pytest.raises(InvalidArgument) as caught:
        drain(client)
    assert caught.value.argument == "klass"


# -- as a worker runs them --------------------------------------------------------------------

tries: list[float] = []


@pyqless.job(queue="q", retries=2)
@uses(retry_on(ConnectionError, backoff=constant(10)))
def send(to: str, failures: int) -> str:
    tries.append(failures)
    if len(tries) <= failures:
        raise ConnectionError(f"try {len(tries)}")
    return f"sent to {to}"


@pyqless.job(queue="q", retries=2)
@uses(retry_on(ConnectionError, backoff=constant(10)))
async def send_later(to: str, failures: int) -> str:
    sent: str = send(to, failures)
    return sent


@pytest.fixture(params=["drain", "drain of a coroutine", "drain_async", "function in drain_async"])
def drained(request: pytest.FixtureRequest, url: str) -> tuple[Any, Any, Any, Clock]:
    """Give a way to drain, a client to put jobs with, a function to put, and the clock of both."""
    clock = Clock(1000.0)
    options: Any = {"seconds": 3600, "keeps_results": True}
    client = Client(url, clock=clock)

    async def blocking() -> Any:
        return await asyncio.to_thread(drain, client, clock=clock, **options)

    async def waiting() -> Any:
        async with AsyncClient(url, clock=clock) as twin:
            return await drain_async(twin, clock=clock, **options)

    way = waiting if "async" in request.param else blocking
    function = send_later if request.param in ("drain of a coroutine", "drain_async") else send
    return way, client, function, clock


async def test_what_is_to_be_tried_again_is(drained: Any) -> None:
    way, client, function, clock = drained
    jid = function.on(client).put("ann", 2)
    jobs = await way()
    assert [job.jid for job in jobs] == [jid] * 3
    assert (len(tries), clock.now) == (3, 1020.0)
    assert (client.jobs[jid].state, client.jobs[jid].result) == ("complete", "sent to ann")


async def test_a_job_whose_retries_are_spent_fails_and_says_why(drained: Any) -> None:
    way, client, function, _ = drained
    jid = function.on(client).put("ann", 9)
    with pytest.raises(ConnectionError, match="try 3"):
        await way()
    job = client.jobs[jid]
    assert job.state == "failed"
    assert job.failure.message.endswith("ConnectionError: try 3")


def test_a_job_may_ask_for_another_try(client: Client) -> None:
    def ask(job: Any) -> None:
        if job.remaining == 5:
            raise Retry

    client.queues["q"].put("k", jid="a")
    assert [job.state for job in drain(client, code={"k": ask})] == ["waiting", "complete"]


def test_jobs_see_what_they_see_in_a_worker(client: Client) -> None:
    def work(job: Any) -> None:
        job.progress(1, 2)
        job.checkpoint()
        job.logger.info("at work")
        ran.append(job["n"])

    client.queues["q"].put("k", {"n": 1})
    assert [job.result for job in drain(client, code={"k": work})] == [None]
    assert ran == [1]


async def test_code_for_asyncio_may_give_anything(async_client: AsyncClient) -> None:
    async def later(job: Any) -> None:
        ran.append(job.jid)
        await job.complete("next")

    def of_later(job: Any) -> Any:
        return later(job)

    code = {"a": later, "b": of_later, "c": lambda job: ran.append(job.jid)}
    async with async_client:
        for name in code:
            await async_client.queues["q"].put(name, jid=name)
        jobs = await drain_async(async_client, "q", code=code)
    assert sorted(ran) == ["a", "b", "c"]
    states = {job.jid: job.state for job in jobs}
    assert states == {"a": "waiting", "b": "waiting", "c": "complete"}


@pytest.mark.parametrize(("code", "data"), [(add, {"left": 1, "right": 2}), (Sum, [1, 2])])
async def test_code_for_asyncio_may_be_declared_or_a_class(
    async_client: AsyncClient, code: Any, data: Any
) -> None:
    async with async_client:
        await async_client.queues["q"].put("k", data)
        (job,) = await drain_async(async_client, "q", code={"k": code})
    assert (ran, job.state) == ([3], "complete")


async def test_queues_are_done_for_asyncio(url: str) -> None:
    clock = Clock(1000.0)
    async with AsyncClient(url, clock=clock) as client:
        await add.on(client).put(1, 2)
        await add_later.on(client).delay(5).put(3, 4)
        await drain_async(client)
        assert ran == [3]
        jobs = await drain_async(client, "q", clock=clock, seconds=10)
        assert ran == [3, 7]
        assert [job.state for job in jobs] == ["complete"]


def test_a_job_that_is_lost_meanwhile_is_an_error(client: Client, bob: Client) -> None:
    def steal(job: Any) -> None:
        bob.jobs[job.jid].timeout()
        bob.queues["q"].pop()

    client.queues["q"].put("k")
    with pytest.raises(JobLost) as caught:
        drain(client, code={"k": steal})
    assert caught.value.owner == "bob"


SECONDS = Clock()

BAD_DRAINS = [
    ("client", "x", ("x",), {}),
    ("client", None, (None, "q"), {}),
    ("queues[1]", 3, (Client, "q", 3), {}),
    ("queues[0]", "", (Client, ""), {}),
    ("code", [len], (Client, "q"), {"code": [len]}),
    ("code['k']", 3, (Client, "q"), {"code": {"k": 3}}),
    ("clock", 5.0, (Client, "q"), {"clock": 5.0}),
    ("clock", SECONDS, (Client, "q"), {"clock": SECONDS, "seconds": 60}),
    ("seconds", 60, (Client, "q"), {"seconds": 60}),
    ("keeps_results", 1, (Client, "q"), {"keeps_results": 1}),
    ("seconds", "60", (Client, "q"), {"seconds": "60"}),
    ("seconds", -1, (Client, "q"), {"clock": Clock(), "seconds": -1}),
]


@pytest.mark.parametrize(("argument", "value", "args", "options"), BAD_DRAINS)
async def test_bad_arguments_of_drain_are_named(
    argument: str, value: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> None:
    calls: list[tuple[Any, Any]] = [(drain, Client), (drain_async, AsyncClient)]
    for drained, kind in calls:
        given = [kind("memory://") if arg is Client else arg for arg in args]
        with pytest.raises(InvalidArgument) as refused:
            await drained(*given, **options)
        assert (refused.value.argument, refused.value.value) == (argument, value)


async def test_drain_tells_the_client_of_the_other_kind(
    client: Client, async_client: AsyncClient
) -> None:
    with pytest.raises(InvalidArgument, match="client must be of type Client, not AsyncClient"):
        drain(async_client)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="client must be of type AsyncClient, not Client"):
        await drain_async(client)  # type: ignore[arg-type]
