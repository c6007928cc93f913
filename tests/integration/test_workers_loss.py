# SPDX-License-Identifier: MIT
"""Workers that are killed, stopped, cut off from their store, or run what no worker should have to."""

from __future__ import annotations

import os
import random
import shlex
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from pyqless import Client
from pyqless.doctor import Role, acl_line
from pyqless.worker import records
from pyqless.worker.janitor import Janitor
from tests.servers import Server
from tests.workers import Gate, Worker, is_alive, state, until

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at /proc")


@pytest.fixture
def client(one_redis_url: str) -> Iterator[Client]:
    """Give a client of a real server, on which locks hold for some seconds only."""
    with Client(one_redis_url) as client:
        client.config["heartbeat"] = 3
        client.config["grace-period"] = 0
        yield client


@pytest.fixture
def forking(one_redis_url: str) -> Iterator[Worker]:
    with Worker(one_redis_url, "q", "--kind", "forking", "-c", "2") as worker:
        yield worker


# -- lost locks -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "klass"),
    [
        ("forking", "sleep"),
        ("serial", "checkpoints"),
        ("threads", "checkpoints"),
        ("asyncio", "coroutine"),
        ("asyncio", "checkpoints"),
    ],
)
@pytest.mark.parametrize("listen", [True, False], ids=["by message", "by heartbeat"])
def test_a_job_that_is_lost_is_stopped(
    client: Client, one_redis_url: str, kind: str, klass: str, *, listen: bool
) -> None:
    arguments = [] if listen else ["--no-listen"]
    if listen:
        client.config["heartbeat"] = 60
    with Worker(one_redis_url, "q", "--kind", kind, *arguments) as worker:
        worker.put(client, klass, "J", seconds=60)
        pid = worker.began("J").pid
        client.queues["q"].pause()
        client.jobs["J"].timeout()
        until(lambda: "lost" in worker.log(), "the loss is noticed")
        if kind == "forking":
            until(lambda: not is_alive(pid), "the child is killed")
        client.jobs["J"].cancel()
        client.queues["q"].unpause()
        worker.put(client, "touch", "K")
        worker.began("K")
        assert not worker.marks("ended")
        worker.signal(signal.SIGTERM)
        assert worker.end() == 0, worker.log()


def test_the_rights_of_a_worker_are_enough_to_hear_of_it(redis_server: Server) -> None:
    """No lock is renewed while the test lasts."""
    redis_server.flush()
    with redis_server.client() as admin, Client(redis_server.url) as client:
        admin.execute_command(*shlex.split(acl_line(Role.WORKER, user="hand")), ">pw")
        client.config["heartbeat"] = 3600
        url = redis_server.url.replace("//", "//hand:pw@")
        with Worker(url, "q", "--kind", "forking", "-c", "1") as worker:
            worker.put(client, "sleep", "J", seconds=60)
            pid = worker.began("J").pid
            until(admin.pubsub_numpat, "somebody listens")
            client.jobs["J"].cancel()
            until(lambda: not is_alive(pid), "the child is killed")
            assert "no messages for now" not in worker.log()
            assert "lets nobody listen" not in worker.log()
        admin.acl_deluser("hand")


def test_a_job_that_is_cancelled_is_stopped(client: Client, forking: Worker) -> None:
    forking.put(client, "sleep", "J", seconds=60)
    pid = forking.began("J").pid
    client.jobs["J"].cancel()
    until(lambda: not is_alive(pid), "the child is killed")
    assert state(client, "J") == ""


def test_locks_are_kept_for_as_long_as_jobs_run(client: Client, forking: Worker) -> None:
    """Even for a job that holds the interpreter, so that no thread of its process gets a turn."""
    client.config["heartbeat"] = 1
    forking.put(client, "spin", "J", seconds=4)
    worker = forking.began("J").worker
    until(lambda: state(client, "J") == "complete")
    assert [mark.worker for mark in forking.marks("began")] == [worker]


def test_a_child_that_is_stopped_past_its_lock_loses_the_job(
    client: Client, forking: Worker
) -> None:
    client.config["heartbeat"] = 1
    forking.put(client, "checkpoints", "J", seconds=0.3)
    first = forking.began("J")
    os.kill(first.pid, signal.SIGSTOP)
    until(lambda: len(forking.marks("ended")) == 1, "another child does it")
    assert forking.marks("ended")[0].pid != first.pid
    until(lambda: not is_alive(first.pid), "the one that has lost is killed")
    until(lambda: state(client, "J") == "complete")
    assert client.jobs["J"].history[-1]["what"] == "done"
    assert [entry["what"] for entry in client.jobs["J"].history].count("done") == 1


# -- jobs that no worker should have to run ---------------------------------------------------


