# SPDX-License-Identifier: MIT
"""Waiting for the end of a job: what tells of it at once, what is found in time, and what is no end."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import redis

from pyqless import AsyncClient, Client
from pyqless.client import ending
from pyqless.conformance import Target
from pyqless.core import jobs
from pyqless.core.keys import Keys
from pyqless.errors import InvalidArgument, JobNotFound, StoreUnavailable, StoreUnsupported
from pyqless.storage import Message
from pyqless.storage.subscriptions import GAP
from pyqless.worker import Finder, Runner, SerialWorker, Settings
from tests.integration.conftest import got

#: seconds within which a wait ends that is woken; the interval is longer
SOON = 2.0

_stores = count()


@pytest.fixture(params=["memory", "redis", "sqlite"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Repeat the test on all of them; the store is empty."""
    if request.param == "memory":
        return f"memory://ending-{next(_stores)}"
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'q.db'}"
    return str(request.getfixturevalue("one_redis_url"))


@pytest.fixture
def other(store_url: str) -> Iterator[Client]:
    """Give somebody else, who blocks, and works as bob."""
    with Client(store_url, worker_name="bob") as other:
        yield other


@pytest.fixture
def later() -> Iterator[Callable[[Callable[[], object]], None]]:
    """Do something in a thread, once whoever waits has begun to."""
    threads: list[threading.Timer] = []

    def start(act: Callable[[], object]) -> None:
        threads.append(threading.Timer(0.2, act))
        threads[-1].start()

    yield start
    for thread in threads:
        thread.join(10)


def put(other: Client, jid: str = "a") -> Any:
    """Put a job, and take it in hand."""
    other.queues["q"].put("k", jid=jid, retries=0)
    return other.queues["q"].pop()


async def waited(client: Any, jid: str = "a") -> Any:
    """Wait for a job's end, and see that it came soon."""
    began = time.monotonic()
    job = await got(client.jobs.wait(jid, timeout=10, interval=20))
    assert time.monotonic() - began < SOON
    return job


async def test_an_end_that_has_come_needs_no_waiting(client: Any, other: Client) -> None:
    put(other).complete()
    put(other, "b").fail("group", "message")
    assert (await got(client.jobs.wait("a", timeout=0))).state == "complete"
    assert (await got(client.jobs.wait("b", timeout=0))).failure.message == "message"
    with pytest.raises(JobNotFound):
        await got(client.jobs.wait("c", timeout=0))


@pytest.mark.parametrize(
    ("end", "state"),
    [
        (lambda job: job.complete(), "complete"),
        (lambda job: job.fail("group", "message"), "failed"),
        (lambda job: job.retry(), "failed"),
        (lambda job: job.client.jobs.complete_many([job]), "complete"),
        (lambda job: job.complete_and_pop(), "complete"),
    ],
    ids=["complete", "fail", "retry", "complete_many", "complete_and_pop"],
)
async def test_an_end_wakes(
    client: Any, other: Client, later: Any, end: Callable[[Any], object], state: str
) -> None:
    job = put(other)
    later(lambda: end(job))
    assert (await waited(client)).state == state


async def test_a_wait_may_be_longer_than_the_system_can(
    client: Any, other: Client, later: Any
) -> None:
    later(put(other).complete)
    assert (await got(client.jobs.wait("a", interval=1e300))).state == "complete"


async def test_a_handle_shows_the_end_that_it_has_waited_for(
    client: Any, other: Client, later: Any
) -> None:
    job = put(other)
    handle = await got(client.jobs.get("a"))
    assert not await got(handle.wait(0.05))
    assert handle.state == "running"

    def end() -> None:
        job.data = {"n": 1}
        job.complete()

    later(end)
    assert await got(handle.wait(timeout=10, interval=20))
    assert (handle.state, handle.data) == ("complete", {"n": 1})


