# SPDX-License-Identifier: MIT
"""What a worker does with a job that it has in hand, for the client for asyncio."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

from pyqless.client.checks import Span
from pyqless.client.references import AnyJob
from pyqless.client.requests import jobs as requests
from pyqless.client.views import JobView

if TYPE_CHECKING:
    from pyqless.client.aio.client import AsyncClient

__all__ = ["AsyncWork"]


class AsyncWork(JobView["AsyncClient"]):
    """As ``Work``."""

    __slots__ = ()

    client: AsyncClient

    async def complete(
        self,
        next_queue: str | None = None,
        *,
        delay: Span = 0,
        depends: Iterable[str | AnyJob] | None = None,
    ) -> str:
        """As ``Job.complete``."""
        return self._noted(
            await self.client.storage.run(requests.complete(self, next_queue, delay, depends))
        )

    async def complete_and_pop(
        self,
        next_queue: str | None = None,
        *,
        delay: Span = 0,
        depends: Iterable[str | AnyJob] | None = None,
        source: str | None = None,
    ) -> Self | None:
        """As ``Job.complete_and_pop``."""
        request = requests.complete_and_pop(self, next_queue, delay, depends, source)
        jobs = self._noted(await self.client.storage.run(request)).jobs
        return next((type(self)(self.client, seen, seen.worker) for seen in jobs), None)

    async def fail(self, group: str, message: str) -> None:
        """As ``Job.fail``."""
        self._noted(await self.client.storage.run(requests.fail(self, group, message)))

    async def retry(
        self, delay: Span = 0, *, group: str | None = None, message: str | None = None
    ) -> int:
        """As ``Job.retry``."""
        return self._noted(
            await self.client.storage.run(requests.retry(self, delay, group, message))
        )

    async def heartbeat(self) -> float:
        """As ``Job.heartbeat``."""
        return self._noted(await self.client.storage.run(requests.heartbeat(self)))