@pytest.mark.parametrize(("signal_", "words"), [(None, "status 3"), (9, "signal 9")])
def test_a_job_whose_process_dies_is_tried_again_and_then_fails(
    client: Client, forking: Worker, signal_: int | None, words: str
) -> None:
    klass = "leave" if signal_ is None else "sleep"
    forking.put(client, klass, "J", seconds=60, retries=1)
    for count in (1, 2):
        until(lambda: len(forking.marks("began")) == count)  # noqa: B023 - called in this turn
        if signal_ is not None:
            os.kill(forking.marks("began")[-1].pid, signal_)
    until(lambda: state(client, "J") == "failed")
    failure = client.jobs["J"].failure
    assert failure is not None
    assert failure.group == f"tests.worker_jobs.{klass}:ChildDied"
    assert words in failure.message
    forking.put(client, "touch", "K")
    forking.began("K")


def test_what_a_job_has_started_ends_with_it(client: Client, forking: Worker) -> None:
    forking.put(client, "parent", "J", seconds=60)
    mark = until(lambda: forking.marks("started"))[0]
    started = int(mark.what.split()[1])
    client.jobs["J"].cancel()
    until(lambda: not is_alive(started))


@pytest.mark.parametrize("kind", ["forking", "serial", "threads", "asyncio"])
@pytest.mark.parametrize("raises", [False, True], ids=["returns", "raises"])
def test_a_process_that_a_job_forks_is_no_second_worker(
    client: Client, one_redis_url: str, kind: str, *, raises: bool
) -> None:
    with Worker(one_redis_url, "q", "--kind", kind) as worker:
        worker.put(client, "double", "J", raises=raises)
        until(lambda: len(worker.marks("forked")) == 2, "both have come so far")
        (forked,) = (mark.pid for mark in worker.marks("forked 0"))
        until(lambda: not is_alive(forked), "it ends")
        until(lambda: state(client, "J") == "complete", worker.log())
        assert ("broke" in worker.log()) is raises
        assert [entry["what"] for entry in client.jobs["J"].history] == ["put", "popped", "done"]
        worker.put(client, "touch", "K")
        assert worker.began("K").pid != forked
        worker.signal(signal.SIGTERM)
        assert worker.end() == 0, worker.log()


def test_all_sorts_of_jobs_come_through(client: Client, one_redis_url: str, tmp_path: Path) -> None:
    arguments = ("--kind", "forking", "-c", "2", "--max-memory", "200", "--sandbox", str(tmp_path))
    with Worker(one_redis_url, "q", *arguments) as worker:
        for number in range(3):
            worker.put(client, "fork", f"fork{number}")
            worker.put(client, "talk", f"talk{number}")
            worker.put(client, "litter", f"litter{number}")
            worker.put(client, "grow", f"grow{number}", bytes=150 * 2**20)
        until(lambda: len(client.jobs.complete(0, 50)) == 12, worker.log()[-2000:])
        until(lambda: "status 75" in worker.log(), "one that has grown is replaced")
        assert client.jobs.failed() == {}
        worker.signal(signal.SIGTERM)
        assert worker.end() == 0, worker.log()


def test_a_time_limit_kills_what_does_not_listen(
    client: Client, one_redis_url: str, tmp_path: Path
) -> None:
    options = ("--kind", "forking", "-c", "1", "--time-limit", "0.5", "--sandbox", str(tmp_path))
    with Worker(one_redis_url, "q", *options) as worker:
        worker.put(client, "spin", "J", seconds=60)
        assert worker.began("J")
        assert len(list(tmp_path.iterdir())) == 1
        until(lambda: state(client, "J") == "failed")
        assert not list(tmp_path.iterdir())  # its parent has seen to that
        assert list(client.jobs.failed()) == ["tests.worker_jobs.spin:TimeLimitExceeded"]


@pytest.mark.parametrize("arguments", [["--fork-per-job"], ["--spawn"]], ids=lambda value: value[0])
def test_other_ways_to_start_children(
    client: Client, one_redis_url: str, arguments: list[str]
) -> None:
    with Worker(one_redis_url, "q", "--kind", "forking", "-c", "1", *arguments) as worker:
        for jid in ("A", "B"):
            worker.put(client, "touch", jid)
        until(lambda: len(client.jobs.complete()) == 2, worker.log())
        pids = {mark.pid for mark in worker.marks()}
        assert len(pids) == (2 if arguments == ["--fork-per-job"] else 1)
        worker.signal(signal.SIGTERM)
        assert worker.end() == 0, worker.log()


# -- killed under load ------------------------------------------------------------------------


