# SPDX-License-Identifier: MIT
"""The client for asyncio: the same methods, and the same store."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pyqless import AsyncClient, Client, client
from pyqless.client import Failure
from pyqless.errors import JobLost, JobNotFound, QueueNotEmpty, RecurringJobNotFound
from tests.unit.client.moved import MovedClock

TWINS = [name for name in client.__all__ if "Async" + name in client.__all__]


@pytest.fixture
async def eve(async_client: AsyncClient) -> AsyncIterator[AsyncClient]:
    """Give a client that is closed in the end."""
    async with async_client:
        yield async_client


def methods(owner: type) -> dict[str, Any]:
    return {
        name: member
        for name, member in inspect.getmembers(owner, inspect.isfunction)
        if not name.startswith("_")
    }


def properties(owner: type) -> set[str]:
    return {name for name, member in inspect.getmembers(owner) if isinstance(member, property)}


@pytest.mark.parametrize("name", TWINS)
def test_the_twins_have_the_same_methods_with_the_same_arguments(name: str) -> None:
    blocking, waiting = getattr(client, name), getattr(client, "Async" + name)
    for method, member in methods(blocking).items():
        ours = inspect.signature(member).parameters
        theirs = inspect.signature(methods(waiting)[method]).parameters
        assert [(p.name, p.kind, p.default) for p in ours.values()] == [
            (p.name, p.kind, p.default) for p in theirs.values()
        ]


#: what these only prepare needs no store
@pytest.mark.parametrize("name", [name for name in TWINS if name not in ("OnCommit", "Order")])
def test_what_asks_the_store_is_awaited(name: str) -> None:
    for method, member in methods(getattr(client, "Async" + name)).items():
        asks = inspect.iscoroutinefunction(member)
        encodes = method in ("encoded", "encoded_data", "changed_data")
        gives = ("data_as", "result_as", "consumer", "events", "all")
        assert asks or encodes or method in gives


def test_a_property_that_asks_the_store_is_a_method_there() -> None:
    asking = properties(client.Queue) - properties(client.AsyncQueue)
    assert asking == {"heartbeat", "max_concurrency", "max_waiting", "paused"}
    assert all(hasattr(client.AsyncQueue, f"get_{name}") for name in asking)
    for name in asking - {"paused"}:
        assert hasattr(client.AsyncQueue, f"set_{name}")
        assert hasattr(client.AsyncQueue, f"del_{name}")


async def test_a_job_goes_in_and_out(eve: AsyncClient) -> None:
    queue = eve.queues["mail"]
    assert await queue.pop() is None
    assert await queue.peek() is None
    jid = await queue.put("Send", {"n": 1}, priority=3, tags=["a"])
    assert [job.jid for job in await queue.peek(5)] == [jid]
    assert await queue.length() == 1
    (job,) = await queue.pop(5)
    assert (job.data, job.priority, job.tags, job.worker_name) == ({"n": 1}, 3, ["a"], "eve")
    assert repr(job) == f"<AsyncJob {jid}: Send, running in 'mail'>"
    job.data["n"] = 2
    assert await job.heartbeat() == job.expires_at
    assert await job.complete("next", delay=5) == "scheduled"
    assert (await eve.jobs[jid]).data == {"n": 2}
    assert [counts.name async for counts in eve.queues] == ["mail", "next"]


async def test_both_clients_share_a_store(eve: AsyncClient, client: Client) -> None:
    client.queues["mail"].put("Send", jid="a")
    job = await eve.queues["mail"].pop()
    assert job is not None
    with pytest.raises(JobLost):
        client.jobs["a"].complete()
    assert await job.complete() == "complete"
    assert client.jobs.complete() == await eve.jobs.complete() == ["a"]


async def test_jobs_are_looked_up(eve: AsyncClient) -> None:
    await eve.queues["mail"].put("Send", jid="a", tags=["t"])
    job = await eve.jobs.get("a")
    assert job is not None
    assert (job.state, job.acting_worker) == ("waiting", "eve")
    assert [found.jid for found in await eve.jobs.multiget("no", "a")] == ["a"]
    assert await eve.jobs.tagged("t") == (1, ["a"])
    assert await eve.jobs.get("no") is None
    with pytest.raises(JobNotFound):
        await eve.jobs["no"]


async def test_jobs_fail_and_come_back(eve: AsyncClient, clock: MovedClock) -> None:
    queue = eve.queues["mail"]
    await queue.put("Send", jid="a")
    (job,) = await queue.pop(1)
    assert await job.retry(1, group="busy", message="later") == 4
    clock.move(1)
    (job,) = await queue.pop(1)
    await job.fail("bounced", "no such address")
    assert await eve.jobs.failed() == {"bounced": 1}
    page = await eve.jobs.failed("bounced")
    expected = Failure("bounced", "no such address", clock.now, "eve")
    assert [failed.failure for failed in page.jobs] == [expected]
    assert await queue.unfail("bounced") == 1


async def test_a_job_is_marked_moved_and_cancelled(eve: AsyncClient) -> None:
    queue = eve.queues["mail"]
    for jid in "ab":
        await queue.put("Send", jid=jid)
    await queue.put("Send", jid="c", depends=["a"])
    job = await eve.jobs["c"]
    await job.depend("b")
    await job.undepend("a")
    await job.refresh()
    assert job.dependencies == ["b"]
    await job.undepend(all=True)
    await job.set_priority(9)
    assert await job.tag("x", "y") == ["x", "y"]
    assert await job.untag("x") == job.tags == ["y"]
    assert await job.track()
    assert [tracked.jid for tracked in (await eve.jobs.tracked()).jobs] == ["c"]
    assert await job.untrack()
    await job.log("seen", by="eve")
    (job,) = await queue.pop(1)
    assert (job.jid, job.priority, job.history[-2]["what"]) == ("c", 9, "seen")
    await job.timeout()
    assert job.state == "stalled"
    await job.move("other")
    assert (job.state, job.queue_name) == ("waiting", "other")
    await job.cancel()
    await eve.jobs.cancel("a", "b")
    assert await eve.jobs.multiget("a", "b", "c") == []


async def test_states_and_settings_of_a_queue(eve: AsyncClient) -> None:
    queue = eve.queues["mail"]
    await queue.put("Send", jid="a", delay=5)
    await queue.put("Send", jid="b", depends=["a"])
    await queue.recur("Send", None, 60, jid="r", offset=60)
    await queue.put("Send", jid="c")
    await queue.pop()
    assert await queue.scheduled() == ["a"]
    assert await queue.depends() == ["b"]
    assert await queue.recurring() == ["r"]
    assert await queue.running() == ["c"]
    assert await queue.stalled() == []
    assert (await queue.counts()).running == 1
    assert (await queue.stats()).wait.count == 1
    await queue.pause()
    assert await queue.get_paused()
    await queue.unpause()
    assert not await queue.get_paused()
    with pytest.raises(QueueNotEmpty):
        await queue.forget()
    await queue.set_heartbeat(5)
    await queue.set_max_concurrency(3)
    assert (await queue.get_heartbeat(), await queue.get_max_concurrency()) == (5, 3)
    await queue.set_max_waiting(9)
    assert await queue.get_max_waiting() == 9
    await queue.del_max_waiting()
    assert await queue.get_max_waiting() is None
    await queue.del_heartbeat()
    await queue.del_max_concurrency()
    assert (await queue.get_heartbeat(), await queue.get_max_concurrency()) == (None, None)


async def test_recurring_jobs(eve: AsyncClient) -> None:
    await eve.queues["mail"].recur("Send", None, 60, jid="r")
    job = await eve.recurring["r"]
    await job.update(interval=30, data=[1])
    assert (job.interval, job.data) == (30, [1])
    assert await job.tag("a", "b") == ["a", "b"]
    assert await job.untag("a") == ["b"]
    await job.refresh()
    assert (job.interval, job.tags) == (30, ["b"])
    assert await eve.recurring.get("r") is not None
    await job.cancel()
    assert await eve.recurring.get("r") is None
    with pytest.raises(RecurringJobNotFound):
        await eve.recurring["r"]


async def test_settings_workers_and_tags(eve: AsyncClient) -> None:
    await eve.config.set("heartbeat", 5)
    assert await eve.config.get("heartbeat") == 5
    await eve.config.unset("heartbeat")
    assert (await eve.config.all())["heartbeat"] == 60
    assert await eve.config.get("no", 7) == 7
    await eve.queues["mail"].put("Send", jid="a", tags=["t"])
    await eve.queues["mail"].pop()
    await eve.queues["mail"].put("Send", jid="b", tags=["t"])
    assert await eve.tags.top() == ["t"]
    assert (await eve.workers["eve"]).jobs == ["a"]
    assert [counts.name async for counts in eve.workers] == ["eve"]
    await eve.workers.deregister("eve")
    assert await eve.workers.counts() == []


# -- what would be assigned in vain -----------------------------------------------------------


async def test_what_cannot_be_assigned_says_so(client: Client, eve: AsyncClient) -> None:
    blocking = client.queues["mail"]
    blocking.put("Send", jid="j")
    blocking.recur("Send", None, 60, jid="r")
    handles: list[Any] = [
        eve.queues["mail"],
        await eve.jobs["j"],
        await eve.recurring["r"],
        blocking,
        client.jobs["j"],
        client.recurring["r"],
    ]
    for handle in handles:
        with pytest.raises(AttributeError):
            handle.hearbeat = 60
    for handle, setting in zip(handles, ["heartbeat", "priority", "interval"], strict=False):
        with pytest.raises(AttributeError):
            setattr(handle, setting, 60)
    assert client.recurring["r"].interval == 60


def test_a_client_that_blocks_tells_whether_a_job_is_there(client: Client) -> None:
    jid = client.queues["q"].put("klass")
    client.queues["q"].recur("klass", None, 60, jid="nightly")
    assert jid in client.jobs
    assert "nightly" not in client.jobs
    assert "nightly" in client.recurring
    assert jid not in client.recurring


@pytest.mark.parametrize("part", ["jobs", "queues", "recurring", "workers"])
def test_what_cannot_be_awaited_does_not_ask_without_end(
    async_client: AsyncClient, part: str
) -> None:
    where = getattr(async_client, part)
    with pytest.raises(TypeError):
        assert "x" in where
    with pytest.raises(TypeError):
        iter(where)


async def test_what_is_entered_in_the_wrong_way_says_which_is_right(
    async_client: AsyncClient, client: Client
) -> None:
    waited: list[Any] = [async_client, async_client.consumer("q"), async_client.events("log")]
    for entered in waited:
        name = type(entered).__name__
        told = f"^{name} is for asyncio: use 'async with'$"
        with pytest.raises(TypeError, match=told), entered:
            pytest.fail("it was entered")
    with client.consumer("q") as consumer, client.events("log") as events:
        blocking: list[Any] = [client, consumer, events]
        for entered in blocking:
            name = type(entered).__name__
            told = f"^{name} blocks: use 'with', or Async{name} for asyncio$"
            with pytest.raises(TypeError, match=told):
                async with entered:
                    pytest.fail("it was entered")
    await async_client.close()
