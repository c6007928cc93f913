# SPDX-License-Identifier: MIT
"""Many calls at once, of both clients: what each gives, what is refused, and a worker's turn."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

import pyqless
from pyqless import AsyncClient, Client, Job, NewJob, Queue
from pyqless.client import JobFunction
from pyqless.errors import (
    DataTooLarge,
    HasDependents,
    InvalidArgument,
    JobExists,
    JobLost,
    NotRunning,
    QueueFull,
)
from tests.unit.client.moved import MovedClock


@pytest.fixture
async def eve(async_client: AsyncClient) -> AsyncIterator[AsyncClient]:
    """Give a client that is closed in the end."""
    async with async_client:
        yield async_client


def held(queue: Queue, count: int) -> list[Job]:
    queue.put_many(("k", number) for number in range(count))
    return queue.pop(count)


def kinds(outcomes: list[Any]) -> list[Any]:
    return [type(each) if isinstance(each, Exception) else each for each in outcomes]


# -- putting ------------------------------------------------------------------------------------


def test_many_jobs_are_put(queue: Queue) -> None:
    first, second = queue.put_many([("k", 1), NewJob("l", {"a": 2}, jid="mine", tags=["t"])])
    assert second == "mine"
    assert {job.jid: (job.klass_name, job.data, job.tags) for job in queue.pop(9)} == {
        first: ("k", 1, []),
        "mine": ("l", {"a": 2}, ["t"]),
    }


def test_jobs_that_are_put_at_one_moment_go_as_they_came(queue: Queue, clock: MovedClock) -> None:
    queue.put_many(("k", number) for number in range(150))
    assert [job.data for job in queue.pop(150)] == [*range(150)]
    queue.put_many(NewJob("k", number, delay=5, tags=["t"]) for number in range(150))
    clock.move(10)
    assert [job.data for job in queue.pop(150)] == [*range(150)]
    queue.put_many(NewJob("k", number, priority=number % 2) for number in range(4))
    assert [job.data for job in queue.pop(4)] == [1, 3, 0, 2]


def test_more_than_go_into_a_transaction_are_put(client: Client, queue: Queue) -> None:
    before = client.storage.metrics.attempts
    jids = queue.put_many(("k", number) for number in range(250))
    assert client.storage.metrics.attempts - before == 3
    assert len({*jids}) == len(queue) == 250


def test_each_job_has_its_own_outcome(queue: Queue) -> None:
    queue.put("k", jid="taken")
    outcomes = queue.put_many(
        [
            NewJob("k", jid="taken", on_conflict="error"),
            NewJob("k", jid="free"),
            NewJob("k", jid="last", max_waiting=2),
        ]
    )
    assert kinds(outcomes) == [JobExists, "free", QueueFull]
    assert queue.waiting() == ["taken", "free"]


def test_all_or_none_are_put(queue: Queue) -> None:
    queue.put("k", jid="taken")
    with pytest.raises(JobExists):
        queue.put_many(
            [("k", 1), NewJob("k", jid="taken", on_conflict="error")], all_or_nothing=True
        )
    assert queue.waiting() == ["taken"]
    assert len(queue.put_many([("k", 1)] * 100, all_or_nothing=True)) == 100


def test_what_is_wrong_with_a_job_is_told_before_any_is_put(client: Client, queue: Queue) -> None:
    client.max_data_size = 10
    with pytest.raises(InvalidArgument) as caught:
        queue.put_many([("k", 1), NewJob("k", priority=float("nan"))])
    assert caught.value.argument == "items[1].priority"
    assert str(caught.value) == "items[1]: priority must be a number: nan"
    with pytest.raises(DataTooLarge) as too_large:
        queue.put_many([("k", 1), ("k", "x" * 20)])
    assert (too_large.value.argument, too_large.value.value) == ("items[1].data", 22)
    with pytest.raises(InvalidArgument, match="all_or_nothing takes no more than 100 at once"):
        queue.put_many([("k", 1)] * 101, all_or_nothing=True)
    assert len(queue) == 0


def test_a_class_gives_its_own_options(queue: Queue) -> None:
    class Tagged:
        @staticmethod
        def default_job_options(data: Any) -> dict[str, Any]:
            return {"tags": ["t"]}

    Tagged.__qualname__ = "Tagged"
    queue.put_many([(Tagged, 1)])
    assert [job.tags for job in queue.pop(1)] == [["t"]]


@pytest.fixture
def send() -> JobFunction[[str, int], None]:
    """Give a declared function without a client."""

    @pyqless.job(queue="elsewhere", name="send", tags=["t"])
    def send(to: str, copies: int = 1) -> None:
        """Send it."""

    return send


def test_declared_jobs_are_put_with_others(
    queue: Queue, client: Client, clock: MovedClock, send: JobFunction[[str, int], None]
) -> None:
    at = clock() + 5
    queue.put_many(
        [
            send.prepared("ann", 2),
            send.on(client).options(jid="ben").prepared("ben", 1),
            send.on(client).at(at).options(jid="late").prepared("late", 1),
        ]
    )
    ann, ben = sorted(queue.pop(9), key=lambda job: str(job.data))
    assert (ann.klass_name, ann.data, ann.tags) == ("send", send.data(("ann", 2), {}), ["t"])
    assert (ben.jid, ben.data) == ("ben", send.data(("ben", 1), {}))
    assert queue.scheduled() == ["late"]


def test_a_new_job_is_shown() -> None:
    assert repr(NewJob("k", {"secret": 1})) == "<NewJob of 'k'>"


# -- jobs in hand -------------------------------------------------------------------------------


def test_many_jobs_are_completed(client: Client, bob: Client, queue: Queue) -> None:
    mine, lost, other = held(queue, 3)
    bob.queues["mail"].put("k", jid=lost.jid)
    mine.data = {"result": 5}
    outcomes = client.jobs.complete_many([mine, lost, other, mine])
    assert kinds(outcomes) == ["complete", NotRunning, "complete", NotRunning]
    assert [job.state for job in (mine, lost, other)] == ["complete", "running", "complete"]
    assert client.jobs[mine.jid].data == {"result": 5}


def test_many_jobs_go_on(client: Client, queue: Queue) -> None:
    jobs = held(queue, 70)
    assert set(client.jobs.complete_many(jobs, "next", delay=5)) == {"scheduled"}
    assert len(client.queues["next"].scheduled(count=100)) == 70
    assert {job.queue_name for job in jobs} == {"next"}
    assert kinds(client.jobs.complete_many([])) == []


def test_who_waits_is_woken_once(client: Client, queue: Queue) -> None:
    """As by single calls: a put is told by the log, a job that goes on or is let go by us, too."""
    wakes = client.storage.subscribe(client.storage.keys.wake("*"))
    jobs = held(queue, 3)
    assert wakes.drain() == []
    client.jobs.complete_many(jobs, "next")
    assert [message.channel for message in wakes.drain()] == [client.storage.keys.wake("next")]


def test_all_or_none_are_completed(client: Client, bob: Client, queue: Queue) -> None:
    mine, lost = held(queue, 2)
    bob.queues["mail"].put("k", jid=lost.jid)
    with pytest.raises(NotRunning):
        client.jobs.complete_many([mine, lost], all_or_nothing=True)
    assert client.jobs[mine.jid].state == "running"
    with pytest.raises(InvalidArgument, match="takes no more than 100 at once, and here are 101"):
        client.jobs.complete_many([mine] * 101, all_or_nothing=True)


def test_data_that_is_no_good_is_told_before_any_is_completed(client: Client, queue: Queue) -> None:
    good, bad = held(queue, 2)
    bad.data = b"1"
    with pytest.raises(InvalidArgument) as caught:
        client.jobs.complete_many([good, bad])
    assert str(caught.value.argument).startswith("jobs[1].data")
    assert client.jobs[good.jid].state == "running"


def test_many_locks_are_renewed(client: Client, queue: Queue, clock: MovedClock) -> None:
    one, two = held(queue, 2)
    two.complete()
    clock.move(5)
    expires, fault = client.jobs.heartbeat_many([one, two])
    assert expires == one.expires_at == clock() + 60
    assert isinstance(fault, NotRunning)


def test_many_jobs_are_failed(client: Client, bob: Client, queue: Queue) -> None:
    mine, lost = held(queue, 2)
    bob.queues["mail"].put("k", jid=lost.jid)
    assert bob.queues["mail"].pop() is not None
    failed, fault = client.jobs.fail_many([mine, lost], "broken", "all of it")
    assert failed == mine.jid
    assert isinstance(fault, JobLost)
    assert fault.owner == "bob"
    assert mine.state == "failed"
    assert client.jobs.failed() == {"broken": 1}


def test_many_jobs_are_cancelled(client: Client, queue: Queue) -> None:
    queue.put_many([NewJob("k", jid="parent"), NewJob("k", jid="child", depends=["parent"])])
    jobs: list[Job | str] = ["parent", client.jobs["child"], "parent", "nowhere"]
    outcomes = client.jobs.cancel_many(jobs)
    assert kinds(outcomes) == [HasDependents, "child", "parent", "nowhere"]
    assert client.jobs.get("parent") is None
    with pytest.raises(InvalidArgument) as caught:
        client.jobs.cancel_many(["a", "b-history"])
    assert caught.value.argument == "jobs[1]"


# -- a worker's turn ----------------------------------------------------------------------------


def test_a_turn(queue: Queue) -> None:
    queue.put_many([NewJob("k", jid="a", priority=1), NewJob("k", jid="b")])
    first = queue.pop()
    assert first is not None
    second = first.complete_and_pop()
    assert second is not None
    assert (first.jid, first.state) == ("a", "complete")
    assert (second.jid, second.state, second.worker_name) == ("b", "running", "ann")
    assert second.complete_and_pop() is None
    with pytest.raises(NotRunning):
        second.complete_and_pop()


def test_a_turn_into_and_from_other_queues(client: Client, queue: Queue) -> None:
    queue.put("k", jid="a")
    client.queues["other"].put("k", jid="b")
    job = queue.pop()
    assert job is not None
    following = job.complete_and_pop("later", delay=5, source="other")
    assert following is not None
    assert (job.queue_name, following.jid) == ("later", "b")
    assert client.queues["later"].scheduled() == ["a"]


def test_a_turn_may_bring_the_same_job_again(queue: Queue) -> None:
    queue.put("k", jid="a")
    job = queue.pop()
    assert job is not None
    again = job.complete_and_pop("mail")
    assert again is not None
    assert (again.jid, again.state) == ("a", "running")


def test_a_turn_past_what_is_damaged(client: Client, queue: Queue) -> None:
    queue.put_many([NewJob("k", jid=jid, priority=at) for at, jid in enumerate("cba")])
    job = queue.pop()
    assert job is not None

    def lose(tx: Any) -> Any:
        yield from tx.read(last=True)
        tx.delete(tx.keys.job("b"))

    client.storage.run(lose)
    following = job.complete_and_pop()
    assert following is not None
    assert (job.state, following.jid) == ("complete", "c")


# -- with asyncio -------------------------------------------------------------------------------


async def test_many_calls_with_asyncio(eve: AsyncClient) -> None:
    queue = eve.queues["mail"]
    await queue.put_many([NewJob("k", jid=jid, priority=1) for jid in "abcdefg"])
    first, second, third, fourth, fifth = await queue.pop(5)
    assert await eve.jobs.heartbeat_many([first]) == [first.expires_at]
    assert await eve.jobs.complete_many([first, second]) == ["complete"] * 2
    assert await eve.jobs.fail_many([third], "broken", "it is") == [third.jid]
    assert (first.state, third.state) == ("complete", "failed")
    following = await fourth.complete_and_pop()
    assert following is not None
    assert fourth.state == "complete"
    waiting = await queue.waiting()
    assert await eve.jobs.cancel_many([following, fifth, *waiting]) == [
        following.jid,
        fifth.jid,
        *waiting,
    ]
    assert await queue.length() == 0
