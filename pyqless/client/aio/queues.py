# SPDX-License-Identifier: MIT
"""Queues, for the client for asyncio."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import date
from typing import TYPE_CHECKING, overload

from pyqless.client import checks
from pyqless.client.aio.batches import AsyncPutBatches
from pyqless.client.aio.consuming import AsyncConsumer
from pyqless.client.aio.job import AsyncJob
from pyqless.client.aio.putting import AsyncPuts
from pyqless.client.aio.queue_settings import AsyncQueueSettings
from pyqless.client.aio.sweeps import AsyncSweeps
from pyqless.client.checks import Span
from pyqless.client.naming import own_names
from pyqless.client.requests import queues as requests
from pyqless.client.views.part import Part
from pyqless.core.queues import QueueCounts
from pyqless.core.statistics import Statistics

if TYPE_CHECKING:
    from pyqless.client.aio.client import AsyncClient

__all__ = ["AsyncQueue", "AsyncQueues"]


class AsyncQueues(Part):
    """As ``Queues``."""

    client: AsyncClient

    # else Python would ask for one item after the other, and never await an answer
    __contains__ = __iter__ = None

    def __getitem__(self, name: str) -> AsyncQueue:
        return AsyncQueue(self.client, checks.name("name", name))

    async def __aiter__(self) -> AsyncIterator[QueueCounts]:
        for counts in await self.counts():
            yield counts

    async def counts(self) -> list[QueueCounts]:
        """As ``Queues.counts``."""
        return await self.client.storage.run(requests.all_counts())


@own_names
class AsyncQueue(AsyncQueueSettings, AsyncPuts, AsyncPutBatches, AsyncSweeps):
    """As ``Queue``."""

    __slots__ = ()

    # -- jobs in and out ----------------------------------------------------------------------

    @overload
    async def pop(self, count: None = None, *, timeout: Span | None = None) -> AsyncJob | None: ...

    @overload
    async def pop(self, count: int, *, timeout: Span | None = None) -> list[AsyncJob]: ...

    @overload
    async def pop(
        self, count: int | None, *, timeout: Span | None = None
    ) -> AsyncJob | list[AsyncJob] | None: ...

    async def pop(
        self, count: int | None = None, *, timeout: Span | None = None
    ) -> AsyncJob | list[AsyncJob] | None:
        """As ``Queue.pop``."""
        async with AsyncConsumer(self.client, [self.name], None) as consumer:
            jobs = await consumer.pop(1 if count is None else count, timeout=timeout)
        return jobs if count is not None else next(iter(jobs), None)

    @overload
    async def peek(self, count: None = None) -> AsyncJob | None: ...

    @overload
    async def peek(self, count: int) -> list[AsyncJob]: ...

    @overload
    async def peek(self, count: int | None) -> AsyncJob | list[AsyncJob] | None: ...

    async def peek(self, count: int | None = None) -> AsyncJob | list[AsyncJob] | None:
        """As ``Queue.peek``."""
        seen = await self.client.storage.run(requests.peek(self, count))
        jobs = [AsyncJob(self.client, job) for job in seen]
        return jobs if count is not None else next(iter(jobs), None)

    async def unfail(self, group: str, count: int = 25) -> int:
        """As ``Queue.unfail``."""
        return await self.client.storage.run(requests.unfail(self, group, count))

    # -- a look at it -------------------------------------------------------------------------

    async def counts(self) -> QueueCounts:
        """As ``Queue.counts``."""
        return await self.client.storage.run(requests.counts(self))

    async def stats(self, day: float | date | None = None) -> Statistics:
        """As ``Queue.stats``."""
        return await self.client.storage.run(requests.stats(self, day))

    async def length(self) -> int:
        """As ``Queue.length``."""
        return await self.client.storage.run(requests.length(self))

    async def waiting(self, offset: int = 0, count: int = 25) -> list[str]:
        """As ``Queue.waiting``."""
        return await self.client.storage.run(requests.jids(self, "waiting", offset, count))

    async def running(self, offset: int = 0, count: int = 25) -> list[str]:
        """As ``Queue.running``."""
        return await self.client.storage.run(requests.jids(self, "running", offset, count))

    async def stalled(self, offset: int = 0, count: int = 25) -> list[str]:
        """As ``Queue.stalled``."""
        return await self.client.storage.run(requests.jids(self, "stalled", offset, count))

    async def scheduled(self, offset: int = 0, count: int = 25) -> list[str]:
        """As ``Queue.scheduled``."""
        return await self.client.storage.run(requests.jids(self, "scheduled", offset, count))

    async def depends(self, offset: int = 0, count: int = 25) -> list[str]:
        """As ``Queue.depends``."""
        return await self.client.storage.run(requests.jids(self, "depends", offset, count))

    async def recurring(self, offset: int = 0, count: int = 25) -> list[str]:
        """As ``Queue.recurring``."""
        return await self.client.storage.run(requests.jids(self, "recurring", offset, count))

    # -- stopping and forgetting it -----------------------------------------------------------

    async def pause(self) -> None:
        """As ``Queue.pause``."""
        await self.client.storage.run(requests.pause(self))

    async def unpause(self) -> None:
        """As ``Queue.unpause``."""
        await self.client.storage.run(requests.unpause(self))

    async def forget(self) -> None:
        """As ``Queue.forget``."""
        await self.client.storage.run(requests.forget(self))

    async def get_paused(self) -> bool:
        """As ``Queue.paused``."""
        return (await self.counts()).paused
