# SPDX-License-Identifier: MIT
"""The client for asyncio."""

from __future__ import annotations

import time
from typing import Any, Literal, Self

from pyqless.client import checks
from pyqless.client.aio.config import AsyncConfig
from pyqless.client.aio.consuming import AsyncConsumer
from pyqless.client.aio.events import AsyncEvents
from pyqless.client.aio.jobs import AsyncJobs
from pyqless.client.aio.queues import AsyncQueues
from pyqless.client.aio.recurring import AsyncRecurringJobs
from pyqless.client.aio.tags import AsyncTags
from pyqless.client.aio.workers import AsyncWorkers
from pyqless.client.caller import MAX_DATA_SIZE, Caller, where
from pyqless.client.checks import Span
from pyqless.client.entering import EnteredAsync
from pyqless.client.events import Source, channels
from pyqless.client.read_only import AsyncReadOnlyStorage
from pyqless.client.simplifying import Encoder
from pyqless.storage import AsyncStorage, open_async_storage
from pyqless.storage.described import Clock

__all__ = ["AsyncClient"]


class AsyncClient(EnteredAsync, Caller[AsyncStorage]):
    """
    As ``Client``, for asyncio. The tasks of one loop may share a client.

    Args:
        connection: instead of a URL, a client or connection pool of redis-py for asyncio.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        connection: Any = None,
        worker_name: str | None = None,
        namespace: str = "ql",
        clock: Clock | Literal["store"] = time.time,
        max_data_size: int = MAX_DATA_SIZE,
        encoder: Encoder | None = None,
        read_only: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(worker_name, max_data_size, encoder)
        storage = open_async_storage(
            where(url, connection),
            connection=connection,
            namespace=checks.name("namespace", namespace),
            clock=checks.clock("clock", clock),
            **options,
        )
        only_looks = checks.flag("read_only", read_only)
        self.storage = AsyncReadOnlyStorage(storage) if only_looks else storage

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def queues(self) -> AsyncQueues:
        """As ``Client.queues``."""
        return AsyncQueues(self)

    @property
    def jobs(self) -> AsyncJobs:
        """As ``Client.jobs``."""
        return AsyncJobs(self)

    @property
    def recurring(self) -> AsyncRecurringJobs:
        """As ``Client.recurring``."""
        return AsyncRecurringJobs(self)

    @property
    def workers(self) -> AsyncWorkers:
        """As ``Client.workers``."""
        return AsyncWorkers(self)

    @property
    def tags(self) -> AsyncTags:
        """As ``Client.tags``."""
        return AsyncTags(self)

    @property
    def config(self) -> AsyncConfig:
        """As ``Client.config``."""
        return AsyncConfig(self)

    def consumer(self, *queues: str, interval: Span | None = None) -> AsyncConsumer:
        """As ``Client.consumer``."""
        return AsyncConsumer(self, queues, interval)

    def events(self, *sources: Source, worker: str | None = None) -> AsyncEvents:
        """As ``Client.events``; listening begins with ``async with``, or else with the first event asked for."""
        name = self.worker_name if worker is None else worker
        return AsyncEvents(self.storage, channels(self.storage.keys, sources, name))

    async def close(self) -> None:
        """As ``Client.close``."""
        await self.storage.close()
