# SPDX-License-Identifier: MIT
"""Clients of one store in memory, at a moment of the test's choice."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from pyqless import AsyncClient, Client, Queue
from tests.unit.client.moved import MovedClock

_stores = count()


@pytest.fixture
def clock() -> MovedClock:
    """Give a clock that stands still until it is moved."""
    return MovedClock()


@pytest.fixture
def url() -> str:
    """Give a store that no other test uses."""
    return f"memory://client-{next(_stores)}"


@pytest.fixture
def client(url: str, clock: MovedClock) -> Iterator[Client]:
    """Give a client that works as ``ann``."""
    with Client(url, clock=clock, worker_name="ann") as client:
        yield client


@pytest.fixture
def bob(url: str, clock: MovedClock) -> Iterator[Client]:
    """Give another client of the same store, that works as ``bob``."""
    with Client(url, clock=clock, worker_name="bob") as client:
        yield client


@pytest.fixture
def queue(client: Client) -> Queue:
    """Give an empty queue."""
    return client.queues["mail"]


@pytest.fixture
def async_client(url: str, clock: MovedClock) -> AsyncClient:
    """Give a client of the same store for asyncio, that works as ``eve``."""
    return AsyncClient(url, clock=clock, worker_name="eve")
