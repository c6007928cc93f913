# SPDX-License-Identifier: MIT
"""The heart of a worker for asyncio: as ``keeper``, in a task."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from pyqless.client import AsyncClient
from pyqless.errors import StorageError
from pyqless.worker.attempts import Attempt
from pyqless.worker.heartbeats import Heartbeats
from pyqless.worker.keeper import LOST_EVENTS, RESUBSCRIBE, TICK
from pyqless.worker.sentries import Sentry
from pyqless.worker.steady import Steady
from pyqless.worker.waiting import SLICE

__all__ = ["Pulse", "end"]

logger = logging.getLogger("pyqless.worker")


class Pulse:
    """
    Renews locks.

    Args:
        client: in whose name jobs are popped.
        on_tick: awaited a few times a second.
        listen: hear of lost locks by message; without, the next renewal tells.
    """

    def __init__(
        self, client: AsyncClient, on_tick: Callable[[], Awaitable[None]], *, listen: bool = True
    ) -> None:
        self._client = client
        self._on_tick = on_tick
        self._listens = listen
        self._book = Heartbeats()
        self._steady = Steady("the heart of this worker")

    def watch(self, attempt: Attempt) -> None:
        """See ``Keeper.watch``."""
        self._book.add(attempt, self._now())

    def unwatch(self, attempt: Attempt) -> None:
        """See ``Keeper.unwatch``."""
        self._book.remove(attempt)

    async def run(self) -> None:
        """Beat until cancelled."""
        listener = asyncio.create_task(self._listen()) if self._listens else None
        with Sentry(self._book.get):
            try:
                while True:
                    await self._round()
            finally:
                if listener is not None:
                    await end(listener)

    async def _round(self) -> None:
        async with self._steady:
            await asyncio.gather(*map(self._beat, self._book.due(self._now())))
        async with self._steady:
            await self._on_tick()
        await asyncio.sleep(min(TICK, self._book.wait(self._now())))

    def _now(self) -> float:
        return float(self._client.storage.clock())

    async def _beat(self, attempt: Attempt) -> None:
        try:
            expires = await self._client.storage.run(self._book.request(attempt))
        except Exception as error:  # noqa: BLE001 - whatever it is, the lock is to be renewed
            self._book.failed(attempt, error, self._now())
        else:
            self._book.beaten(attempt, expires, self._now())

    async def _listen(self) -> None:
        steady = Steady("the listening of this worker")
        while True:
            async with steady:
                await self._hear()
            await asyncio.sleep(RESUBSCRIBE)

    async def _hear(self) -> None:
        try:
            async with self._client.events("worker") as events:
                self._book.hasten_all()
                async for event in events:
                    if event.name in LOST_EVENTS and event.jid is not None:
                        self._book.hasten(event.jid)
        except StorageError as error:
            logger.info("no messages for now: %s", error)


async def end(task: asyncio.Task[Any]) -> None:
    """Cancel a task, again and again until it has ended."""
    # before Python 3.12, asyncio.wait_for swallows a cancellation that comes together with what it waits for
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=SLICE)
    await asyncio.gather(task, return_exceptions=True)  # what it raised is of no use to anybody now
