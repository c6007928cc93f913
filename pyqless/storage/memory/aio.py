# SPDX-License-Identifier: MIT
"""The storage in this process, for asyncio."""

from __future__ import annotations

import time
from typing import Any, TypeVar

from pyqless.core.effects import Factory
from pyqless.storage.base import AsyncStorage
from pyqless.storage.described import Clock, closed
from pyqless.storage.memory import contents
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

    async def run(self, transition: Factory[T], now: float | None = None) -> T:
        """See ``AsyncStorage.run``."""
        if self.is_closed:
            raise closed()
        with self._database.lock:
            return run(self, self._database, transition, now)

    async def subscribe(self, *channels: str) -> AsyncSubscription:
        """See ``AsyncStorage.subscribe``."""
        self.require_open()
        return AsyncMemorySubscription(self._database, channels)

    async def dump(self) -> dict[str, dict[str, Any]]:
        """See ``AsyncStorage.dump``."""
        self.require_open()
        return contents.dump(self._database, self.keys)

    async def clear(self) -> None:
        """See ``AsyncStorage.clear``."""
        self.require_open()
        contents.clear(self._database, self.keys)

    async def flush(self) -> None:
        """See ``AsyncStorage.flush``."""
        self.require_open()
        contents.flush(self._database)

    async def close(self) -> None:
        """See ``MemoryStorage.close``."""
        self.is_closed = True
