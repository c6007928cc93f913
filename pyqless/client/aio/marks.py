# SPDX-License-Identifier: MIT
"""What is written on a job: tags, tracking, entries of its history, for the client for asyncio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyqless.client.requests import jobs as requests
from pyqless.client.views import JobView

if TYPE_CHECKING:
    from pyqless.client.aio.client import AsyncClient

__all__ = ["AsyncMarks"]


class AsyncMarks(JobView["AsyncClient"]):
    """As ``Marks``."""

    __slots__ = ()

    client: AsyncClient

    async def tag(self, *tags: str) -> list[str]:
        """As ``Job.tag``."""
        return self._tagged(await self.client.storage.run(requests.tag(self, tags)))

    async def untag(self, *tags: str) -> list[str]:
        """As ``Job.untag``."""
        return self._tagged(await self.client.storage.run(requests.untag(self, tags)))

    async def track(self) -> bool:
        """As ``Job.track``."""
        changed = await self.client.storage.run(requests.track(self, on=True))
        return self._marked(changed, tracked=True)

    async def untrack(self) -> bool:
        """As ``Job.untrack``."""
        changed = await self.client.storage.run(requests.track(self, on=False))
        return self._marked(changed, tracked=False)

    async def log(self, message: str, /, **data: Any) -> None:
        """As ``Job.log``."""
        await self.client.storage.run(requests.log(self, message, data))
