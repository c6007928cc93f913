# SPDX-License-Identifier: MIT
"""Recurring jobs, for the client for asyncio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyqless.client.checks import Span
from pyqless.client.requests import recurring as requests
from pyqless.client.requests.recurring import UNCHANGED
from pyqless.client.views import RecurringJobView
from pyqless.client.views.part import Part

if TYPE_CHECKING:
    from pyqless.client.aio.client import AsyncClient

__all__ = ["AsyncRecurringJob", "AsyncRecurringJobs"]


class AsyncRecurringJobs(Part):
    """As ``RecurringJobs``; ``await recurring[jid]`` is one of them, or raises ``RecurringJobNotFound``."""

    client: AsyncClient

    # else Python would ask for one item after the other, and never await an answer
    __contains__ = __iter__ = None

    async def __getitem__(self, jid: str) -> AsyncRecurringJob:
        return AsyncRecurringJob(self.client, await self.client.storage.run(requests.find(jid)))

    async def get(self, jid: str) -> AsyncRecurringJob | None:
        """As ``RecurringJobs.get``."""
        seen = await self.client.storage.run(requests.get(jid))
        return None if seen is None else AsyncRecurringJob(self.client, seen)


class AsyncRecurringJob(RecurringJobView["AsyncClient"]):
    """As ``RecurringJob``; its settings are changed by ``update``."""

    __slots__ = ()

    async def update(
        self,
        *,
        klass: str | type | None = None,
        data: Any = UNCHANGED,
        queue: str | None = None,
        interval: Span | None = None,
        priority: float | None = None,
        retries: int | None = None,
        backlog: int | None = None,
    ) -> None:
        """As ``RecurringJob.update``."""
        self._noted(
            await self.client.storage.run(
                requests.update(
                    self,
                    klass=klass,
                    data=data,
                    queue=queue,
                    interval=interval,
                    priority=priority,
                    retries=retries,
                    backlog=backlog,
                )
            )
        )

    async def tag(self, *tags: str) -> list[str]:
        """As ``RecurringJob.tag``."""
        return self._tagged(await self.client.storage.run(requests.tag(self, tags)))

    async def untag(self, *tags: str) -> list[str]:
        """As ``RecurringJob.untag``."""
        return self._tagged(await self.client.storage.run(requests.untag(self, tags)))

    async def next_run(self) -> float | None:
        """As ``RecurringJob.next_run``."""
        return await self.client.storage.run(requests.next_run(self))

    async def cancel(self) -> None:
        """As ``RecurringJob.cancel``."""
        await self.client.storage.run(requests.cancel(self))

    async def refresh(self) -> None:
        """As ``RecurringJob.refresh``."""
        self._show(await self.client.storage.run(requests.find(self.jid)))
