# SPDX-License-Identifier: MIT
"""A client that is closed while somebody waits, and a store that is emptied with asyncio, on a real server."""

from __future__ import annotations

import asyncio
import threading

import pytest

from pyqless import AsyncClient, Client
from pyqless.client import waiting
from pyqless.errors import ClientClosed
from pyqless.storage.redis import scanning


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let who waits look at once whether the client was closed."""
    monkeypatch.setattr(waiting, "_SLICE", 0.01)


def test_who_waits_for_an_event_is_told(one_redis_url: str) -> None:
    client, faults = Client(one_redis_url), []
    events = client.events("log")
    waits = threading.Event()

    def wait() -> None:
        waits.set()
        try:
            events.get()
        except ClientClosed as fault:
            faults.append(fault)

    waiter = threading.Thread(target=wait)
    waiter.start()
    waits.wait()
    client.close()
    waiter.join(10)
    assert len(faults) == 1
    with pytest.raises(ClientClosed):
        client.events("log")
    events.close()


async def test_so_is_a_task(one_redis_url: str) -> None:
    client = AsyncClient(one_redis_url)
    async with client.events("log") as events:
        waits = asyncio.create_task(events.get())
        await asyncio.sleep(0)
        await client.close()
        with pytest.raises(ClientClosed):
            await asyncio.wait_for(waits, 10)


async def test_a_store_is_emptied_with_asyncio(
    one_redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanning, "SCAN_COUNT", 2)
    monkeypatch.setattr(scanning, "PACKET_KEYS", 2)
    async with (
        AsyncClient(one_redis_url) as client,
        AsyncClient(one_redis_url, namespace="other") as other,
    ):
        for each in (client, other):
            for number in range(20):
                await each.queues["q"].put("k", jid=f"j{number}")
        await client.storage.clear()
        assert {key.partition(":")[0] for key in await client.storage.dump()} == {"other"}
        assert await other.queues["q"].length() == 20
        await other.storage.flush()
        assert await client.storage.dump() == {}
