# SPDX-License-Identifier: MIT
"""A client that was closed says so, on every storage and in every call: whoever tries again would do so for ever."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from pyqless import AsyncClient, Client
from pyqless.client import waiting
from pyqless.errors import ClientClosed, ReadOnlyClient, RequestError, StorageError

STORES = ["memory://closing-{}", "fakeredis://closing-{}", "sqlite:///{}/x.db"]

_stores = count()

#: what may be asked of a client, and of what it has given before
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "put": lambda client, _: client.queues["q"].put("k"),
    "pop": lambda client, _: client.queues["q"].pop(),
    "pop and wait": lambda client, _: client.queues["q"].pop(timeout=60),
    "counts": lambda client, _: client.queues.counts(),
    "wait": lambda client, _: client.jobs.wait("j", 60),
    "complete": lambda _, job: job.complete(),
    "heartbeat": lambda _, job: job.heartbeat(),
    "log": lambda _, job: job.log("m"),
    "many": lambda client, job: client.jobs.complete_many([job]),
    "config": lambda client, _: client.config.all(),
    "consumer": lambda client, _: client.consumer("q").pop(timeout=60),
    "tags": lambda client, _: client.tags.top(),
    "dump": lambda client, _: client.storage.dump(),
    "clear": lambda client, _: client.storage.clear(),
    "flush": lambda client, _: client.storage.flush(),
}


@pytest.fixture(params=STORES, ids=["memory", "redis", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Give a store that no other test uses."""
    url: str = request.param
    return url.format(tmp_path if url.startswith("sqlite") else next(_stores))


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let who waits look at once whether the client was closed."""
    monkeypatch.setattr(waiting, "_SLICE", 0.01)


@pytest.fixture
async def aio(store: str) -> AsyncIterator[AsyncClient]:
    """Give a client that is closed in the end."""
    client = AsyncClient(store)
    yield client
    await client.close()


def test_it_is_the_callers_fault_and_no_trouble_of_the_store() -> None:
    assert issubclass(ClientClosed, RequestError)
    assert not issubclass(ClientClosed, StorageError)


@pytest.mark.parametrize("read_only", [False, True])
def test_no_call_goes_to_a_closed_client(store: str, *, read_only: bool) -> None:
    client = Client(store)
    client.queues["q"].put("k", jid="j")
    job = client.queues["q"].pop()
    if read_only:
        client.close()
        client = Client(store, read_only=True)
    client.close()
    for call in CALLS.values():
        if not (read_only and call in (CALLS["clear"], CALLS["flush"])):
            with pytest.raises(ClientClosed, match="the client is closed"):
                call(client, job)
    with pytest.raises(ClientClosed):
        client.events("log")
    assert client.storage.is_closed
    with pytest.raises(ClientClosed):
        list(client.storage.scan())
    client.close()


async def test_so_it_is_with_asyncio(aio: AsyncClient) -> None:
    await aio.queues["q"].put("k", jid="j")
    job = await aio.queues["q"].pop()
    await aio.close()
    for call in CALLS.values():
        with pytest.raises(ClientClosed, match="the client is closed"):
            await call(aio, job)
    with pytest.raises(ClientClosed):
        await aio.events("log").get(0)
    with pytest.raises(ClientClosed):
        async with aio.events("log"):
            pass
    assert aio.storage.is_closed
    await aio.close()


def test_events_end_with_their_client(store: str) -> None:
    client = Client(store)
    with client.events("log") as events:
        client.queues["q"].put("k")
        assert events.get(5)
        client.close()
        with pytest.raises(ClientClosed):
            events.get(0)


@pytest.mark.usefixtures("soon")
def test_who_waits_for_an_event_meanwhile_is_told(store: str) -> None:
    client, faults = Client(store), []
    events = client.events("log")

    def wait() -> None:
        try:
            events.get()
        except ClientClosed as fault:
            faults.append(fault)

    waiter = threading.Thread(target=wait)
    waiter.start()
    client.close()
    waiter.join(10)
    assert len(faults) == 1
    events.close()


@pytest.mark.usefixtures("soon")
async def test_events_end_with_their_client_with_asyncio(aio: AsyncClient) -> None:
    async with aio.events("log") as events:
        await aio.queues["q"].put("k")
        assert await events.get(5)
        waits = asyncio.create_task(events.get())
        await asyncio.sleep(0)
        await aio.close()
        with pytest.raises(ClientClosed):
            await asyncio.wait_for(waits, 10)
        with pytest.raises(ClientClosed):
            await events.get(0)


async def test_a_store_is_emptied_with_asyncio(aio: AsyncClient, store: str) -> None:
    async with AsyncClient(store, namespace="other") as other:
        for client in (aio, other):
            await client.queues["q"].put("k", jid="j")
        with Client(store) as blocking:
            assert await aio.storage.dump() == blocking.storage.dump() != {}
        await aio.storage.clear()
        assert await aio.jobs.get("j") is None
        assert await other.jobs.get("j") is not None
        await aio.storage.flush()
        assert await other.storage.dump() == {}


async def test_who_only_looks_empties_nothing(aio: AsyncClient, store: str) -> None:
    await aio.queues["q"].put("k", jid="j")
    async with AsyncClient(store, read_only=True) as looking:
        assert await looking.storage.dump() == await aio.storage.dump() != {}
        for empty in (looking.storage.clear, looking.storage.flush):
            with pytest.raises(ReadOnlyClient):
                await empty()
    assert (looking.storage.is_closed, aio.storage.is_closed) == (True, False)
    assert await aio.jobs.get("j") is not None