def test_nothing_is_lost_when_children_and_parents_are_killed(
    client: Client, one_redis_url: str
) -> None:
    """Kill at random; all jobs come through, and none is counted more often than it was begun."""
    drawn = random.Random(7)
    total = 150
    client.config["heartbeat"] = 2
    queue = client.queues["q"]
    for number in range(total):
        queue.put(
            "tests.worker_jobs.count",
            {"counter": one_redis_url, "seconds": 0.002},
            jid=f"J{number}",
            retries=50,
        )

    def done() -> int:
        return len(client.jobs.complete(0, total + 1))

    kills = 0
    arguments = (one_redis_url, "q", "--kind", "forking", "-c", "2")
    while done() < total:
        with Worker(*arguments) as worker:
            until(worker.children)
            for _ in range(2):
                enough = min(total, done() + drawn.randrange(5, 40))
                until(lambda: done() >= enough)  # noqa: B023
                children = worker.children()
                if children and done() < total:
                    os.kill(drawn.choice(children), signal.SIGKILL)
                    kills += 1
            worker.signal(signal.SIGKILL)
            worker.end()
            kills += 1
    assert done() == total
    assert client.jobs.failed() == {}
    assert kills > 2
    with redis.Redis.from_url(one_redis_url) as counter:
        counted = {key.decode(): int(value) for key, value in counter.hgetall("counted").items()}
    assert set(counted) == {f"J{number}" for number in range(total)}
    popped = {
        jid: [entry["what"] for entry in client.jobs[jid].history].count("popped")
        for jid in counted
    }
    assert all(count <= popped[jid] for jid, count in counted.items())
    assert sum(counted.values()) <= total + 2 * kills


def test_a_worker_that_resumes_takes_its_jobs_back(client: Client, one_redis_url: str) -> None:
    client.config["heartbeat"] = 600
    arguments = (one_redis_url, "q", "--kind", "forking", "-c", "1", "--name", "me", "--resume")
    with Worker(*arguments) as first:
        first.put(client, "sleep", "J", seconds=1)
        first.began("J")
        first.signal(signal.SIGKILL)
        first.end()
        assert state(client, "J") == "running"
        with Worker(*arguments) as second:
            until(lambda: state(client, "J") == "complete", second.log())
        assert client.jobs["J"].remaining == 5


def test_two_workers_of_one_name_are_not_at_work_at_once(one_redis_url: str) -> None:
    arguments = (one_redis_url, "q", "--kind", "serial", "--name", "me")
    with Worker(*arguments) as first, Client(one_redis_url) as looking:
        until(lambda: records(looking), "it tells of itself")
        with Worker(*arguments) as second:
            assert second.end() == 1, second.log()
            assert f"process {first.process.pid}" in second.log()
        assert [record.pid for record in records(looking)] == [first.process.pid]
        first.signal(signal.SIGTERM)
        assert first.end() == 0, first.log()
        with Worker(*arguments) as third:
            until(lambda: records(looking), "the name is free at once")
            third.signal(signal.SIGTERM)
            assert third.end() == 0, third.log()


# -- a store that is away ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["forking", "threads", "asyncio"])
def test_a_store_that_is_away_is_waited_for(
    client: Client, one_redis_server: Server, kind: str
) -> None:
    """A job that ends meanwhile tells so afterwards; then all goes on."""
    client.config["heartbeat"] = 60
    gate = Gate(one_redis_server.port)
    try:
        with Worker(f"redis://127.0.0.1:{gate.port}/0", "q", "--kind", kind, "-c", "1") as worker:
            worker.put(client, "sleep", "J", seconds=0.5)
            worker.began("J")
            gate.shut()
            until(lambda: "its end is told again" in worker.log(), "it is noticed")
            assert state(client, "J") == "running"
            gate.open()
            until(lambda: state(client, "J") == "complete", "the end is told")
            gate.shut()
            until(lambda: "no jobs for now" in worker.log(), "it is noticed when idle, too")
            lines = len(worker.log().splitlines())
            worker.put(client, "touch", "K")
            assert len(worker.log().splitlines()) < lines + 100, "no busy loop"
            gate.open()
            worker.began("K")
            worker.signal(signal.SIGTERM)
            assert worker.end() == 0, worker.log()
    finally:
        gate.close()


# -- what is told, and cleaned ----------------------------------------------------------------


def test_workers_tell_what_they_do(client: Client, forking: Worker) -> None:
    forking.put(client, "sleep", "J", seconds=60)
    name = forking.began("J").worker
    told = until(
        lambda: [record for record in records(client) if record.name == name and record.jobs]
    )[0]
    assert (told.kind, told.queues, told.jobs[0].jid) == ("child", ["q"], "J")
    assert told.pid in forking.children()
    assert told.is_fresh(client.storage.clock())


def test_two_janitors_at_once_do_what_one_does(client: Client) -> None:
    for number in range(60):
        client.queues["q"].put("klass", {}, jid=f"J{number}", tags=["blue"])
        client.jobs[f"J{number}"].track()
    parent = client.queues["q"].put("klass", {}, jid="parent")
    client.queues["q"].put("klass", {}, jid="child", depends=[parent])
    with redis.Redis.from_url(client.storage.url) as raw:
        raw.delete("ql:j:parent", *(f"ql:j:J{number}" for number in range(0, 60, 2)))
    looked = Janitor(client, dry=True).run()
    assert (len(looked.tracked), len(looked.tags["blue"])) == (30, 30)
    assert looked.dependencies == {"child": ["parent"]}
    reports = []
    threads = [
        threading.Thread(target=lambda: reports.append(Janitor(client).run())) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not any(report.faults for report in reports)
    assert not Janitor(client).run()
    assert client.jobs.tagged("blue").total == 30
    assert client.jobs["child"].state == "waiting"
