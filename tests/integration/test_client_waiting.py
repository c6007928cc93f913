# SPDX-License-Identifier: MIT
"""Waiting for jobs: what wakes at once, what is found in time, and what waiting costs."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis

from pyqless import AsyncClient, Client
from pyqless.conformance import Target
from pyqless.errors import InvalidArgument
from tests.integration.conftest import got

#: seconds within which a wait ends that is woken; the interval is longer
SOON = 2.0


@pytest.fixture
def other(store_url: str) -> Iterator[Client]:
    """Give somebody else, who blocks, works as bob, and is the only one whose locks expire."""
    with Client(store_url, worker_name="bob") as other:
        yield other


class Later:
    """Does something in a thread, once whoever waits has begun to."""

    def __init__(self) -> None:
        self._threads: list[threading.Timer] = []

    def __call__(self, act: Callable[[], object], seconds: float = 0.15) -> None:
        self._threads.append(threading.Timer(seconds, act))
        self._threads[-1].start()

    def join(self) -> None:
        for thread in self._threads:
            thread.join(10)


@pytest.fixture
def later() -> Iterator[Later]:
    later = Later()
    yield later
    later.join()


async def waits(client: Any, *queues: str) -> Any:
    """Wait for a job of some queues, and see that it came soon."""
    began = time.monotonic()
    consumer = client.consumer(*(queues or ("q",)), interval=20)
    try:
        job = await got(consumer.pop(timeout=10))
    finally:
        await got(consumer.close())
    assert time.monotonic() - began < SOON
    return job


async def test_a_job_that_is_there_needs_no_waiting(client: Any) -> None:
    await got(client.queues["q"].put("k", jid="a"))
    assert (await waits(client)).jid == "a"


async def test_nothing_comes_of_a_wait_in_vain(client: Any) -> None:
    began = time.monotonic()
    assert await got(client.queues["q"].pop(timeout=0.3)) is None
    assert await got(client.queues["q"].pop(3, timeout=0.1)) == []
    assert 0.4 <= time.monotonic() - began < SOON
    for timeout in (-1, "soon"):
        with pytest.raises(InvalidArgument) as caught:
            await got(client.queues["q"].pop(timeout=timeout))
        assert caught.value.argument == "timeout"


async def test_a_put_wakes(client: Any, other: Client, later: Later) -> None:
    later(lambda: other.queues["q"].put("k", jid="a"))
    began = time.monotonic()
    job = await got(client.queues["q"].pop(timeout=10))
    assert (job.jid, job.worker_name) == ("a", "ann")
    assert time.monotonic() - began < SOON


async def test_a_job_that_goes_on_to_the_queue_wakes(
    client: Any, other: Client, later: Later
) -> None:
    other.queues["before"].put("k", jid="a")
    job = other.queues["before"].pop()
    assert job is not None
    later(lambda: job.complete("q"))
    assert (await waits(client)).jid == "a"


@pytest.mark.parametrize("what", ["retry", "timeout", "unfail", "unpause", "recur", "undepend"])
async def test_what_lua_is_silent_about_wakes(
    client: Any, other: Client, later: Later, what: str
) -> None:
    queue = other.queues["q"]
    if what != "recur":
        queue.put("k", jid="a")
    job = None if what == "recur" else queue.pop()
    if job is not None and what == "unfail":
        job.fail("group", "message")
    if job is not None and what == "unpause":
        queue.pause()
        job.retry()
    if job is not None and what == "undepend":
        queue.put("k", jid="b", depends=["a"])
    acts: dict[str, Callable[[], object]] = {
        "retry": lambda: other.jobs["a"].retry(),  # noqa: PLW0108 - there is no such job yet
        "timeout": lambda: other.jobs["a"].timeout(),  # noqa: PLW0108 - likewise
        "unfail": lambda: queue.unfail("group"),
        "unpause": queue.unpause,
        "recur": lambda: queue.recur("k", None, 60, jid="r"),
        "undepend": lambda: other.jobs["b"].undepend("a"),
    }
    later(acts[what])
    expected = {"recur": "r-1", "undepend": "b"}.get(what, "a")
    assert (await waits(client)).jid == expected


async def test_a_job_that_is_let_go_wakes_in_its_own_queue(
    client: Any, other: Client, later: Later
) -> None:
    other.queues["first"].put("k", jid="a")
    other.queues["q"].put("k", jid="b", depends=["a"])
    job = other.queues["first"].pop()
    assert job is not None
    later(job.complete)
    assert (await waits(client)).jid == "b"


async def test_room_below_a_limit_wakes(client: Any, other: Client, later: Later) -> None:
    queue = other.queues["q"]
    queue.max_concurrency = 1
    queue.put("k", jid="a")
    job = queue.pop()
    queue.put("k", jid="b")
    assert job is not None
    later(job.complete)
    assert (await waits(client)).jid == "b"


@pytest.mark.parametrize("what", ["delay", "recurrence", "lock"])
async def test_what_runs_out_is_not_slept_through(client: Any, other: Client, what: str) -> None:
    queue = other.queues["q"]
    if what == "delay":
        queue.put("k", jid="a", delay=0.4)
    if what == "recurrence":
        queue.recur("k", None, 60, jid="r", offset=0.4)
    if what == "lock":
        other.config["grace-period"] = 0
        queue.heartbeat = 0.4
        queue.put("k", jid="a")
        queue.pop()
    job = await waits(client)
    assert job.jid == ("r-1" if what == "recurrence" else "a")


async def test_the_first_queue_that_has_something_gives(
    client: Any, other: Client, later: Later
) -> None:
    other.queues["b"].put("k", jid="second")
    other.queues["a"].put("k", jid="first")
    assert (await waits(client, "a", "b")).jid == "first"
    assert (await waits(client, "a", "b")).jid == "second"
    later(lambda: other.queues["b"].put("k", jid="third"))
    assert (await waits(client, "a", "b")).jid == "third"


async def test_what_others_do_in_silence_is_found_at_the_next_look(
    client: Any, store_url: str, later: Later
) -> None:
    with Target(store_url) as core:
        now = f"{time.time()}"
        core.call("put", now, "w", "q", "a", "k", "{}", "0")
        core.call("pop", now, "q", "w", "1")
        core.call("fail", now, "a", "w", "group", "message")
        later(lambda: core.call("unfail", now, "q", "group"), 0.1)
        consumer = client.consumer("q", interval=0.5)
        job = await got(consumer.pop(timeout=10))
        await got(consumer.close())
        later.join()
    assert job.jid == "a"


async def test_a_consumer_gives_one_job_after_another(client: Any, other: Client) -> None:
    for number in range(3):
        other.queues["q"].put("k", number)
    consumer = client.consumer("q")
    found: list[int] = []
    if hasattr(consumer, "__aiter__"):
        async for job in consumer:
            found.append(job.data)
            if len(found) == 3:
                break
        await consumer.close()
    else:
        with consumer:
            for job in consumer:
                found.append(job.data)
                if len(found) == 3:
                    break
    assert found == [0, 1, 2]


def test_a_consumer_needs_queues_and_an_interval(store_url: str) -> None:
    with Client(store_url) as client:
        with pytest.raises(InvalidArgument) as caught:
            client.consumer()
        assert caught.value.argument == "queues"
        with pytest.raises(InvalidArgument) as caught:
            client.consumer("q", interval=0)
        assert caught.value.argument == "interval"


# -- on a real server -------------------------------------------------------------------------


def _commands(admin: redis.Redis) -> int:
    told = admin.info("commandstats")
    return sum(entry["calls"] for name, entry in told.items() if name != "cmdstat_info")


@pytest.mark.parametrize("kind", [Client, AsyncClient])
async def test_an_idle_worker_sends_less_than_one_command_a_second(
    one_redis_url: str, kind: Any
) -> None:
    interval = 0.2
    client = kind(one_redis_url)
    with redis.Redis.from_url(one_redis_url) as admin:
        consumer = client.consumer("q", interval=interval)
        await got(consumer.pop(timeout=0.1))  # to connect and to subscribe

        async def sent(looks: int) -> int:
            before = _commands(admin)
            assert await got(consumer.pop(timeout=interval * looks)) is None
            return _commands(admin) - before

        # less what the one attempt to pop costs, with which every wait begins
        each_look = (await sent(15) - await sent(5)) / 10
    await got(consumer.close())
    await got(client.close())
    # at the usual interval of 5 seconds, so many a look are so many every 5 seconds
    assert 0 < each_look <= 5.0


@pytest.mark.parametrize("kind", [Client, AsyncClient])
async def test_without_a_right_to_listen_it_looks(one_redis_url: str, kind: Any) -> None:
    with redis.Redis.from_url(one_redis_url) as admin:
        admin.execute_command(
            "ACL", "SETUSER", "deaf", "on", "nopass", "~*", "+@all", "resetchannels"
        )
    client = kind(one_redis_url.replace("://", "://deaf:x@"))
    with Client(one_redis_url) as other:
        threading.Timer(0.3, lambda: other.queues["q"].put("k", jid="a")).start()
        consumer = client.consumer("q", interval=0.2)
        job = await got(consumer.pop(timeout=10))
        await got(consumer.close())
    await got(client.close())
    with redis.Redis.from_url(one_redis_url) as admin:
        admin.execute_command("ACL", "DELUSER", "deaf")
    assert job.jid == "a"


@pytest.mark.parametrize("kind", [Client, AsyncClient])
async def test_a_broken_subscription_is_made_anew(one_redis_url: str, kind: Any) -> None:
    client = kind(one_redis_url)
    with Client(one_redis_url) as other, redis.Redis.from_url(one_redis_url) as admin:

        def disturb() -> None:
            admin.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
            other.queues["q"].put("k", jid="a")

        timer = threading.Timer(0.3, disturb)
        timer.start()
        job = await waits(client)
        timer.join()
    await got(client.close())
    assert job.jid == "a"


async def test_many_tasks_wait_on_one_client(one_redis_url: str) -> None:
    before = set(threading.enumerate())  # other tests may have left some behind
    async with AsyncClient(one_redis_url) as client:
        queue = client.queues["q"]
        waiting = [asyncio.create_task(queue.pop(timeout=10)) for _ in range(5)]
        await asyncio.sleep(0.2)
        for number in range(5):
            await queue.put("k", number)
        jobs = await asyncio.wait_for(asyncio.gather(*waiting), SOON)
        assert sorted(job.data for job in jobs if job is not None) == [0, 1, 2, 3, 4]
        assert set(threading.enumerate()) <= before
