# SPDX-License-Identifier: MIT
"""Events, for the client for asyncio."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Self

from pyqless.client import checks
from pyqless.client.checks import Span
from pyqless.client.entering import EnteredAsync
from pyqless.client.events import Event, event_of
from pyqless.client.waiting import at_most, slices
from pyqless.errors import StoreUnavailable
from pyqless.storage import AsyncStorage, AsyncSubscription, Message
from pyqless.storage.subscriptions import GAP

__all__ = ["AsyncEvents"]


class AsyncEvents(EnteredAsync):
    """As ``Events``; it listens from ``async with`` on, or else once the first event is asked for."""

    def __init__(self, storage: AsyncStorage, channels: Iterable[str]) -> None:
        self._storage = storage
        self._channels = list(channels)
        self._messages: AsyncSubscription | None = None
        self._has_listened = False
        self._closed = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._storage.url}>"

    async def get(self, timeout: Span | None = None) -> Event | None:
        """As ``Events.get``."""
        seconds = at_most(timeout)
        try:
            message = await self._next(seconds)
        except StoreUnavailable:
            await self._let_go()
            message = await self._next(seconds)
        return None if message is None else event_of(self._storage.keys, message)

    async def _next(self, timeout: float | None) -> Message | None:
        for seconds in slices(timeout):
            if self._closed:
                break
            self._storage.require_open()
            has_listened = self._has_listened
            if self._messages is None:
                await self._listen()
                if has_listened and not self._closed:
                    return GAP
            if self._messages is not None and (message := await self._messages.get(seconds)):
                return message
        return None

    async def _listen(self) -> None:
        self._messages = await self._storage.subscribe(*self._channels)
        self._has_listened = True
        if self._closed:  # meanwhile, by another task
            await self._let_go()

    async def _let_go(self) -> None:
        messages, self._messages = self._messages, None
        if messages is not None:
            await messages.close()

    async def __aiter__(self) -> AsyncIterator[Event]:
        while (event := await self.get()) is not None:
            yield event

    async def listen(self, callbacks: Mapping[str, Callable[[Event], object]]) -> None:
        """As ``Events.listen``; what a callback gives is awaited where it can be."""
        known = checks.callbacks("callbacks", callbacks)
        async for event in self:
            if event.name in known:
                value = known[event.name](event)
                if inspect.isawaitable(value):
                    await value

    async def close(self) -> None:
        """As ``Events.close``."""
        self._closed = True
        await self._let_go()

    async def __aenter__(self) -> Self:
        await self._listen()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
