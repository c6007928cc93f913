# SPDX-License-Identifier: MIT
"""What a check works on: a storage under test, others on the same store, and ways to say what is wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Self, TypeVar
from urllib.parse import urlsplit

from pyqless.core.effects import Command, Factory, Replies
from pyqless.core.keys import Keys
from pyqless.storage import (
    AsyncStorage,
    AsyncSubscription,
    Message,
    Storage,
    open_async_storage,
    open_storage,
)
from pyqless.storage.redis import Policy
from pyqless.testing.storages.awaited import Awaited, complete
from pyqless.testing.storages.requirements import NotConformant
from pyqless.testing.storages.transitions import reading, staging

__all__ = ["Bench", "Check", "Ear", "Store"]

T = TypeVar("T")

#: seconds after which what should come at once has not come
PATIENCE: Final = 30.0

_FEW_ATTEMPTS: Final = {"policy": Policy(attempts=3, base=0.0)}
#: what the storages take to give up soon, by the schemes of their URLs
IMPATIENT: Final[dict[str, dict[str, Any]]] = {
    **dict.fromkeys(("redis", "rediss", "unix", "fakeredis"), _FEW_ATTEMPTS),
    "sqlite": {"timeout": 0.05},
}


@dataclass(frozen=True, kw_only=True)
class Store:
    """
    A store under test: how a storage on it is opened, by any number of openers at once.

    Its content does not last: each check begins by emptying it.
    """

    #: opens a blocking storage; takes ``namespace``, ``clock`` and what is in ``impatient`` by name
    blocking: Callable[..., Storage]
    #: opens one for asyncio, likewise
    asyncio: Callable[..., AsyncStorage]
    #: options with which a storage gives up after a few attempts
    impatient: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def at(cls, url: str) -> Self:
        """The store that a URL means, the same one whenever it is opened."""
        return cls(
            blocking=partial(open_storage, url),
            asyncio=partial(open_async_storage, url),
            impatient=IMPATIENT.get(urlsplit(url).scheme, {}),
        )


class Bench:
    """
    An empty store, a storage on it that is under test, and more of them as needed.

    Args:
        blocking: whether the storages under test are blocking ones. They are reached through the
            interface of those for asyncio, so that one check serves both.
    """

    def __init__(self, store: Store, *, blocking: bool) -> None:
        self.store = store
        self.blocking = blocking
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        #: a blocking storage, to look at the store and to interfere
        self.other = self.another()
        self.other.flush()
        self.storage = await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def open(self, **options: Any) -> AsyncStorage:
        """Open a further storage of the kind under test."""
        if self.blocking:
            storage: AsyncStorage = Awaited(self.store.blocking(**options))
        else:
            storage = self.store.asyncio(**options)
        return await self._stack.enter_async_context(storage)

    def another(self, **options: Any) -> Storage:
        """Open a further blocking storage."""
        return self._stack.enter_context(self.store.blocking(**options))

    async def subscribe(self, *channels: str) -> Ear:
        """Listen through the storage under test."""
        end = self.key("end of a check")
        subscription = await self.storage.subscribe(*channels, end)
        await self._stack.enter_async_context(subscription)
        return Ear(subscription, partial(self.send, end, ""))

    def send(self, channel: str, data: str) -> None:
        """Publish a message through another storage."""
        self.other.run(staging(("publish", channel, data)))

    @property
    def keys(self) -> Keys:
        """The key map of the storage under test."""
        return self.storage.keys

    def key(self, name: str) -> str:
        """A key or a channel of the namespace."""
        return self.keys.prefix + name

    async def run(self, transition: Factory[T], now: float | None = None) -> T:
        """Carry out a transition on the storage under test."""
        return await self.storage.run(transition, now)

    async def read(self, *reads: Command) -> Replies:
        """Read through the storage under test, in one batch."""
        return await self.run(reading(*reads))

    async def stage(self, *calls: tuple[Any, ...]) -> None:
        """Write through the storage under test, in one transition; see ``staging``."""
        await self.run(staging(*calls))

    async def at_once(self, *jobs: Callable[[], Coroutine[Any, Any, T]]) -> list[T]:
        """Run jobs side by side: in threads if their storages are blocking ones, else in tasks."""
        if self.blocking:
            return await asyncio.gather(*(asyncio.to_thread(complete, job) for job in jobs))
        return await asyncio.gather(*(job() for job in jobs))


@dataclass(frozen=True)
class Check:
    """Something that every storage must do."""

    check: Callable[[Bench], Awaitable[None]]

    @property
    def name(self) -> str:
        """Its area and what it is about."""
        return f"{self.check.__module__.rpartition('.')[2]}.{self.check.__name__}"

    def run(self, store: Store, *, blocking: bool) -> None:
        """
        Empty a store and carry out the check on it.

        Args:
            blocking: whether to check the blocking storage, or the one for asyncio.

        Raises:
            NotConformant: the storage does not do what it must.
        """

        async def on_a_bench() -> None:
            async with Bench(store, blocking=blocking) as bench:
                await self.check(bench)

        asyncio.run(on_a_bench())


# -- messages ---------------------------------------------------------------------------------


class Ear:
    """A subscription, and a way to know that all that was published has arrived."""

    def __init__(self, subscription: AsyncSubscription, end: Callable[[], None]) -> None:
        self.subscription = subscription
        self._end = end

    async def heard(self) -> list[Message]:
        """All messages published since the last call."""
        self._end()
        messages: list[Message] = []
        while (message := await self._next()).channel[-14:] != "end of a check":
            messages.append(message)
        return messages

    async def _next(self) -> Message:
        message = await self.subscription.get(PATIENCE)
        if message is None:
            raise NotConformant(f"a message has not arrived within {PATIENCE:.0f} seconds")
        return message
