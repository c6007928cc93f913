# SPDX-License-Identifier: MIT
"""Blocking storages behind the interface of those for asyncio, so that one check serves both."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from pyqless.core.effects import Factory
from pyqless.storage import AsyncStorage, AsyncSubscription, Message, Storage, Subscription
from pyqless.testing.storages.requirements import NotConformant

__all__ = ["Awaited", "complete"]

T = TypeVar("T")


class Awaited(AsyncStorage):
    """A blocking storage; whoever waits for it waits with the whole loop."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage.url, storage.keys.namespace, storage.clock)
        self.metrics = storage.metrics
        self._storage = storage

    async def run(self, transition: Factory[T], now: float | None = None) -> T:
        """See ``Storage.run``."""
        return self._storage.run(transition, now)

    async def subscribe(self, *channels: str) -> AsyncSubscription:
        """See ``Storage.subscribe``."""
        return _Subscription(self._storage.subscribe(*channels))

    async def dump(self) -> dict[str, dict[str, Any]]:
        """See ``Storage.dump``."""
        return self._storage.dump()

    async def clear(self) -> None:
        """See ``Storage.clear``."""
        self._storage.clear()

    async def flush(self) -> None:
        """See ``Storage.flush``."""
        self._storage.flush()

    async def close(self) -> None:
        """See ``Storage.close``."""
        self.is_closed = True
        self._storage.close()


class _Subscription(AsyncSubscription):
    def __init__(self, subscription: Subscription) -> None:
        self._subscription = subscription

    async def get(self, timeout: float | None = None) -> Message | None:
        return self._subscription.get(timeout)

    async def close(self) -> None:
        self._subscription.close()


def complete(job: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """
    Run a coroutine that never waits.

    Raises:
        NotConformant: it does.
    """
    coroutine = job()
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    coroutine.close()
    raise NotConformant("a blocking storage has waited for the loop")
