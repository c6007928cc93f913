# SPDX-License-Identifier: MIT
"""Queues, for the client for asyncio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from datetime import date
from typing import TYPE_CHECKING, Any, overload

from pyqless.client import checks
from pyqless.client.aio.jobs import AsyncJob
from pyqless.client.requests import queues as requests
from pyqless.client.requests import settings
from pyqless.client.views import QueueView
from pyqless.core.queues import QueueCounts
from pyqless.core.statistics import Statistics

if TYPE_CHECKING:
    from pyqless.client.aio.client import AsyncClient

__all__ = ["AsyncQueue", "AsyncQueues"]


class AsyncQueues:
    """As ``Queues``."""

    def __init__(self, client: AsyncClient) -> None:
        self.client = client

    def __getitem__(self, name: str) -> AsyncQueue:
        return AsyncQueue(self.client, checks.name("name", name))

    async def __aiter__(self) -> AsyncIterator[QueueCounts]:
        for counts in await self.counts():
            yield counts

    async def counts(self) -> list[QueueCounts]:
        """As ``Queues.counts``."""
        return await self.client.storage.run(requests.all_counts())


class AsyncQueue(QueueView["AsyncClient"]):
    """As ``Queue``."""

    # -- jobs in and out ----------------------------------------------------------------------

    async def put(
        self,
        klass: str | type,
        data: Any = None,
        *,
        jid: str | None = None,
        priority: float | None = None,
        tags: Iterable[str] | None = None,
        delay: float = 0,
        retries: int | None = None,
        depends: Iterable[str] | None = None,
    ) -> str:
        """As ``Queue.put``."""
        return await self.client.storage.run(
            requests.put(
                self,
                klass,
                data,
                jid=jid,
                priority=priority,
                tags=tags,
                delay=delay,
                retries=retries,
                depends=depends,
            )
        )

    async def recur(
        self,
        klass: str | type,
        data: Any,
        interval: float,
        *,
        offset: float = 0,
        jid: str | None = None,
        priority: float = 0,
        tags: Iterable[str] = (),
        retries: int = 5,
        backlog: int = 0,
    ) -> str:
        """As ``Queue.recur``."""
        return await self.client.storage.run(
            requests.recur(
                self,
                klass,
                data,
                interval,
                offset=offset,
                jid=jid,
                priority=priority,
                tags=tags,
                retries=retries,
                backlog=backlog,
            )
        )

    @overload
    async def pop(self) -> AsyncJob | None: ...

    @overload
    async def pop(self, count: int) -> list[AsyncJob]: ...

    async def pop(self, count: int | None = None) -> AsyncJob | list[AsyncJob] | None:
        """As ``Queue.pop``."""
        seen = await self.client.storage.run(requests.pop(self, count))
        jobs = [AsyncJob(self.client, job, job.worker) for job in seen]
        return jobs if count is not None else next(iter(jobs), None)

    @overload
    async def peek(self) -> AsyncJob | None: ...

    @overload
    async def peek(self, count: int) -> list[AsyncJob]: ...

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

    # -- settings -----------------------------------------------------------------------------

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

    async def get_heartbeat(self) -> float | None:
        """As ``Queue.heartbeat``."""
        return await self.client.storage.run(settings.get_number(self.heartbeat_setting))

    async def set_heartbeat(self, seconds: float) -> None:
        """As ``Queue.heartbeat``, assigned to."""
        await self.client.config.set(self.heartbeat_setting, seconds)

    async def del_heartbeat(self) -> None:
        """As ``Queue.heartbeat``, deleted."""
        await self.client.config.unset(self.heartbeat_setting)

    async def get_max_concurrency(self) -> int | None:
        """As ``Queue.max_concurrency``."""
        return await self.client.storage.run(settings.get_whole(self.max_concurrency_setting))

    async def set_max_concurrency(self, jobs: int) -> None:
        """As ``Queue.max_concurrency``, assigned to."""
        await self.client.config.set(self.max_concurrency_setting, jobs)

    async def del_max_concurrency(self) -> None:
        """As ``Queue.max_concurrency``, deleted."""
        await self.client.config.unset(self.max_concurrency_setting)
