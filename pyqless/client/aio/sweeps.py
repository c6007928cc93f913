# SPDX-License-Identifier: MIT
"""All that is in a queue, for the client for asyncio."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from pyqless.client.aio.job import AsyncJob, walk
from pyqless.client.requests import queues as requests
from pyqless.client.requests.walking import Walk
from pyqless.core.sweeping import Swept

if TYPE_CHECKING:
    from pyqless.client.aio.client import AsyncClient

__all__ = ["AsyncSweeps"]


class AsyncSweeps:
    """As ``Sweeps``."""

    __slots__ = ()

    client: AsyncClient
    name: str

    def all(self, *states: str, page: int = 100) -> AsyncIterator[AsyncJob]:
        """As ``Queue.all``."""
        return walk(self.client, Walk(self, states, page))

    async def purge(self, *states: str, dry_run: bool = False) -> Swept:
        """As ``Queue.purge``."""
        return await self.client.storage.run(requests.purge(self, states, dry_run=dry_run))

    async def delete(self, *, dry_run: bool = False) -> Swept:
        """As ``Queue.delete``."""
        return await self.client.storage.run(requests.delete(self, dry_run=dry_run))

    async def move_all(self, to: str, *states: str, dry_run: bool = False) -> Swept:
        """As ``Queue.move_all``."""
        return await self.client.storage.run(requests.move_all(self, to, states, dry_run=dry_run))
