# SPDX-License-Identifier: MIT
"""``sqlite://`` for asyncio: SQLite waits for locks and disks, so it does that in threads."""

from __future__ import annotations

import asyncio
import time
from typing import Any, TypeVar

from pyqless.core.effects import Factory
from pyqless.storage.base import AsyncStorage
from pyqless.storage.described import Clock, require_lanes
from pyqless.storage.sqlite.storage import SqliteStorage
from pyqless.storage.sqlite.subscription import AsyncSqliteSubscription
from pyqless.storage.sqlite.threads import Threads
from pyqless.storage.subscriptions import AsyncSubscription

__all__ = ["AsyncSqliteStorage"]

T = TypeVar("T")


class AsyncSqliteStorage(AsyncStorage):
    """
    As ``SqliteStorage``, for the tasks of one loop.

    Transitions run in threads of the storage's own, so they never hold up the loop. A call that is cancelled while
    its transition runs is carried out all the same; only its result is lost.

    Args:
        lanes: how many calls to carry out at once; one writes while others wait for the disk, or look.
    """

    def __init__(
        self,
        url: str,
        *,
        namespace: str = "ql",
        clock: Clock = time.time,
        timeout: float | None = None,
        synchronous: str | None = None,
        lanes: int = 8,
    ) -> None:
        super().__init__(url, namespace, clock)
        self._storage = SqliteStorage(
            url, namespace=namespace, clock=clock, timeout=timeout, synchronous=synchronous
        )
        self.metrics = self._storage.metrics
        self._threads = Threads(require_lanes(lanes))

    async def run(self, transition: Factory[T], now: float | None = None) -> T:
        """See ``AsyncStorage.run``."""
        return await self._threads.run(self._storage.run, transition, now)

    async def subscribe(self, *channels: str) -> AsyncSubscription:
        """See ``AsyncStorage.subscribe``."""
        self.require_open()
        return await AsyncSqliteSubscription.open(self._threads, self._storage.file, channels)

    async def dump(self) -> dict[str, dict[str, Any]]:
        """See ``AsyncStorage.dump``."""
        return await self._threads.run(self._storage.dump)

    async def clear(self) -> None:
        """See ``AsyncStorage.clear``."""
        await self._threads.run(self._storage.clear)

    async def flush(self) -> None:
        """See ``AsyncStorage.flush``."""
        await self._threads.run(self._storage.flush)

    async def close(self) -> None:
        """See ``AsyncStorage.close``; calls that are running are waited for."""
        self.is_closed = True
        await self._threads.close()
        await asyncio.to_thread(self._storage.close)
