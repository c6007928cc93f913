# SPDX-License-Identifier: MIT
"""The storage in this process, for asyncio."""

from __future__ import annotations

import time
from typing import TypeVar

from pyqless.core.effects import Factory
from pyqless.errors import StoreUnavailable
from pyqless.storage.base import AsyncStorage
from pyqless.storage.described import Clock
from pyqless.storage.memory.database import database_of
from pyqless.storage.memory.driver import run
from pyqless.storage.memory.subscriptions import AsyncMemorySubscription
from pyqless.storage.subscriptions import AsyncSubscription

__all__ = ["AsyncMemoryStorage"]

T = TypeVar("T")


class AsyncMemoryStorage(AsyncStorage):
    """A storage in this process for asyncio; a transition does not wait, so it holds the loop but briefly."""

    def __init__(
        self, url: str = "memory://", *, namespace: str = "ql", clock: Clock = time.time
    ) -> None:
        super().__init__(url, namespace, clock)
        self._database = database_of(url)
        self._closed = False

    async def run(self, transition: Factory[T], now: float | None = None) -> T:
        """See ``AsyncStorage.run``."""
        if self._closed:
            raise StoreUnavailable("the storage is closed")
        with self._database.lock:
            return run(self, self._database, transition, now)

    async def subscribe(self, *channels: str) -> AsyncSubscription:
        """See ``AsyncStorage.subscribe``."""
        return AsyncMemorySubscription(self._database, channels)

    async def close(self) -> None:
        """See ``MemoryStorage.close``."""
        self._closed = True
