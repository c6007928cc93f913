# SPDX-License-Identifier: MIT
"""A worker begins, and takes back what the last of its name has left, only if that one is gone."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pyqless import AsyncClient, Client
from pyqless.core import presence
from pyqless.errors import RequestError
from pyqless.worker import (
    AsyncWorker,
    Finder,
    ForkingWorker,
    Limits,
    Runner,
    SerialWorker,
    Settings,
    ThreadWorker,
)
from pyqless.worker.records import MISSED, PERIOD, records
from tests.unit.worker.conftest import Clock

HERE = socket.gethostname()
NOBODY = 2**22 + 1  # above what Linux gives


def run(kind: str, url: str, clock: Callable[[], float], *, resume: bool = True) -> None:
    runner = Runner(finder=Finder(functions={"k": lambda job: None}))
    options = Settings(queues=["mail"], runner=runner, resume=resume, limits=Limits(jobs=1))
    if kind == "asyncio":
        asyncio.run(run_async(url, clock, options))
    elif kind == "forking":

        def connect(name: str) -> Client:
            return Client(url, worker_name=name, clock=clock)

        ForkingWorker(connect, options, name="ann", processes=1, stagger=0).run()
    else:
        make: Any = SerialWorker if kind == "serial" else ThreadWorker
        with Client(url, worker_name="ann", clock=clock) as client:
            make(client, options).run()


async def run_async(url: str, clock: Callable[[], float], options: Settings) -> None:
    async with AsyncClient(url, worker_name="ann", clock=clock) as client:
        await AsyncWorker(client, options, 2).run()


def left_by(client: Client, host: str, pid: int) -> None:
    """Let a worker take a job and tell of itself."""
    client.queues["mail"].put("k", jid="J")
    assert client.queues["mail"].pop() is not None
    told = {
        "kind": "serial",
        "queues": ["mail"],
        "host": host,
        "pid": pid,
        "version": "1",
        "started": 0.0,
        "period": PERIOD,
        "is_paused": False,
        "jobs": [],
    }
    fields = {name: json.dumps(value) for name, value in told.items()}
    client.storage.run(partial(presence.announce, worker="ann", fields=fields))


@pytest.mark.parametrize("kind", ["serial", "threads", "asyncio"])
@pytest.mark.parametrize("host", [HERE, "elsewhere"])
@pytest.mark.parametrize("resume", [True, False])
def test_the_name_and_the_job_of_a_living_worker_stay_with_it(
    client: Client, url: str, clock: Clock, kind: str, host: str, *, resume: bool
) -> None:
    left_by(client, host, os.getppid())
    clock.now += 3
    with pytest.raises(RequestError, match="a worker called 'ann' is at work") as refused:
        run(kind, url, clock, resume=resume)
    assert (refused.value.argument, refused.value.value) == ("name", "ann")
    assert f"process {os.getppid()} on {host}, heard of 3 s ago" in str(refused.value)
    assert "if it has died, its name is free in 37 s" in str(refused.value)
    assert client.jobs["J"].state == "running"
    assert [record.name for record in records(client)] == ["ann"]


@pytest.mark.parametrize("kind", ["serial", "threads", "asyncio"])
@pytest.mark.parametrize(
    ("host", "pid", "later"),
    [
        (HERE, NOBODY, 3),
        (HERE, os.getpid(), 3),
        ("elsewhere", 1, MISSED * PERIOD + 1),
        (HERE, 1, MISSED * PERIOD + 1),
    ],
    ids=["no such process", "our own number", "silent elsewhere", "silent here"],
)
def test_the_job_of_a_dead_worker_is_taken_back(
    client: Client, url: str, clock: Clock, kind: str, host: str, pid: int, later: float
) -> None:
    left_by(client, host, pid)
    clock.now += later
    run(kind, url, clock)
    assert client.jobs["J"].state == "complete"


@pytest.mark.parametrize("kind", ["serial", "threads", "asyncio"])
def test_the_name_of_a_dead_worker_is_free_though_its_job_is_left_to_its_lock(
    client: Client, url: str, clock: Clock, kind: str
) -> None:
    left_by(client, HERE, NOBODY)
    client.queues["mail"].put("k", jid="K")
    run(kind, url, clock, resume=False)
    assert client.jobs["K"].state == "complete"
    assert client.jobs["J"].state == "running"


def test_a_record_that_makes_no_sense_is_nobodys(
    client: Client, url: str, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    left_by(client, HERE, os.getppid())
    client.storage.run(partial(presence.announce, worker="ann", fields={"pid": "x"}))
    with caplog.at_level(logging.ERROR):
        run("serial", url, clock)
    assert client.jobs["J"].state == "complete"
    assert not caplog.records


@pytest.mark.parametrize("resume", [True, False])
def test_children_are_not_begun_under_the_name_of_others(
    tmp_path: Path, clock: Clock, *, resume: bool
) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db"
    with Client(url, clock=clock, worker_name="ann") as client:
        left_by(client, HERE, os.getppid())
        with pytest.raises(RequestError, match="a worker called 'ann' is at work"):
            run("forking", url, clock, resume=resume)
        assert client.jobs["J"].state == "running"
        assert [record.name for record in records(client)] == ["ann"]
