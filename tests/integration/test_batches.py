# SPDX-License-Identifier: MIT
"""Many calls at once on real servers: what they cost in round trips, and what stays of one that meets others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pyqless import Client, Job, NewJob, Queue
from pyqless.client.requests import batches as requests
from pyqless.core.effects import Transition
from pyqless.core.transaction import Transaction
from pyqless.errors import NotRunning, QlessError


@pytest.fixture
def client(redis_url: str) -> Iterator[Client]:
    """Give a client that works as ``w``."""
    with Client(redis_url, worker_name="w") as client:
        client.config.all()  # it is connected
        yield client


@pytest.fixture
def queue(client: Client) -> Queue:
    """Give an empty queue."""
    return client.queues["q"]


def trips(client: Client, call: Callable[[], Any]) -> int:
    before = client.storage.metrics.trips
    call()
    return client.storage.metrics.trips - before


def test_a_transaction_of_many_takes_as_many_trips_as_one_call(
    client: Client, queue: Queue
) -> None:
    named = [NewJob("k", number, jid=f"j{number}") for number in range(50)]
    assert trips(client, lambda: queue.put_many(named)) == 2
    assert trips(client, lambda: queue.put_many(("k", number) for number in range(50))) <= 2
    jobs = queue.pop(100)
    assert len(jobs) == 100
    assert trips(client, lambda: client.jobs.heartbeat_many(jobs)) == 2
    # old jobs are looked for behind the last one, with a trip of their own
    assert trips(client, lambda: client.jobs.complete_many(jobs)) == 3
    queue.put_many(("k", number) for number in range(100))
    jobs = queue.pop(100)
    assert trips(client, lambda: client.jobs.fail_many(jobs[:20], "g", "m")) == 2
    assert trips(client, lambda: client.jobs.cancel_many([job.jid for job in jobs[20:]])) == 2


def test_more_than_go_into_a_transaction_take_few_trips_more(client: Client, queue: Queue) -> None:
    """Of puts each transaction but the first takes one, for the one before has opened it."""
    assert trips(client, lambda: queue.put_many(("k", number) for number in range(1000))) == 11
    jobs: list[Job] = []
    assert trips(client, lambda: jobs.extend(queue.pop(1000))) == 30
    assert len(jobs) == 1000
    assert trips(client, lambda: client.jobs.heartbeat_many(jobs)) == 20
    assert trips(client, lambda: client.jobs.complete_many(jobs)) == 21
    assert client.storage.metrics.misguesses == 0


def test_a_turn_takes_one_trip(client: Client, queue: Queue) -> None:
    queue.put_many(("k", number) for number in range(10))
    job = queue.pop()
    for _ in range(3):
        assert job is not None
        job = job.complete_and_pop()

    def turns() -> None:
        nonlocal job
        for _ in range(4):
            assert job is not None
            job = job.complete_and_pop()

    assert trips(client, turns) == 4
    assert len(queue) == 3


def test_jobs_that_others_wait_for_are_completed_together(client: Client, queue: Queue) -> None:
    queue.put_many(NewJob("k", jid=f"p{number}", priority=1) for number in range(20))
    queue.put_many(NewJob("k", jid=f"c{number}", depends=[f"p{number}"]) for number in range(20))
    jobs = queue.pop(20)
    assert set(client.jobs.complete_many(jobs)) == {"complete"}
    assert sorted(queue.waiting(count=50)) == sorted(f"c{number}" for number in range(20))


def test_a_batch_that_others_meet_is_carried_out_once(client: Client, queue: Queue) -> None:
    """Another client takes a job between the reads of a batch and its commit."""
    queue.put_many(NewJob("k", jid=jid) for jid in "abc")
    batch = requests.complete(queue.pop(3), None, 0, None, all_or_nothing=False)
    with Client(client.storage.url, worker_name="v") as other:

        def meddle(tx: Transaction) -> Transition[Any]:
            outcomes = yield from batch.transition(tx)
            if not tx.attempt:
                other.queues["q"].put("k", jid="b")
            return outcomes

        outcomes = requests.noted(batch, client.storage.run(meddle))
    kinds = {
        job.jid: type(each) if isinstance(each, QlessError) else each
        for job, each in zip(batch.jobs, outcomes, strict=True)
    }
    assert kinds == {"a": "complete", "b": NotRunning, "c": "complete"}
    assert client.storage.metrics.conflicts == 1
    assert queue.waiting() == ["b"]
