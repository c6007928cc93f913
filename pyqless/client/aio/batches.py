# SPDX-License-Identifier: MIT
"""Many calls at once, for the client for asyncio."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pyqless.client.aio.job import AsyncJob
from pyqless.client.checks import Span
from pyqless.client.new_jobs import NewJob
from pyqless.client.references import AnyJob
from pyqless.client.requests import batches as requests
from pyqless.errors import QlessError

if TYPE_CHECKING:
    from pyqless.client.aio.client import AsyncClient

__all__ = ["AsyncJobBatches", "AsyncPutBatches"]


class AsyncPutBatches:
    """As ``PutBatches``."""

    __slots__ = ()

    client: AsyncClient
    name: str

    async def put_many(
        self,
        items: Iterable[NewJob | tuple[str | type, Any]],
        *,
        all_or_nothing: bool = False,
    ) -> list[str | QlessError]:
        """As ``Queue.put_many``."""
        return await self.client.storage.run(
            requests.put(self, items, all_or_nothing=all_or_nothing)
        )


class AsyncJobBatches:
    """As ``JobBatches``."""

    client: AsyncClient

    async def complete_many(
        self,
        jobs: Iterable[AsyncJob],
        next_queue: str | None = None,
        *,
        delay: Span = 0,
        depends: Iterable[str | AnyJob] | None = None,
        all_or_nothing: bool = False,
    ) -> list[str | QlessError]:
        """As ``Jobs.complete_many``."""
        batch = requests.complete(jobs, next_queue, delay, depends, all_or_nothing=all_or_nothing)
        return requests.noted(batch, await self.client.storage.run(batch.transition))

    async def fail_many(
        self, jobs: Iterable[AsyncJob], group: str, message: str, *, all_or_nothing: bool = False
    ) -> list[str | QlessError]:
        """As ``Jobs.fail_many``."""
        batch = requests.fail(jobs, group, message, all_or_nothing=all_or_nothing)
        return requests.noted(batch, await self.client.storage.run(batch.transition))

    async def heartbeat_many(
        self, jobs: Iterable[AsyncJob], *, all_or_nothing: bool = False
    ) -> list[float | QlessError]:
        """As ``Jobs.heartbeat_many``."""
        batch = requests.heartbeat(jobs, all_or_nothing=all_or_nothing)
        return requests.noted(batch, await self.client.storage.run(batch.transition))

    async def cancel_many(
        self, jobs: Iterable[str | AnyJob], *, all_or_nothing: bool = False
    ) -> list[str | QlessError]:
        """As ``Jobs.cancel_many``."""
        request = requests.cancel(jobs, all_or_nothing=all_or_nothing)
        return await self.client.storage.run(request)
