# SPDX-License-Identifier: MIT
"""The Redis storage for asyncio behind the interface of the blocking one, so that one test serves both."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

from pyqless.core.effects import Factory
from pyqless.storage.redis import AsyncRedisStorage, RedisStorage
from pyqless.storage.subscriptions import Subscription

__all__ = ["BlockingStorage"]

T = TypeVar("T")


class BlockingStorage(RedisStorage):
    """Runs each transition in a loop of its own on an ``AsyncRedisStorage``; looks at the store by itself."""

    def __init__(self, url: str, **options: Any) -> None:
        super().__init__(url, **options)
        self._runner = asyncio.Runner()
        self._inner = self._runner.run(self._open(url, options))
        self.metrics = self._inner.metrics

    @staticmethod
    async def _open(url: str, options: dict[str, Any]) -> AsyncRedisStorage:
        return AsyncRedisStorage(url, **options)

    def run(self, transition: Factory[T], now: float | None = None) -> T:
        """Run a transition to its end."""
        return self._runner.run(self._inner.run(transition, now))

    def subscribe(self, *channels: str) -> Subscription:
        """Listen by itself."""
        return super().subscribe(*channels)

    def close(self) -> None:
        """Close both."""
        self._runner.run(self._inner.close())
        self._runner.close()
        super().close()
