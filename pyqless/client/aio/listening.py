# SPDX-License-Identifier: MIT
"""Listening where the store allows it, and sleeping where it does not, for the client for asyncio."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Self

from pyqless.client.checks import Span
from pyqless.client.ending import Ending
from pyqless.client.references import AnyJob
from pyqless.client.waiting import AGAIN, end_of
from pyqless.core.models import Job as Seen
from pyqless.errors import StoreRefused, StoreUnavailable, StoreUnsupported
from pyqless.storage import AsyncStorage, AsyncSubscription, Message

__all__ = ["AsyncListener", "until_ended"]


class AsyncListener:
    """As ``Listener``; one task at a time may use it."""

    def __init__(self, storage: AsyncStorage, channels: Callable[[], Iterable[str]]) -> None:
        self._storage = storage
        self._channels = channels
        self._messages: AsyncSubscription | None = None
        self.is_deaf = False

    async def begin(self) -> bool:
        """As ``Listener.begin``."""
        if self._messages is not None or self.is_deaf:
            return False
        try:
            self._messages = await self._storage.subscribe(*self._channels())
        except (StoreRefused, StoreUnsupported):
            self.is_deaf = True
            return False
        except StoreUnavailable:
            return False  # for now; who asks for jobs meanwhile is told if it stays away
        return True

    async def hears(self, seconds: float, wakes: Callable[[Message], bool]) -> bool:
        """As ``Listener.hears``."""
        if self._messages is None:
            await asyncio.sleep(seconds if self.is_deaf else min(seconds, AGAIN))
            return False
        end, woken = time.monotonic() + seconds, False
        try:
            # of many messages at once, one is enough
            while message := await self._messages.get(
                0 if woken else max(0.0, end - time.monotonic())
            ):
                woken = wakes(message) or woken
                if time.monotonic() >= end:
                    break
        except StoreUnavailable:
            await self.close()
        return woken

    async def close(self) -> None:
        """As ``Listener.close``."""
        messages, self._messages = self._messages, None
        if messages is not None:
            await messages.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def until_ended(
    storage: AsyncStorage, jid: str | AnyJob, timeout: Span | None, interval: Span | None
) -> Seen | None:
    """As ``sync.listening.until_ended``."""
    ending, end = Ending(storage.keys, jid, interval), end_of(timeout)
    async with AsyncListener(storage, lambda: ending.channels) as listener:
        while (seen := await storage.run(ending.look)) is None:
            left = end - time.monotonic()
            if left <= 0:
                return None
            if not await listener.begin():
                rest = ending.rest(hears=not listener.is_deaf)
                await listener.hears(min(left, rest), ending.wakes)
        return seen
