# SPDX-License-Identifier: MIT
"""Jobs, for the client for asyncio."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, overload

from pyqless.client.aio.batches import AsyncJobBatches
from pyqless.client.aio.job import AsyncJob, walk
from pyqless.client.aio.listening import until_ended
from pyqless.client.checks import Span
from pyqless.client.naming import own_names
from pyqless.client.progress import Progress, progress
from pyqless.client.references import AnyJob
from pyqless.client.requests import jobs as requests
from pyqless.client.requests import looking
from pyqless.client.requests.walking import Walk
from pyqless.client.views import JobPage, TrackedJobs
from pyqless.client.views.part import Part
from pyqless.core.explaining import Explanation
from pyqless.core.sweeping import Swept
from pyqless.core.tags import Tagged

if TYPE_CHECKING:
    from pyqless.client.aio.client import AsyncClient

__all__ = ["AsyncJobs"]


@own_names
class AsyncJobs(AsyncJobBatches, Part):
    """As ``Jobs``; ``await jobs[jid]`` is one of them, or raises ``JobNotFound``."""

    client: AsyncClient

    # else Python would ask for one item after the other, and never await an answer
    __contains__ = __iter__ = None

    async def __getitem__(self, jid: str | AnyJob) -> AsyncJob:
        return AsyncJob(self.client, await self.client.storage.run(looking.find(jid)))

    async def get(self, jid: str | AnyJob) -> AsyncJob | None:
        """As ``Jobs.get``."""
        seen = await self.client.storage.run(looking.get(jid))
        return None if seen is None else AsyncJob(self.client, seen)

    async def multiget(self, *jids: str | AnyJob) -> list[AsyncJob]:
        """As ``Jobs.multiget``."""
        found = await self.client.storage.run(looking.multiget(jids))
        return [AsyncJob(self.client, seen) for seen in found]

    def all(self, *, page: int = 100) -> AsyncIterator[AsyncJob]:
        """As ``Jobs.all``."""
        return walk(self.client, Walk(None, (), page))

    async def wait(
        self, jid: str | AnyJob, timeout: Span | None = None, *, interval: Span | None = None
    ) -> AsyncJob | None:
        """As ``Jobs.wait``."""
        seen = await until_ended(self.client.storage, jid, timeout, interval)
        return None if seen is None else AsyncJob(self.client, seen)

    async def progress(self, jid: str | AnyJob) -> Progress | None:
        """As ``Jobs.progress``."""
        return await self.client.storage.run(progress(jid))

    async def explain(self, jid: str | AnyJob) -> Explanation:
        """As ``Jobs.explain``."""
        return await self.client.storage.run(looking.explain(jid))

    async def purge_failed(
        self, older_than: Span, group: str | None = None, *, dry_run: bool = False
    ) -> Swept:
        """As ``Jobs.purge_failed``."""
        now = self.client.storage.clock()
        request = looking.purge_failed(older_than, group, now, dry_run=dry_run)
        return await self.client.storage.run(request)

    async def complete(self, offset: int = 0, count: int = 25) -> list[str]:
        """As ``Jobs.complete``."""
        return await self.client.storage.run(looking.completed(offset, count))

    @overload
    async def failed(
        self, group: None = None, offset: int = 0, count: int = 25
    ) -> dict[str, int]: ...

    @overload
    async def failed(self, group: str, offset: int = 0, count: int = 25) -> JobPage[AsyncJob]: ...

    @overload
    async def failed(
        self, group: str | None, offset: int = 0, count: int = 25
    ) -> dict[str, int] | JobPage[AsyncJob]: ...

    async def failed(
        self, group: str | None = None, offset: int = 0, count: int = 25
    ) -> dict[str, int] | JobPage[AsyncJob]:
        """As ``Jobs.failed``."""
        if group is None:
            return await self.client.storage.run(looking.groups(offset, count))
        page = await self.client.storage.run(looking.failed(group, offset, count))
        return JobPage(page.total, [AsyncJob(self.client, seen) for seen in page.jobs])

    async def tracked(self) -> TrackedJobs[AsyncJob]:
        """As ``Jobs.tracked``."""
        found = await self.client.storage.run(looking.tracked())
        return TrackedJobs([AsyncJob(self.client, seen) for seen in found.jobs], found.expired)

    async def tagged(self, tag: str, offset: int = 0, count: int = 25) -> Tagged:
        """As ``Jobs.tagged``."""
        return await self.client.storage.run(looking.tagged(tag, offset, count))

    async def cancel(self, *jids: str | AnyJob) -> None:
        """As ``Jobs.cancel``."""
        await self.client.storage.run(requests.cancel(jids))
