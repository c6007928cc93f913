# SPDX-License-Identifier: MIT
"""A job, for the client for asyncio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any, Unpack

from pyqless.client.aio.listening import until_ended
from pyqless.client.aio.marks import AsyncMarks
from pyqless.client.aio.work import AsyncWork
from pyqless.client.checks import Span
from pyqless.client.naming import own_names
from pyqless.client.options import PutOptions
from pyqless.client.references import AnyJob
from pyqless.client.requests import jobs as requests
from pyqless.client.requests import looking
from pyqless.client.requests.walking import Walk
from pyqless.core.explaining import Explanation

if TYPE_CHECKING:
    from pyqless.client.aio.client import AsyncClient

__all__ = ["AsyncJob", "walk"]


async def walk(client: AsyncClient, steps: Walk) -> AsyncIterator[AsyncJob]:
    """Go through jobs, a page at a time."""
    while (request := steps.request()) is not None:
        for seen in steps.take(await client.storage.run(request)):
            yield AsyncJob(client, seen)


@own_names
class AsyncJob(AsyncWork, AsyncMarks):
    """As ``Job``."""

    __slots__ = ()

    @classmethod
    async def build(
        cls,
        klass: str | type,
        data: Any = None,
        *,
        queue: str = "test",
        worker_name: str = "test",
        **options: Unpack[PutOptions],
    ) -> AsyncJob:
        """As ``Job.build``."""
        from pyqless.client.aio.client import AsyncClient  # noqa: PLC0415 - each needs the other

        client = AsyncClient("memory://", worker_name=worker_name)
        jid = await client.queues[queue].put(klass, data, **options)
        return await client.queues[queue].pop() or await client.jobs[jid]

    # -- whatever its state -------------------------------------------------------------------

    async def timeout(self) -> None:
        """As ``Job.timeout``."""
        self._noted(await self.client.storage.run(requests.timeout(self)))

    async def requeue(
        self,
        queue: str | None = None,
        *,
        delay: Span | None = None,
        priority: float | None = None,
        tags: Iterable[str] | None = None,
        retries: int | None = None,
        depends: Iterable[str | AnyJob] | None = None,
    ) -> None:
        """As ``Job.requeue``."""
        self._noted(
            await self.client.storage.run(
                requests.requeue(
                    self,
                    queue,
                    delay=delay,
                    priority=priority,
                    tags=tags,
                    retries=retries,
                    depends=depends,
                )
            )
        )

    #: what other clients call it
    move = requeue

    async def cancel(self) -> None:
        """As ``Job.cancel``."""
        await self.client.storage.run(requests.cancel([self.jid]))

    async def depend(self, *jids: str | AnyJob) -> None:
        """As ``Job.depend``."""
        await self.client.storage.run(requests.depend(self, jids))

    async def undepend(self, *jids: str | AnyJob, all: bool = False) -> None:  # noqa: A002 - as qless clients name it
        """As ``Job.undepend``."""
        await self.client.storage.run(requests.undepend(self, jids, everything=all))

    async def set_priority(self, priority: float) -> None:
        """As ``Job.set_priority``."""
        self._prioritized(await self.client.storage.run(requests.set_priority(self, priority)))

    # -- a look at it -------------------------------------------------------------------------

    async def explain(self) -> Explanation:
        """As ``Job.explain``."""
        return await self.client.storage.run(looking.explain(self.jid))

    async def wait(self, timeout: Span | None = None, *, interval: Span | None = None) -> bool:
        """As ``Job.wait``."""
        seen = await until_ended(self.client.storage, self.jid, timeout, interval)
        if seen is not None:
            self._see(seen)
        return seen is not None

    async def refresh(self) -> None:
        """As ``Job.refresh``."""
        self._see(await self.client.storage.run(looking.find(self.jid)))
