# SPDX-License-Identifier: MIT
"""Waiting for jobs, for the client for asyncio."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Self, overload

from pyqless.client.aio.job import AsyncJob
from pyqless.client.aio.listening import AsyncListener
from pyqless.client.checks import Span
from pyqless.client.entering import EnteredAsync
from pyqless.client.requests import queues as requests
from pyqless.client.waiting import Waiting, seconds, still_handed
from pyqless.errors import NotReplicated

if TYPE_CHECKING:
    from pyqless.client.aio.client import AsyncClient

__all__ = ["AsyncConsumer"]


class AsyncConsumer(EnteredAsync):
    """As ``Consumer``; one task at a time may use it."""

    def __init__(self, client: AsyncClient, queues: Iterable[str], interval: Span | None) -> None:
        self.client = client
        self._waiting = Waiting(client.storage.keys, queues, interval)
        self._listener = AsyncListener(client.storage, lambda: self._waiting.channels)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {', '.join(map(repr, self._waiting.queues))}>"

    @overload
    async def pop(self, count: None = None, *, timeout: Span | None = None) -> AsyncJob | None: ...

    @overload
    async def pop(self, count: int, *, timeout: Span | None = None) -> list[AsyncJob]: ...

    @overload
    async def pop(
        self, count: int | None, *, timeout: Span | None = None
    ) -> AsyncJob | list[AsyncJob] | None: ...

    async def pop(
        self, count: int | None = None, *, timeout: Span | None = None
    ) -> AsyncJob | list[AsyncJob] | None:
        """As ``Consumer.pop``."""
        jobs = await self._wait(count, seconds(timeout))
        return jobs if count is not None else next(iter(jobs), None)

    async def __aiter__(self) -> AsyncIterator[AsyncJob]:
        """As ``Consumer.__iter__``."""
        while (job := await self.pop(timeout=math.inf)) is not None:
            yield job

    async def close(self) -> None:
        """As ``Consumer.close``."""
        await self._listener.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _wait(self, count: int | None, timeout: float) -> list[AsyncJob]:
        end = time.monotonic() + timeout
        jobs: list[AsyncJob] = []
        is_new = True
        while True:
            if is_new:
                self._waiting.tried(self.client.storage.clock())
                jobs = await self._take(count)
            left = end - time.monotonic()
            if jobs or left <= 0:
                return jobs
            # what came in before there was anybody to listen is not told
            is_new = await self._listener.begin() or await self._is_woken(left)

    async def _take(self, count: int | None) -> list[AsyncJob]:
        for name in self._waiting.queues:
            request = requests.pop(self.client.queues[name], count)
            try:
                seen = await self.client.storage.run(request)
            except NotReplicated as error:
                seen = still_handed(error)
            if seen:
                return [AsyncJob(self.client, job, job.worker) for job in seen]
        return []

    async def _is_woken(self, left: float) -> bool:
        """Sleep until something may be due, and tell whether jobs should be asked for."""
        storage, waiting = self.client.storage, self._waiting
        waiting.learn(
            [(name, await storage.run(question)) for name, question in waiting.questions()]
        )
        rest = waiting.rest([await storage.run(look) for look in waiting.looks()], storage.clock())
        if rest is None:
            return True
        return waiting.slept(woken=await self._listener.hears(min(left, rest), waiting.wakes))
