# SPDX-License-Identifier: MIT
"""A client is shared by threads and used after a fork, and keeps its password to itself."""

from __future__ import annotations

import logging
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pyqless import AsyncClient, Client, errors
from pyqless.errors import StoreRefused, StoreUnavailable
from tests.integration.conftest import got


@pytest.fixture
def shared(store_url: str) -> Iterator[Client]:
    with Client(store_url) as client:
        yield client


def test_threads_share_a_client(shared: Client) -> None:
    queue = shared.queues["q"]
    done: Counter[str] = Counter()
    faults: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(10):
                queue.put("k", turn, jid=f"{number}-{turn}")
            while job := queue.pop():
                job.heartbeat()
                job.complete()
                done[job.jid] += 1
        except BaseException as error:  # noqa: BLE001 - any of them is the fault looked for
            faults.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert faults == []
    assert done == Counter({f"{number}-{turn}": 1 for number in range(6) for turn in range(10)})
    assert shared.storage.metrics.commits >= 6 * 10 * 4


def in_child(act: Callable[[], bool]) -> bool:
    """Do something in a forked child, and tell whether it went well."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if act() else 2
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0


def test_a_client_is_used_after_a_fork(one_redis_url: str) -> None:
    with Client(one_redis_url) as client:
        queue = client.queues["q"]
        queue.put("k", jid="before")
        parent = client.worker_name

        def work() -> bool:
            job = queue.pop()
            queue.put("k", jid="child")
            waited = client.consumer("q").pop(timeout=5)
            return (
                job is not None
                and job.complete() == "complete"
                and job.acting_worker == client.worker_name != parent
                and waited is not None
                and waited.jid == "child"
            )

        assert in_child(work)
        queue.put("k", jid="after")
        job = queue.pop()
        assert job is not None
        assert (job.jid, job.worker_name) == ("after", parent)
        assert client.jobs["before"].state == "complete"
        assert client.jobs["child"].state == "running"


# -- secrets ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize("port", [1, None], ids=["nobody there", "wrong password"])
async def test_a_password_is_neither_shown_nor_logged_nor_raised(
    one_redis_url: str, kind: Any, port: int | None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    place = one_redis_url.removeprefix("redis://") if port is None else f"127.0.0.1:{port}/0"
    client = kind(f"redis://ann:hunter2@{place}")
    with pytest.raises((StoreUnavailable, StoreRefused)) as caught:
        await got(client.queues["q"].put("k"))
    told: BaseException | None = caught.value
    while told is not None:
        assert "hunter2" not in f"{told!r} {told.args}"
        told = told.__cause__ or told.__context__
    shown = [client, client.storage, client.queues["q"], client.consumer("q"), client.events]
    assert "hunter2" not in repr(shown) + caplog.text
    await got(client.close())


def test_errors_tell_what_they_know_by_name(shared: Client) -> None:
    queue = shared.queues["q"]
    with pytest.raises(errors.JobNotFound) as absent:
        _ = shared.jobs["a"]
    assert absent.value.jid == "a"
    queue.put("k", jid="a")
    queue.put("k", jid="b", depends=["a"])
    with pytest.raises(errors.NotRunning) as idle:
        shared.jobs["a"].complete()
    assert idle.value.state == "waiting"
    with pytest.raises(errors.HasDependents) as needed:
        shared.jobs["a"].cancel()
    assert needed.value.jids == ["b"]
    with pytest.raises(errors.JobExists) as taken_jid:
        queue.put("k", jid="a", on_conflict="error")
    assert taken_jid.value.jid == "a"
    with pytest.raises(errors.QueueFull) as full:
        queue.put("k", max_waiting=1)
    assert full.value.waiting == 1
    with pytest.raises(errors.QueueNotEmpty) as filled:
        queue.forget()
    assert filled.value.jobs == 2
    with pytest.raises(errors.NotDepending) as ready:
        shared.jobs["a"].depend("c")
    assert ready.value.state == "waiting"
    job = queue.pop()
    assert job is not None
    job.requeue("other")
    with Client(shared.storage.url, worker_name="bob") as bob:
        taken = bob.queues["other"].pop()
    assert taken is not None
    with pytest.raises(errors.JobLost) as lost:
        job.heartbeat()
    assert lost.value.owner == "bob"
    mine = shared.jobs["a"]
    assert repr(mine) == "<Job a: k, running in 'other'>"
    with pytest.raises(errors.WrongQueue) as wrong:
        from_elsewhere(taken)
    assert wrong.value.queue == "third"


def from_elsewhere(job: Any) -> None:
    """Complete a job from the queue that it was popped from, though its worker has moved on with it."""
    with Client(job.client.storage.url, worker_name="bob") as bob:
        bob.jobs[job.jid].requeue("third")
        bob.queues["third"].pop()
        job.client = bob
        job.complete()
