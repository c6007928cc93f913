# SPDX-License-Identifier: MIT
"""Listening where the store allows it, and sleeping where it does not, for the client that blocks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from threading import TIMEOUT_MAX
from typing import Self

from pyqless.client.checks import Span
from pyqless.client.ending import Ending
from pyqless.client.references import AnyJob
from pyqless.client.waiting import AGAIN, end_of
from pyqless.core.models import Job as Seen
from pyqless.errors import StoreRefused, StoreUnavailable, StoreUnsupported
from pyqless.storage import Message, Storage, Subscription

__all__ = ["Listener", "until_ended"]


class Listener:
    """
    Hears of what may be waited for, on a connection of its own; one thread at a time may use it.

    Args:
        channels: gives them, as patterns, once they are needed: most pops need not wait.

    Attributes:
        is_deaf: whether the store lets nobody listen, or not this user.
    """

    def __init__(self, storage: Storage, channels: Callable[[], Iterable[str]]) -> None:
        self._storage = storage
        self._channels = channels
        self._messages: Subscription | None = None
        self.is_deaf = False

    def begin(self) -> bool:
        """Listen, and tell whether that is new: what came before there was anybody to listen is not told."""
        if self._messages is not None or self.is_deaf:
            return False
        try:
            self._messages = self._storage.subscribe(*self._channels())
        except (StoreRefused, StoreUnsupported):
            self.is_deaf = True
            return False
        except StoreUnavailable:
            return False  # for now; who asks for jobs meanwhile is told if it stays away
        return True

    def hears(self, seconds: float, wakes: Callable[[Message], bool]) -> bool:
        """Listen for so long, and tell whether anything was said that wakes."""
        if self._messages is None:
            time.sleep(seconds if self.is_deaf else min(seconds, AGAIN))
            return False
        end, woken = time.monotonic() + min(seconds, TIMEOUT_MAX), False
        try:
            # of many messages at once, one is enough
            while message := self._messages.get(0 if woken else max(0.0, end - time.monotonic())):
                woken = wakes(message) or woken
                if time.monotonic() >= end:
                    break
        except StoreUnavailable:
            self.close()
        return woken

    def close(self) -> None:
        """Listen no longer."""
        messages, self._messages = self._messages, None
        if messages is not None:
            messages.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def until_ended(
    storage: Storage, jid: str | AnyJob, timeout: Span | None, interval: Span | None
) -> Seen | None:
    """Wait for the end of a job; None if it has not come in time. See ``Jobs.wait``."""
    ending, end = Ending(storage.keys, jid, interval), end_of(timeout)
    with Listener(storage, lambda: ending.channels) as listener:
        while (seen := storage.run(ending.look)) is None:
            left = end - time.monotonic()
            if left <= 0:
                return None
            if not listener.begin():
                rest = ending.rest(hears=not listener.is_deaf)
                listener.hears(min(left, rest), ending.wakes)
        return seen
