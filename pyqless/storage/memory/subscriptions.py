# SPDX-License-Identifier: MIT
"""Messages of a database."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Callable

from pyqless.storage.memory.database import Database, Feed
from pyqless.storage.subscriptions import AsyncSubscription, Message, Subscription

__all__ = ["AsyncMemorySubscription", "MemorySubscription"]


class _Fed:
    """Someone who is given the messages of some channels, from now on until it is enough."""

    def __init__(
        self,
        database: Database,
        channels: tuple[str, ...],
        offer: Callable[[Message], None],
    ) -> None:
        self._database = database
        self._feed = Feed(channels, offer)
        with database.lock:
            database.feeds.append(self._feed)

    def stop(self) -> None:
        """Take no more."""
        with self._database.lock:
            if self._feed in self._database.feeds:
                self._database.feeds.remove(self._feed)


class MemorySubscription(Subscription):
    """Messages for threads."""

    def __init__(self, database: Database, channels: tuple[str, ...]) -> None:
        self._messages: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._fed = _Fed(database, channels, self._messages.put)

    def get(self, timeout: float | None = None) -> Message | None:
        """See ``Subscription.get``."""
        try:
            return self._messages.get(timeout=timeout)
        except queue.Empty:
            return None

    def drain(self) -> list[Message]:
        """See ``Subscription.drain``."""
        messages = []
        while not self._messages.empty():
            if (message := self._messages.get()) is not None:
                messages.append(message)
        return messages

    def close(self) -> None:
        """See ``Subscription.close``."""
        self._fed.stop()
        self._messages.put(None)


class AsyncMemorySubscription(AsyncSubscription):
    """Messages for the tasks of a loop."""

    def __init__(self, database: Database, channels: tuple[str, ...]) -> None:
        self._messages: asyncio.Queue[Message | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._fed = _Fed(database, channels, self._offer)

    def _offer(self, message: Message) -> None:
        self._loop.call_soon_threadsafe(self._messages.put_nowait, message)

    async def get(self, timeout: float | None = None) -> Message | None:
        """See ``AsyncSubscription.get``."""
        try:
            # not wait_for, which looks at nothing if there is no time to wait
            async with asyncio.timeout(timeout):
                return await self._messages.get()
        except TimeoutError:
            return None

    async def close(self) -> None:
        """See ``AsyncSubscription.close``."""
        self._fed.stop()
        self._messages.put_nowait(None)
