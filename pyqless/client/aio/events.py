# SPDX-License-Identifier: MIT
"""Events, for the client for asyncio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Self

from pyqless.client.events import Event, event_of
from pyqless.storage import AsyncStorage, AsyncSubscription

__all__ = ["AsyncEvents"]


class AsyncEvents:
    """As ``Events``; it listens from ``async with`` on, or else once the first event is asked for."""

    def __init__(self, storage: AsyncStorage, channels: Iterable[str]) -> None:
        self._storage = storage
        self._channels = channels
        self._messages: AsyncSubscription | None = None

    async def _listening(self) -> AsyncSubscription:
        if self._messages is None:
            self._messages = await self._storage.subscribe(*self._channels)
        return self._messages

    async def get(self, timeout: float | None = None) -> Event | None:
        """As ``Events.get``."""
        message = await (await self._listening()).get(timeout)
        return None if message is None else event_of(self._storage.keys, message)

    async def __aiter__(self) -> AsyncIterator[Event]:
        while (event := await self.get()) is not None:
            yield event

    async def close(self) -> None:
        """As ``Events.close``."""
        if self._messages is not None:
            await self._messages.close()

    async def __aenter__(self) -> Self:
        await self._listening()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
