# SPDX-License-Identifier: MIT
"""Subscriptions on a real server: closed by another, and broken in between."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
import redis

from pyqless import AsyncClient, Client, Event


@pytest.fixture
def url(one_redis_url: str) -> str:
    return one_redis_url


def test_another_thread_ends_a_wait(url: str) -> None:
    with Client(url) as client:
        events = client.events("log")
        heard: list[object] = []
        ready = threading.Event()

        def listen() -> None:
            ready.set()
            try:
                heard.extend(event.name for event in events)
            except Exception as error:  # noqa: BLE001 - any of them is the fault looked for
                heard.append(error)

        for _ in range(20):
            listener = threading.Thread(target=listen)
            listener.start()
            ready.wait(5)
            began = time.monotonic()
            events.close()
            listener.join(5)
            assert not listener.is_alive()
            assert time.monotonic() - began < 0.9
            events = client.events("log")
            ready.clear()
        events.close()
        assert heard == []


async def test_another_task_ends_a_wait(url: str) -> None:
    async with AsyncClient(url) as client:
        events = client.events("log")
        waiting = asyncio.create_task(events.get())
        await asyncio.sleep(0.05)
        await events.close()
        assert await asyncio.wait_for(waiting, 5) is None


def test_a_gap_is_told(url: str) -> None:
    gap = Event(name="gap", source="connection", jid=None)
    with Client(url) as client, client.events() as events, redis.Redis.from_url(url) as admin:
        client.queues["q"].put("k", jid="a")
        first = events.get(5)
        admin.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
        assert first is not None
        assert first.jid == "a"
        assert events.get(5) == gap
        client.queues["q"].put("k", jid="b")
        second = events.get(5)
        assert second is not None
        assert second.jid == "b"


async def test_a_gap_is_told_for_asyncio(url: str) -> None:
    async with AsyncClient(url) as client, client.events("log", "worker") as events:
        with redis.Redis.from_url(url) as admin:
            admin.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
        told = await events.get(5)
        assert told is not None
        assert told.name == "gap"
        await client.queues["q"].put("k", jid="b")
        told = await events.get(5)
        assert told is not None
        assert told.jid == "b"