async def test_a_job_that_is_cancelled_is_there_no_more(
    client: Any, other: Client, later: Any
) -> None:
    put(other)
    later(lambda: other.jobs.cancel("a"))
    began = time.monotonic()
    with pytest.raises(JobNotFound) as caught:
        await got(client.jobs.wait("a", timeout=10, interval=20))
    assert caught.value.jid == "a"
    assert time.monotonic() - began < SOON


async def test_what_is_no_end_is_waited_through(client: Any, other: Client, later: Any) -> None:
    put(other, "b")
    job = put(other)

    def go_on() -> None:
        other.jobs["b"].complete()
        job.complete("next")
        again = other.queues["next"].pop()
        assert again is not None
        again.timeout()
        again = other.queues["next"].pop()
        assert again is not None
        again.complete()

    assert await got(client.jobs.wait("a", timeout=0.1)) is None
    later(go_on)
    job_then = await waited(client)
    assert (job_then.state, job_then.history[-2]["what"]) == ("complete", "popped")
    assert job_then.history[-2]["worker"] == "bob"


async def test_an_end_that_nobody_tells_of_is_found_at_the_next_look(
    client: Any, other: Client, store_url: str, later: Any
) -> None:
    job = put(other)

    def give_back() -> None:
        with Target(store_url) as core:
            core.call("retry", f"{time.time()}", "a", "q", job.worker_name)

    later(give_back)
    found = await got(client.jobs.wait("a", timeout=10, interval=0.3))
    assert (found.state, found.failure.group) == ("failed", "failed-retries-q")


