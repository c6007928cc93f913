# SPDX-License-Identifier: MIT
"""Whoever waits outlasts a store that is away for a moment."""

from __future__ import annotations

from typing import NoReturn

import pytest

from pyqless import AsyncClient, Client, Queue
from pyqless.client.aio import listening as aio
from pyqless.client.sync import listening as sync
from pyqless.errors import StoreUnavailable


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody sleep between two tries to listen."""
    for module in (sync, aio):
        monkeypatch.setattr(module, "AGAIN", 0.0)


def _away() -> NoReturn:
    raise StoreUnavailable("the subscription is broken")


def test_a_pop_outlasts_a_store_that_nobody_can_listen_to(
    client: Client, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def subscribe(*channels: str) -> object:
        tries.append(channels)
        if len(tries) < 3:
            _away()
        queue.put("k", jid="a")
        return type(client.storage).subscribe(client.storage, *channels)

    monkeypatch.setattr(client.storage, "subscribe", subscribe)
    job = queue.pop(timeout=30)
    assert job is not None
    assert (job.jid, len(tries)) == ("a", 3)


async def test_so_does_a_pop_for_asyncio(
    async_client: AsyncClient, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    async def subscribe(*channels: str) -> object:
        tries.append(channels)
        if len(tries) < 3:
            _away()
        queue.put("k", jid="a")
        return await type(async_client.storage).subscribe(async_client.storage, *channels)

    monkeypatch.setattr(async_client.storage, "subscribe", subscribe)
    async with async_client:
        job = await async_client.queues["mail"].pop(timeout=30)
    assert job is not None
    assert (job.jid, len(tries)) == ("a", 3)


def test_a_store_that_stays_away_is_told(
    client: Client, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    def subscribe(*_: str) -> NoReturn:
        monkeypatch.setattr(client.storage, "run", lambda *_: _away())
        _away()

    monkeypatch.setattr(client.storage, "subscribe", subscribe)
    with pytest.raises(StoreUnavailable):
        queue.pop(timeout=30)


def test_a_wait_for_a_job_outlasts_it_too(
    client: Client, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.put("k", jid="a")
    tries = []

    def subscribe(*channels: str) -> object:
        tries.append(channels)
        if len(tries) < 3:
            _away()
        client.jobs["a"].cancel()
        queue.put("k", jid="a")
        done = queue.pop()
        assert done is not None
        done.complete()
        return type(client.storage).subscribe(client.storage, *channels)

    monkeypatch.setattr(client.storage, "subscribe", subscribe)
    job = client.jobs.wait("a", timeout=30)
    assert job is not None
    assert (job.state, len(tries)) == ("complete", 3)
