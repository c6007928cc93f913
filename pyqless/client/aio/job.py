# SPDX-License-Identifier: MIT
"""A job, for the client for asyncio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any, Unpack

from pyqless.client.options import PutOptions
from pyqless.client.requests import jobs as requests
from pyqless.client.requests import looking
from pyqless.client.requests.walking import Walk
from pyqless.client.views import JobView
from pyqless.core.explaining import Explanation

if TYPE_CHECKING:
    from pyqless.client.aio.client import AsyncClient

__all__ = ["AsyncJob", "walk"]


async def walk(client: AsyncClient, steps: Walk) -> AsyncIterator[AsyncJob]:
    """Go through jobs, a page at a time."""
    while (request := steps.request()) is not None:
        for seen in steps.take(await client.storage.run(request)):
            yield AsyncJob(client, seen)


class AsyncJob(JobView["AsyncClient"]):
    """As ``Job``."""

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

    # -- in hand ------------------------------------------------------------------------------

    async def complete(
        self,
        next_queue: str | None = None,
        *,
        delay: float = 0,
        depends: Iterable[str] | None = None,
    ) -> str:
        """As ``Job.complete``."""
        return self._noted(
            await self.client.storage.run(requests.complete(self, next_queue, delay, depends))
        )

    async def fail(self, group: str, message: str) -> None:
        """As ``Job.fail``."""
        self._noted(await self.client.storage.run(requests.fail(self, group, message)))

    async def retry(
        self, delay: float = 0, *, group: str | None = None, message: str | None = None
    ) -> int:
        """As ``Job.retry``."""
        return self._noted(
            await self.client.storage.run(requests.retry(self, delay, group, message))
        )

    async def heartbeat(self) -> float:
        """As ``Job.heartbeat``."""
        return self._noted(await self.client.storage.run(requests.heartbeat(self)))

    # -- whatever its state -------------------------------------------------------------------

    async def timeout(self) -> None:
        """As ``Job.timeout``."""
        self._noted(await self.client.storage.run(requests.timeout(self)))

    async def requeue(
        self,
        queue: str | None = None,
        *,
        delay: float | None = None,
        priority: float | None = None,
        tags: Iterable[str] | None = None,
        retries: int | None = None,
        depends: Iterable[str] | None = None,
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

    async def depend(self, *jids: str) -> None:
        """As ``Job.depend``."""
        await self.client.storage.run(requests.depend(self, jids))

    async def undepend(self, *jids: str, all: bool = False) -> None:  # noqa: A002 - as qless clients name it
        """As ``Job.undepend``."""
        await self.client.storage.run(requests.undepend(self, jids, everything=all))

    async def set_priority(self, priority: float) -> None:
        """As ``Job.set_priority``."""
        self._prioritized(await self.client.storage.run(requests.set_priority(self, priority)))

    # -- marks --------------------------------------------------------------------------------

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

    async def explain(self) -> Explanation:
        """As ``Job.explain``."""
        return await self.client.storage.run(looking.explain(self.jid))

    async def refresh(self) -> None:
        """As ``Job.refresh``."""
        self._see(await self.client.storage.run(looking.find(self.jid)))