async def test_an_end_between_the_look_and_the_listening_is_not_missed(
    client: Any, other: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = put(other)
    subscribe = client.storage.subscribe

    def end_first(*channels: str) -> Any:
        job.complete()
        return subscribe(*channels)

    monkeypatch.setattr(client.storage, "subscribe", end_first)
    assert (await waited(client)).state == "complete"


async def test_a_subscription_that_is_of_no_more_use_is_made_anew(
    client: Any, other: Client, later: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    subscribe = client.storage.subscribe
    made: list[Any] = []

    def refuse(*_arguments: object) -> Any:
        raise StoreUnavailable("the subscription is broken")

    def noted(subscription: Any) -> Any:
        if not made:
            monkeypatch.setattr(subscription, "get", refuse)
        made.append(subscription)
        return subscription

    async def subscribe_later(*channels: str) -> Any:
        return noted(await subscribe(*channels))

    replaced = (
        subscribe_later if isinstance(client, AsyncClient) else lambda *a: noted(subscribe(*a))
    )
    monkeypatch.setattr(client.storage, "subscribe", replaced)
    later(put(other).complete)
    assert (await waited(client)).state == "complete"
    assert len(made) == 2


async def test_where_nobody_may_listen_it_looks(
    client: Any, other: Client, later: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_channels: str) -> Any:
        raise StoreUnsupported("no channels here")

    monkeypatch.setattr(client.storage, "subscribe", refuse)
    job = put(other)
    later(job.complete)
    assert (await waited(client)).state == "complete"
    put(other, "b")
    assert await got(client.jobs.wait("b", timeout=0.2)) is None


async def test_a_client_that_only_looks_may_wait(opened: Any, other: Client, later: Any) -> None:
    job = put(other)
    later(job.complete)
    assert (await waited(opened(read_only=True))).state == "complete"


async def test_what_a_worker_keeps_is_the_result(client: Any, other: Client) -> None:
    finder = Finder(functions={"add": lambda job: sum(job.data)})
    runner = Runner(finder=finder, keeps_results=True)
    other.queues["q"].put("add", [1, 2], jid="a")
    worker = SerialWorker(other, Settings(queues=["q"], runner=runner))
    thread = threading.Timer(0.2, worker.drain)
    thread.start()
    job = await waited(client)
    thread.join(10)
    assert job.result == 3
    worker.close()

    other.jobs["a"].requeue("q")
    assert (await got(client.jobs.get("a"))).result is None
    again = other.queues["q"].pop()
    assert again is not None
    assert (await got(client.jobs.get("a"))).result is None

    again.log("result", value=4)
    assert (await got(client.jobs.get("a"))).result == 4
    again.timeout()
    other.queues["q"].pop()
    assert (await got(client.jobs.get("a"))).result is None


@pytest.mark.parametrize(
    ("argument", "options"),
    [
        ("timeout", {"timeout": -1}),
        ("timeout", {"timeout": "soon"}),
        ("interval", {"interval": 0}),
        ("interval", {"interval": math.inf}),
        ("jid", {"jid": ""}),
    ],
)
async def test_what_is_no_good_is_named(client: Any, argument: str, options: Any) -> None:
    with pytest.raises(InvalidArgument) as caught:
        await got(client.jobs.wait(**{"jid": "a", **options}))
    assert caught.value.argument == argument


async def test_a_jid_may_look_like_a_pattern(client: Any, other: Client, later: Any) -> None:
    later(put(other, "[a]*").retry)
    assert (await waited(client, "[a]*")).state == "failed"


@pytest.mark.parametrize(
    ("channel", "text", "wakes"),
    [
        ("ql:log", '{"jid":"a","event":"completed"}', True),
        ("ql:log", '{"jid":"b","event":"completed"}', False),
        ("ql:log", '{"jid":"a","event":"popped"}', False),
        ("ql:log", "nonsense", False),
        ("ql:py:end:a", "", True),
        (*GAP, True),
    ],
)
def test_what_is_told_of_another_or_is_no_end_wakes_nobody(
    channel: str, text: str, *, wakes: bool
) -> None:
    watch = ending.Ending(Keys(), "a", None)
    assert watch.wakes(Message(channel, text)) is wakes


def test_the_looks_of_the_deaf_become_rarer() -> None:
    with Client("memory://") as client:
        watch = ending.Ending(client.storage.keys, "a", 0.3)
        assert [watch.rest(hears=False) for _ in range(5)] == [0.05, 0.1, 0.2, 0.3, 0.3]
        assert watch.rest(hears=True) == 0.3


# -- on a real server -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Client, AsyncClient])
async def test_an_end_that_is_undone_while_it_is_looked_at_is_none(
    one_redis_url: str, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, read = kind(one_redis_url), jobs.get
    with Client(one_redis_url) as other:
        put(other).complete()

        def undo_first(*arguments: Any) -> Any:
            monkeypatch.undo()
            other.jobs["a"].requeue("q")
            return read(*arguments)

        monkeypatch.setattr(jobs, "get", undo_first)
        assert await got(client.jobs.wait("a", timeout=0)) is None
        assert other.jobs["a"].state == "waiting"
    await got(client.close())


@pytest.mark.parametrize("kind", [Client, AsyncClient])
async def test_a_broken_subscription_hides_no_end(one_redis_url: str, kind: Any) -> None:
    client = kind(one_redis_url)
    with Client(one_redis_url) as other, redis.Redis.from_url(one_redis_url) as admin:
        job = put(other)

        def disturb() -> None:
            admin.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
            job.complete()

        timer = threading.Timer(0.3, disturb)
        timer.start()
        assert (await waited(client)).state == "complete"
        timer.join()
    await got(client.close())


async def test_a_wait_leaves_no_connection_behind(one_redis_url: str) -> None:
    async with AsyncClient(one_redis_url) as client:
        with Client(one_redis_url) as other, redis.Redis.from_url(one_redis_url) as admin:
            jids = [str(number) for number in range(5)]
            jobs = [put(other, jid) for jid in jids]
            waits = [asyncio.create_task(client.jobs.wait(jid, timeout=10)) for jid in jids]
            await asyncio.sleep(0.2)
            waits[0].cancel()
            other.jobs.complete_many(jobs)
            found = await asyncio.wait_for(asyncio.gather(*waits[1:]), SOON)
            assert [job.jid for job in found if job is not None] == jids[1:]
            with pytest.raises(asyncio.CancelledError):
                await waits[0]
            assert admin.pubsub_numsub("ql:log") == [(b"ql:log", 0)]
