# SPDX-License-Identifier: MIT
"""Waiting for jobs, for the client for asyncio."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Self, overload

from pyqless.client.aio.job import AsyncJob
from pyqless.client.requests import queues as requests
from pyqless.client.waiting import Waiting, seconds, still_handed
from pyqless.errors import NotReplicated, StoreRefused, StoreUnavailable, StoreUnsupported
from pyqless.storage import AsyncSubscription

if TYPE_CHECKING:
    from pyqless.client.aio.client import AsyncClient

__all__ = ["AsyncConsumer"]


class AsyncConsumer:
    """As ``Consumer``; one task at a time may use it."""

    def __init__(self, client: AsyncClient, queues: Iterable[str], interval: float | None) -> None:
        self.client = client
        self._waiting = Waiting(client.storage.keys, queues, interval)
        self._messages: AsyncSubscription | None = None
        self._listens = True

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {', '.join(map(repr, self._waiting.queues))}>"

    @overload
    async def pop(self, *, timeout: float | None = None) -> AsyncJob | None: ...

    @overload
    async def pop(self, count: int, *, timeout: float | None = None) -> list[AsyncJob]: ...

    async def pop(
        self, count: int | None = None, *, timeout: float | None = None
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
        messages, self._messages = self._messages, None
        if messages is not None:
            await messages.close()

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
            is_new = await self._begin() or await self._is_woken(left)

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

    async def _begin(self) -> bool:
        """Listen, and tell whether that is new."""
        if self._messages is not None or not self._listens:
            return False
        try:
            self._messages = await self.client.storage.subscribe(*self._waiting.channels)
        except (StoreRefused, StoreUnsupported):
            self._listens = False
            return False
        return True

    async def _is_woken(self, left: float) -> bool:
        """Sleep until something may be due, and tell whether jobs should be asked for."""
        storage, waiting = self.client.storage, self._waiting
        waiting.learn(
            [(name, await storage.run(question)) for name, question in waiting.questions()]
        )
        rest = waiting.rest([await storage.run(look) for look in waiting.looks()], storage.clock())
        return rest is None or waiting.slept(woken=await self._hears(min(left, rest)))

    async def _hears(self, left: float) -> bool:
        """Listen for so many seconds, and tell whether anything was said that wakes."""
        if self._messages is None:
            await asyncio.sleep(left)
            return False
        end, woken = time.monotonic() + left, False
        try:
            # of many messages at once, one is enough
            while message := await self._messages.get(
                0 if woken else max(0.0, end - time.monotonic())
            ):
                woken = self._waiting.wakes(message) or woken
                if time.monotonic() >= end:
                    break
        except StoreUnavailable:
            await self.close()
        return woken
