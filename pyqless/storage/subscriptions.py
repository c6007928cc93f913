# SPDX-License-Identifier: MIT
"""Messages, and those who listen to them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from typing import Final, NamedTuple, Self

__all__ = ["GAP", "AsyncSubscription", "Message", "Subscription"]


class Message(NamedTuple):
    """What was published."""

    channel: str
    data: str


#: stands among the messages where the connection broke and was made anew: some may have been lost
GAP: Final = Message("", "")


class Subscription(ABC):
    """Messages of some channels, from the moment of subscribing on; any thread may close one."""

    @abstractmethod
    def get(self, timeout: float | None = None) -> Message | None:
        """The next message; None if there is none within ``timeout`` seconds (None: wait for ever)."""

    @abstractmethod
    def drain(self) -> list[Message]:
        """All messages that were published before this call and not taken yet."""

    @abstractmethod
    def close(self) -> None:
        """End the subscription."""

    def __iter__(self) -> Iterator[Message]:
        """The messages as they come, until the subscription is closed."""
        while (message := self.get()) is not None:
            yield message

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncSubscription(ABC):
    """As ``Subscription``, for asyncio."""

    @abstractmethod
    async def get(self, timeout: float | None = None) -> Message | None:
        """The next message; None if there is none within ``timeout`` seconds."""

    @abstractmethod
    async def close(self) -> None:
        """End the subscription."""

    async def __aiter__(self) -> AsyncIterator[Message]:
        """The messages as they come, until the subscription is closed."""
        while (message := await self.get()) is not None:
            yield message

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
