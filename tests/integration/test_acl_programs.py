# SPDX-License-Identifier: MIT
"""Programs send no command that the rights of their role leave out: the server notes each that it refuses."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from pyqless import Client, NewJob
from pyqless.doctor import Role
from pyqless.worker import records
from pyqless.worker.janitor import Janitor
from tests.integration.conftest import UrlOf
from tests.servers import Server
from tests.workers import Worker, state, until

#: a moment so long ago that a worker seen then is one of those to be dropped
LONG_AGO: Final = 1.0


@pytest.fixture
def others(one_redis_server: Server) -> Iterator[Client]:
    """Give a client that may do everything, and a worker that has not been seen for long."""
    one_redis_server.flush()
    with Client(one_redis_server.url, worker_name="old") as client:
        client.queues["q"].put("a.B", jid="held")
        client.queues["q"].pop()
        client.queues["q"].max_concurrency = 9
        client.queues["q"].recur("tests.errands.rest", {}, 3600, jid="R")
        with one_redis_server.client() as admin:
            admin.zadd("ql:workers", {"old": LONG_AGO})
        yield client


def begin(kind: str, url: str, *more: str) -> Worker:
    arguments = ("--kind", kind, "--keep-results", "--time-limit", "60", "--name", "w", *more)
    return Worker(url, "q", "-m", "tests.errands", *arguments)


def employ(worker: Worker, others: Client, errand: str = "run") -> None:
    """Let a worker do what there is to do: delayed and recurring jobs, and those that fail."""
    queue = others.queues["q"]
    queue.put(f"tests.errands.{errand}", {}, jid="errand", delay=0.01)
    queue.put("nowhere.at_all", {}, jid="fails")
    until(lambda: state(others, "errand") == "complete", "the errand is run")
    until(lambda: state(others, "fails") == "failed", "what cannot be found fails")
    until(lambda: queue.counts()[1:-1] == (0, 1, 0, 0, 0, 1), "all is done but what is held")
    assert others.jobs["errand"].result == {"done": 2}
    for number in (signal.SIGUSR2, signal.SIGCONT):
        worker.signal(number)
    queue.pause()
    queue.put("tests.errands.rest", {}, jid="paused")
    queue.unpause()
    until(lambda: state(others, "paused") == "complete", "it goes on")


@pytest.mark.parametrize(
    ("kind", "errand", "klass"),
    [
        ("serial", "run", "checkpoints"),
        ("threads", "run", "checkpoints"),
        ("asyncio", "run_async", "coroutine"),
    ],
)
def test_workers(kind: str, errand: str, klass: str, others: Client, url_of: UrlOf) -> None:
    with begin(kind, url_of(Role.WORKER)) as worker:
        employ(worker, others, errand)
        worker.put(others, klass, "long", seconds=60)
        worker.began("long")
        others.jobs["long"].cancel()
        worker.signal(signal.SIGTERM)
        assert worker.end() == 0, worker.log()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at /proc")
def test_forking_workers_that_lose_children_and_are_killed_themselves(
    others: Client, url_of: UrlOf, one_redis_server: Server
) -> None:
    url = url_of(Role.WORKER)
    with begin("forking", url, "-c", "1") as worker, one_redis_server.client() as admin:
        employ(worker, others)
        worker.put(others, "sleep", "one", seconds=60, retries=0)
        os.kill(worker.began("one").pid, signal.SIGKILL)
        until(lambda: state(others, "one") == "failed", "the job of a dead child fails")
        # a look at workers drops those that were not seen for long
        until(lambda: admin.zscore("ql:workers", "old") is None, "the old worker is dropped")
        worker.put(others, "sleep", "two", seconds=60)
        worker.began("two")
        worker.signal(signal.SIGKILL)
        worker.end()
    with begin("forking", url, "-c", "1", "--resume") as worker:
        until(lambda: "resumed" in str(others.jobs["two"].history), "it is taken back")
        worker.signal(signal.SIGQUIT)
        worker.signal(signal.SIGTERM)
        worker.end()


def test_producers(others: Client, url_of: UrlOf) -> None:
    with Client(url_of(Role.PRODUCER)) as client:
        queue = client.queues["q"]
        queue.put("a.B", {}, jid="one", tags=["red"], delay=1)
        queue.put("a.B", {}, jid="two", depends=["one"])
        queue.put("a.B", {}, unique=True, on_conflict="keep", max_waiting=99)
        queue.put_many([NewJob("a.B", {}, jid="three"), ("a.B", {}), ("a.B", {})])
        reasons = [client.jobs[jid].explain().reason for jid in ("held", "one", "two", "three")]
        assert reasons == ["running", "scheduled", "depends", "waiting"]
        assert client.jobs.progress("held") is None
        assert client.jobs.wait("one", 0.01, interval=0.001) is None
        assert client.jobs.tagged("red").jids == ["one"]
        client.jobs.cancel_many(["two", "one"])
        client.jobs["three"].requeue("r")
        assert len(client.queues["r"]) == 1


def test_observers(others: Client, url_of: UrlOf) -> None:
    with Client(url_of(Role.OBSERVER), read_only=True) as client:
        with client.events("log", "tracked") as events:
            others.queues["q"].put("a.B", {}, jid="new")
            event = events.get(10)
        assert event is not None
        assert event.jid == "new"
        assert [job.jid for job in client.jobs.all()] == ["held", "new"]
        assert client.jobs.wait("new", 0.01, interval=0.001) is None
        assert records(client) == []
        # who may drop it will do so
        assert client.workers["old"].jobs == []
        assert client.workers.counts() == []


def test_operators(others: Client, url_of: UrlOf) -> None:
    with Client(url_of(Role.OPERATOR), worker_name="ann") as client:
        client.queues["q"].put("a.B", {}, jid="new")
        job = client.queues["q"].pop()
        assert job is not None
        job.fail("oops", "no")
        client.queues["q"].move_all("r")
        assert client.jobs.purge_failed(0).jobs == 1
        assert client.jobs.wait("held", 0.01, interval=0.001) is None
        assert Janitor(client, deep=True).run().faults == []
