# SPDX-License-Identifier: MIT
"""Storages that only look: for dashboards, replicas, and users without the right to write."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar, cast

from pyqless.client.requests.effects import Look
from pyqless.core.effects import Continue, Factory, FollowedBy, Transition
from pyqless.core.transaction import Transaction
from pyqless.errors import ReadOnlyClient
from pyqless.storage import AsyncStorage, AsyncSubscription, Storage, Subscription
from pyqless.storage.parts import Part

__all__ = ["AsyncReadOnlyStorage", "ReadOnlyStorage"]

T = TypeVar("T")


def looking(transition: Factory[T]) -> Factory[T]:
    """Take a view without what it would put in order, and anything else only if it writes nothing."""
    if isinstance(transition, Look):
        return transition.bare

    def begin(tx: Transaction) -> Transition[T]:
        value = yield from transition(tx)
        if tx.writes:
            tx.drop_writes()
            raise ReadOnlyClient("the client was opened with read_only=True, and changes nothing")
        return cast("T", _without_changes(value))

    return begin


def _without_changes(value: Any) -> Any:
    """Let what comes after a transition change nothing, either."""
    match value:
        case Continue(rest):
            return Continue(looking(rest))
        case FollowedBy(shown, _):
            return shown
    return value


class ReadOnlyStorage(Storage):
    """
    A storage that refuses to change anything.

    Args:
        inner: what it looks at; it is closed with this one.
    """

    def __init__(self, inner: Storage) -> None:
        super().__init__(inner.url, inner.keys.namespace, inner.clock)
        self.metrics = inner.metrics
        self._inner = inner

    def run(self, transition: Factory[T], now: float | None = None) -> T:
        """
        See ``Storage.run``.

        Raises:
            ReadOnlyClient: the transition would change something.
        """
        return self._inner.run(looking(transition), now)

    def subscribe(self, *channels: str) -> Subscription:
        """See ``Storage.subscribe``."""
        return self._inner.subscribe(*channels)

    def dump(self) -> dict[str, dict[str, Any]]:
        """See ``Storage.dump``."""
        return self._inner.dump()

    def scan(self) -> Generator[Part, None, None]:
        """See ``Storage.scan``."""
        return self._inner.scan()

    def clear(self) -> None:
        """As ``flush``."""
        self.flush()

    def flush(self) -> None:
        """
        Refuse.

        Raises:
            ReadOnlyClient: always.
        """
        raise ReadOnlyClient("the client was opened with read_only=True, and deletes nothing")

    def close(self) -> None:
        """See ``Storage.close``."""
        self.is_closed = True
        self._inner.close()


class AsyncReadOnlyStorage(AsyncStorage):
    """As ``ReadOnlyStorage``, for asyncio."""

    def __init__(self, inner: AsyncStorage) -> None:
        super().__init__(inner.url, inner.keys.namespace, inner.clock)
        self.metrics = inner.metrics
        self._inner = inner

    async def run(self, transition: Factory[T], now: float | None = None) -> T:
        """See ``ReadOnlyStorage.run``."""
        return await self._inner.run(looking(transition), now)

    async def subscribe(self, *channels: str) -> AsyncSubscription:
        """See ``AsyncStorage.subscribe``."""
        return await self._inner.subscribe(*channels)

    async def dump(self) -> dict[str, dict[str, Any]]:
        """See ``AsyncStorage.dump``."""
        return await self._inner.dump()

    async def clear(self) -> None:
        """As ``flush``."""
        await self.flush()

    async def flush(self) -> None:
        """See ``ReadOnlyStorage.flush``."""
        raise ReadOnlyClient("the client was opened with read_only=True, and deletes nothing")

    async def close(self) -> None:
        """See ``AsyncStorage.close``."""
        self.is_closed = True
        await self._inner.close()
