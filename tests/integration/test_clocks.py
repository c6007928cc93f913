# SPDX-License-Identifier: MIT
"""Clocks that are wrong: the store's own can be used instead, and what a jump of the caller's does is known."""

from __future__ import annotations

import asyncio
import time

import pytest

import pyqless
from pyqless.storage import open_storage
from pyqless.storage.redis import Policy
from tests.servers import Server
from tests.wires import names, recorded

HOUR = 3600.0

#: seconds that a machine may take over a few calls, however busy it is
WHILE = 10.0


@pytest.fixture(autouse=True)
def _empty(one_redis_server: Server) -> None:
    one_redis_server.flush()


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> float:
    """Let this process's clock be hours ahead."""
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 5 * HOUR)
    return 5 * HOUR


def store_time(server: Server) -> float:
    with server.client() as client:
        seconds, microseconds = client.time()
    return float(seconds + microseconds / 1e6)


def test_the_stores_clock_counts(one_redis_server: Server, wrong: float) -> None:
    with (
        pyqless.Client(one_redis_server.url) as others,
        pyqless.Client(one_redis_server.url, clock="store") as client,
    ):
        before = store_time(one_redis_server)
        client.queues["q"].put("shop.Job", {}, jid="J")
        job = client.queues["q"].pop()
        assert job is not None
        expires = float(others.jobs["J"].expires_at)
        assert abs(expires - 60 - before) < WHILE
        assert abs(client.storage.clock() - before) < WHILE


def test_a_worker_whose_clock_is_wrong_takes_no_lock_that_holds(
    one_redis_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pyqless.Client(one_redis_server.url, clock="store", worker_name="right") as right:
        right.queues["q"].put("shop.Job", {}, jid="J")
        assert right.queues["q"].pop() is not None
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 5 * HOUR)
    with pyqless.Client(one_redis_server.url, clock="store", worker_name="wrong") as other:
        assert other.queues["q"].pop() is None
        assert other.jobs["J"].worker_name == "right"


def test_without_it_a_clock_ahead_takes_every_lock_for_expired(one_redis_server: Server) -> None:
    """As with the Lua core, which believes its callers, too."""
    with pyqless.Client(one_redis_server.url, worker_name="right") as right:
        right.queues["q"].put("shop.Job", {}, jid="J")
        right.config["grace-period"] = 0
        assert right.queues["q"].pop() is not None
        real = time.time
        with pyqless.Client(
            one_redis_server.url, worker_name="wrong", clock=lambda: real() + 5 * HOUR
        ) as other:
            taken = other.queues["q"].pop()
            assert taken is not None
            assert taken.jid == "J"


def test_the_store_is_asked_once_a_minute_and_by_each_new_connection(
    one_redis_server: Server,
) -> None:
    now = 0.0

    def asked() -> int:
        return sum("TIME" in names(packet) for packet in packets)

    policy = Policy(monotonic=lambda: now)
    with (
        recorded() as packets,
        open_storage(one_redis_server.url, clock="store", policy=policy) as storage,
    ):
        client = pyqless.Client(connection=storage.client())  # type: ignore[attr-defined]
        client.storage = storage
        for number in range(3):
            client.queues["q"].put("shop.Job", {}, jid=f"J{number}")
        assert asked() == 1
        now += 61
        client.queues["q"].put("shop.Job", {}, jid="K")
        assert asked() == 2
        with one_redis_server.client() as admin:
            admin.client_kill_filter(_type="normal", skipme=True)
        client.queues["q"].put("shop.Job", {}, jid="L")
        client.queues["q"].put("shop.Job", {}, jid="M")
        assert asked() == 3


def test_it_is_asked_where_a_commit_stands_open(one_redis_server: Server) -> None:
    now = 0.0
    policy = Policy(monotonic=lambda: now)
    with pyqless.Client(one_redis_server.url, clock="store", policy=policy) as client:
        client.queues["q"].put("shop.Job", {})
        now += 59
        client.queues["q"].put("shop.Job", {})
        now += 2
        jid = client.queues["q"].put("shop.Job", {})
        assert client.jobs[jid].state == "waiting"


def test_asyncio(one_redis_server: Server, wrong: float) -> None:
    async def live() -> float:
        async with pyqless.AsyncClient(one_redis_server.url, clock="store") as client:
            await client.queues["q"].put("shop.Job", {})
            job = await client.queues["q"].pop()
            assert job is not None
            return float(job.expires_at)

    assert abs(asyncio.run(live()) - 60 - store_time(one_redis_server)) < WHILE


@pytest.mark.parametrize("url", ["memory://", "fakeredis://"])
def test_where_there_is_no_server_it_is_the_machines_own(url: str) -> None:
    with pyqless.Client(url, clock="store") as client:
        assert abs(client.storage.clock() - time.time()) < 1.0
