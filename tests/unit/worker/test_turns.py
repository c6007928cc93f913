# SPDX-License-Identifier: MIT
"""A worker that takes the next job with the end of the last: when it does, and that it keeps its rules all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from pyqless import Client, Queue
from pyqless.worker import (
    ExitCode,
    Finder,
    Limits,
    Ordered,
    Reserver,
    RoundRobin,
    Runner,
    SerialWorker,
    Settings,
)
from pyqless.worker.lookout import LOOK_AROUND, Lookout
from tests.unit.worker.conftest import Clock


@pytest.fixture
def made(client: Client, finder: Finder) -> Callable[..., SerialWorker]:
    """Make a worker on the queue ``mail``, or on others."""

    def make(*queues: str, **options: Any) -> SerialWorker:
        options = {"runner": Runner(finder=finder), "listen": False, "interval": 0.05, **options}
        return SerialWorker(client, Settings(queues=queues or ("mail",), **options))

    return make


@pytest.fixture
def put(client: Client, clock: Clock) -> Callable[..., None]:
    """Put jobs into a queue, one after the other, so that this is their order."""

    def put(queue: str, *jids: str) -> None:
        for jid in jids:
            clock.now += 1
            client.queues[queue].put("run", {}, jid=jid, retries=0)

    return put


def whats(client: Client, jid: str) -> list[str]:
    """What has happened to a job."""
    return [entry["what"] for entry in client.jobs[jid].history]


def told(worker: SerialWorker, order: Callable[[], object]) -> None:
    """Let an order come when the second job has been taken with the end of the first, and is on its way."""
    storage = worker.client.storage
    run = storage.run

    def run_and_order(transition: Any, now: float | None = None) -> Any:
        value = run(transition, now)
        if worker.jobs_done == 1:
            storage.run = run  # type: ignore[method-assign]
            order()
        return value

    storage.run = run_and_order  # type: ignore[method-assign]


# -- what it costs ----------------------------------------------------------------------------


def test_a_job_takes_one_transaction(
    client: Client, queue: Queue, finder: Finder, made: Callable[..., SerialWorker]
) -> None:
    commits: list[int] = []
    finder.register("run")(lambda job: commits.append(client.storage.metrics.commits))
    queue.put_many(("run", {}) for _ in range(10))
    worker = made(limits=Limits(jobs=10))
    assert worker.run() is ExitCode.RECYCLE
    assert commits == [*range(commits[0], commits[0] + 10)]
    assert len(client.jobs.complete()) == 10


def test_the_run_of_a_job_begins_when_it_is_taken(
    client: Client, queue: Queue, clock: Clock, finder: Finder, made: Callable[..., SerialWorker]
) -> None:
    began: dict[str, tuple[float, float]] = {}

    @finder.register("run")
    def run(job: Any) -> None:
        began[job.jid] = (job.attempt.began, job.attempt.expires)
        clock.now += 100

    client.config["heartbeat"] = 3600
    queue.put_many((("run", {}), ("run", {})))
    start = clock.now
    made(limits=Limits(jobs=2)).run()
    assert [*began.values()] == [(start, start + 3600), (start + 100, start + 3700)]


@pytest.mark.parametrize("times", [1, 5])
def test_who_runs_one_job_takes_no_other(
    client: Client,
    queue: Queue,
    finder: Finder,
    made: Callable[..., SerialWorker],
    times: int,
) -> None:
    finder.register("run")(lambda job: None)
    queue.put_many(("run", {}) for _ in range(10))
    worker = made()
    for _ in range(times):
        worker.run_one()
    worker.close()
    assert (len(client.jobs.complete()), len(queue.running())) == (times, 0)


# -- what is due between two jobs -------------------------------------------------------------


@pytest.mark.parametrize("order", ["finish", "stop", "pause", "limit"])
def test_who_is_to_take_no_more_jobs_takes_none(
    client: Client,
    finder: Finder,
    made: Callable[..., SerialWorker],
    put: Callable[..., None],
    order: str,
) -> None:
    worker = made(limits=Limits(jobs=1 if order == "limit" else None))

    @finder.register("run")
    def run(job: Any) -> None:
        if order != "limit":
            getattr(worker.control, order)()

    put("mail", "J", "K")
    worker.fetcher.pause = lambda seconds: worker.control.finish()  # type: ignore[method-assign]
    worker.run()
    assert whats(client, "J") == ["put", "popped", "done"]
    assert whats(client, "K") == ["put"]


@pytest.mark.parametrize(
    ("order", "code", "events"),
    [
        ("finish", ExitCode.DONE, ["put", "popped", "done"]),
        ("pause", ExitCode.DONE, ["put", "popped", "done"]),
        ("stop", ExitCode.CUT_OFF, ["put", "popped", "released"]),
    ],
)
def test_a_job_in_hand_when_an_order_comes_is_dealt_with_as_any_other(
    client: Client,
    queue: Queue,
    finder: Finder,
    made: Callable[..., SerialWorker],
    put: Callable[..., None],
    order: str,
    code: ExitCode,
    events: list[str],
) -> None:
    ran: list[str] = []
    finder.register("run")(lambda job: ran.append(job.jid))
    put("mail", "J", "K", "L")
    worker = made()
    told(worker, getattr(worker.control, order))
    worker.fetcher.pause = lambda seconds: worker.control.finish()  # type: ignore[method-assign]
    assert worker.run() is code
    assert ran == ["J", *(["K"] if "done" in events else [])]
    assert whats(client, "K") == events
    assert whats(client, "L") == ["put"]
    assert client.jobs["K"].remaining == 0
    assert queue.running() == []


def test_code_is_loaded_anew_before_the_next_job(
    client: Client, queue: Queue, finder: Finder, made: Callable[..., SerialWorker]
) -> None:
    ran: list[str] = []
    new = Finder()
    new.register("run")(lambda job: ran.append("new"))

    @finder.register("run")
    def run(job: Any) -> None:
        ran.append("old")
        worker.control.reload()

    queue.put_many((("run", {}), ("run", {})))
    worker = made(limits=Limits(jobs=2), renew=lambda: Runner(finder=new))
    worker.run()
    assert ran == ["old", "new"]


# -- the order of the queues ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reserver", "order"),
    [(Ordered(), ["A1", "A2", "A3", "B1", "B2"]), (RoundRobin(), ["A1", "B1", "A2", "B2", "A3"])],
    ids=["ordered", "round robin"],
)
def test_queues_keep_their_order(
    finder: Finder,
    made: Callable[..., SerialWorker],
    put: Callable[..., None],
    reserver: Reserver,
    order: list[str],
) -> None:
    ran: list[str] = []
    finder.register("run")(lambda job: ran.append(job.jid))
    put("a", "A1", "A2", "A3")
    put("b", "B1", "B2")
    made("a", "b", reserver=reserver, limits=Limits(jobs=5)).run()
    assert ran == order


def test_a_queue_that_comes_before_is_looked_at_first(
    finder: Finder, made: Callable[..., SerialWorker], put: Callable[..., None]
) -> None:
    ran: list[str] = []

    @finder.register("run")
    def run(job: Any) -> None:
        ran.append(job.jid)
        if job.jid == "B1":
            put("a", "A1")

    put("b", "B1", "B2")
    made("a", "b", limits=Limits(jobs=3)).run()
    assert ran == ["B1", "A1", "B2"]


def test_queues_that_are_new_are_found_while_one_is_full(
    clock: Clock, finder: Finder, made: Callable[..., SerialWorker], put: Callable[..., None]
) -> None:
    ran: list[str] = []

    @finder.register("run")
    def run(job: Any) -> None:
        ran.append(job.jid)
        clock.now += LOOK_AROUND / 2
        if job.jid == "B1":
            put("a", "A1")

    put("b", "B1", "B2", "B3")
    made("*", limits=Limits(jobs=4)).run()
    assert ran == ["B1", "B2", "A1", "B3"]


def test_a_look_at_the_first_queue_is_no_turn_of_it() -> None:
    lookout = Lookout(["a", "b"], RoundRobin())
    assert lookout.first() == "a"
    assert [*lookout.order()] == ["a", "b"]
    assert next(lookout.order()) == "a"
    assert lookout.first() == "b"
    assert [*lookout.order()] == ["b", "a"]


def test_where_there_is_no_queue_there_is_no_first() -> None:
    class Closed:
        description = "closed"

        def order(self, queues: Sequence[str]) -> Iterator[str]:
            return iter(())

    lookout = Lookout(["a"], Closed())
    assert lookout.first() is None
    assert [*lookout.order()] == []
