# SPDX-License-Identifier: MIT
"""A store in memory at a moment of the test's choice, and workers on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from pyqless import AsyncClient, Client, Queue
from pyqless.worker import Finder, Runner, SerialWorker, Settings

_stores = count()


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def url() -> str:
    """Give a store that no other test uses."""
    return f"memory://worker-{next(_stores)}"


@pytest.fixture
def client(url: str, clock: Clock) -> Iterator[Client]:
    with Client(url, clock=clock, worker_name="ann") as client:
        yield client


@pytest.fixture
def other(url: str, clock: Clock) -> Iterator[Client]:
    """Give a client of the same store that works under another name."""
    with Client(url, clock=clock, worker_name="bob") as client:
        yield client


@pytest.fixture
def async_client(url: str, clock: Clock) -> AsyncClient:
    return AsyncClient(url, clock=clock, worker_name="ann")


@pytest.fixture
def queue(client: Client) -> Queue:
    return client.queues["mail"]


@pytest.fixture
def finder() -> Finder:
    """Give a finder that knows what the test registers."""
    return Finder()


@pytest.fixture
def work(client: Client, finder: Finder) -> Iterator[Callable[..., Any]]:
    """Run one job of the queue with a serial worker, and give the verdict."""
    workers = []

    def work(**options: Any) -> Any:
        settings = Settings(queues=["mail"], runner=Runner(finder=finder, **options), listen=False)
        worker = SerialWorker(client, settings)
        workers.append(worker)
        return worker.run_one()

    yield work
    for worker in workers:
        worker.close()
