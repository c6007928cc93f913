# SPDX-License-Identifier: MIT
"""Workers, for the client for asyncio."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from pyqless.client.requests import workers as requests
from pyqless.client.views.part import Part
from pyqless.core.workers import WorkerCounts, WorkerJobs

if TYPE_CHECKING:
    from pyqless.client.aio.client import AsyncClient

__all__ = ["AsyncWorkers"]


class AsyncWorkers(Part):
    """As ``Workers``; ``await workers[name]`` gives the jids that one has."""

    client: AsyncClient

    # else Python would ask for one item after the other, and never await an answer
    __contains__ = __iter__ = None

    async def __getitem__(self, name: str) -> WorkerJobs:
        return await self.client.storage.run(requests.jobs(name))

    async def __aiter__(self) -> AsyncIterator[WorkerCounts]:
        for counts in await self.counts():
            yield counts

    async def counts(self) -> list[WorkerCounts]:
        """As ``Workers.counts``."""
        return await self.client.storage.run(requests.counts())

    async def deregister(self, *names: str) -> None:
        """As ``Workers.deregister``."""
        await self.client.storage.run(requests.deregister(names))
