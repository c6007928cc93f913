# SPDX-License-Identifier: MIT
"""A queue that is damaged keeps no worker from the others, and is served again once it is mended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator

import pytest

from pyqless import AsyncClient, Client
from pyqless.core.effects import Transition
from pyqless.core.transaction import Transaction
from pyqless.worker.control import Control
from pyqless.worker.fetching import AsyncFetcher, Fetcher
from pyqless.worker.lookout import Lookout

#: fetches the jids of at most so many jobs
Fetch = Callable[[int], list[str]]


def _damage(tx: Transaction) -> Transition[None]:
    tx.hset(tx.keys.work("bad"), "a field", "of no sorted set")
    return
    yield


def _mend(tx: Transaction) -> Transition[None]:
    tx.delete(tx.keys.work("bad"))
    return
    yield


@pytest.fixture
def lookout() -> Lookout:
    return Lookout(["bad", "good"], None)


@pytest.fixture(params=["threads", "asyncio"])
def fetch(request: pytest.FixtureRequest, client: Client, lookout: Lookout) -> Iterator[Fetch]:
    if request.param == "threads":
        fetcher = Fetcher(client, lookout, Control(), listen=False)
        yield lambda count: [job.jid for job in fetcher.fetch(count)]
        return
    with asyncio.Runner() as runner:
        other = AsyncClient(client.storage.url)
        awaited = AsyncFetcher(other, lookout, Control(), listen=False)
        yield lambda count: [job.jid for job in runner.run(awaited.fetch(count))]
        runner.run(other.close())


def test_others_are_served(client: Client, fetch: Fetch, caplog: pytest.LogCaptureFixture) -> None:
    client.storage.run(_damage)
    for jid in ("a", "b"):
        client.queues["good"].put("k", jid=jid)
    with caplog.at_level(logging.INFO, "pyqless"):
        assert [sorted(fetch(2)), fetch(1)] == [["a", "b"], []]
    (told,) = (record.message for record in caplog.records)
    assert told.startswith("no jobs of queue 'bad' for now: ")


def test_it_is_served_again(client: Client, fetch: Fetch, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        client.storage.run(_damage)
        assert fetch(1) == []
        client.storage.run(_mend)
        client.queues["bad"].put("k", jid="a")
        assert fetch(1) == ["a"]
        client.jobs["a"].cancel()
    assert len([record for record in caplog.records if record.name == "pyqless.worker"]) == 2


def test_who_waits_looks_at_the_others(client: Client, lookout: Lookout, fetch: Fetch) -> None:
    client.storage.run(_damage)
    assert fetch(1) == []
    assert lookout.sound == ["good"]
    client.storage.run(_mend)
    assert fetch(1) == []
    assert lookout.sound == ["bad", "good"]
