# SPDX-License-Identifier: MIT
"""Jobs, for the client for asyncio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any, Unpack, overload

from pyqless.client.options import PutOptions
from pyqless.client.requests import jobs as requests
from pyqless.client.requests.walking import Walk
from pyqless.client.views import JobPage, JobView, TrackedJobs
from pyqless.core.explaining import Explanation
from pyqless.core.sweeping import Swept
from pyqless.core.tags import Tagged

if TYPE_CHECKING:
    from pyqless.client.aio.client import AsyncClient

__all__ = ["AsyncJob", "AsyncJobs", "walk"]


async def walk(client: AsyncClient, steps: Walk) -> AsyncIterator[AsyncJob]:
    """Go through jobs, a page at a time."""
    while (request := steps.request()) is not None:
        for seen in steps.take(await client.storage.run(request)):
            yield AsyncJob(client, seen)


class AsyncJobs:
    """As ``Jobs``; ``await jobs[jid]`` is one of them, or raises ``JobNotFound``."""

    def __init__(self, client: AsyncClient) -> None:
        self.client = client

    async def __getitem__(self, jid: str) -> AsyncJob:
        return AsyncJob(self.client, await self.client.storage.run(requests.find(jid)))

    async def get(self, jid: str) -> AsyncJob | None:
        """As ``Jobs.get``."""
        seen = await self.client.storage.run(requests.get(jid))
        return None if seen is None else AsyncJob(self.client, seen)

    async def multiget(self, *jids: str) -> list[AsyncJob]:
        """As ``Jobs.multiget``."""
        found = await self.client.storage.run(requests.multiget(jids))
        return [AsyncJob(self.client, seen) for seen in found]

    def all(self, *, page: int = 100) -> AsyncIterator[AsyncJob]:
        """As ``Jobs.all``."""
        return walk(self.client, Walk(None, (), page))

    async def explain(self, jid: str) -> Explanation:
        """As ``Jobs.explain``."""
        return await self.client.storage.run(requests.explain(jid))

    async def purge_failed(
        self, older_than: float, group: str | None = None, *, dry_run: bool = False
    ) -> Swept:
        """As ``Jobs.purge_failed``."""
        now = self.client.storage.clock()
        request = requests.purge_failed(older_than, group, now, dry_run=dry_run)
        return await self.client.storage.run(request)

    async def complete(self, offset: int = 0, count: int = 25) -> list[str]:
        """As ``Jobs.complete``."""
        return await self.client.storage.run(requests.completed(offset, count))

    @overload
    async def failed(self) -> dict[str, int]: ...

    @overload
    async def failed(self, group: str, offset: int = 0, count: int = 25) -> JobPage[AsyncJob]: ...

    async def failed(
        self, group: str | None = None, offset: int = 0, count: int = 25
    ) -> dict[str, int] | JobPage[AsyncJob]:
        """As ``Jobs.failed``."""
        if group is None:
            return await self.client.storage.run(requests.groups())
        page = await self.client.storage.run(requests.failed(group, offset, count))
        return JobPage(page.total, [AsyncJob(self.client, seen) for seen in page.jobs])

    async def tracked(self) -> TrackedJobs[AsyncJob]:
        """As ``Jobs.tracked``."""
        found = await self.client.storage.run(requests.tracked())
        return TrackedJobs([AsyncJob(self.client, seen) for seen in found.jobs], found.expired)

    async def tagged(self, tag: str, offset: int = 0, count: int = 25) -> Tagged:
        """As ``Jobs.tagged``."""
        return await self.client.storage.run(requests.tagged(tag, offset, count))

    async def cancel(self, *jids: str) -> None:
        """As ``Jobs.cancel``."""
        await self.client.storage.run(requests.cancel(jids))


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
        return await self.client.storage.run(requests.explain(self.jid))

    async def refresh(self) -> None:
        """As ``Job.refresh``."""
        self._see(await self.client.storage.run(requests.find(self.jid)))
