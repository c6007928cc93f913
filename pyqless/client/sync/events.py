# SPDX-License-Identifier: MIT
"""Events, for the client that blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Self

from pyqless.client import checks
from pyqless.client.checks import Span
from pyqless.client.entering import EnteredBlocking
from pyqless.client.events import Event, event_of
from pyqless.client.waiting import at_most, slices
from pyqless.errors import StoreUnavailable
from pyqless.storage import Message, Storage, Subscription
from pyqless.storage.subscriptions import GAP

__all__ = ["Events"]


class Events(EnteredBlocking):
    """
    What happens, from the moment this was made on.

    Iteration waits for each event, and ends when another thread closes it.
    Where the connection broke, an event named ``gap`` comes first once it is made anew.
    """

    def __init__(self, storage: Storage, channels: Iterable[str]) -> None:
        self._storage = storage
        self._channels = list(channels)
        self._messages: Subscription | None = storage.subscribe(*self._channels)
        self._closed = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._storage.url}>"

    def get(self, timeout: Span | None = None) -> Event | None:
        """
        Wait for the next event.

        Args:
            timeout: seconds, or a timedelta, to wait at most; None: for ever.

        Returns:
            Event: or None if there was none in time, or this is closed.

        Raises:
            InvalidArgument: the timeout is no good.
            StoreUnavailable: the connection broke, and the store cannot be reached; it may be tried again.
            ClientClosed: the client is closed; who waits meanwhile is told within a second.
        """
        seconds = at_most(timeout)
        try:
            message = self._next(seconds)
        except StoreUnavailable:
            self._let_go()
            message = self._next(seconds)
        return None if message is None else event_of(self._storage.keys, message)

    def _next(self, timeout: float | None) -> Message | None:
        for seconds in slices(timeout):
            if self._closed:
                break
            self._storage.require_open()
            messages = self._messages
            if messages is None:
                return self._listen_again()
            if message := messages.get(seconds):
                return message
        return None

    def _listen_again(self) -> Message | None:
        self._messages = self._storage.subscribe(*self._channels)
        if self._closed:  # meanwhile, by another thread
            self._let_go()
            return None
        return GAP

    def _let_go(self) -> None:
        messages, self._messages = self._messages, None
        if messages is not None:
            messages.close()

    def __iter__(self) -> Iterator[Event]:
        while (event := self.get()) is not None:
            yield event

    def listen(self, callbacks: Mapping[str, Callable[[Event], object]]) -> None:
        """
        Call back for each event, until this is closed.

        Args:
            callbacks: by the events' names; events of other names are passed over.

        Raises:
            InvalidArgument: they cannot be called.
        """
        known = checks.callbacks("callbacks", callbacks)
        for event in self:
            if event.name in known:
                known[event.name](event)

    def close(self) -> None:
        """Listen no longer."""
        self._closed = True
        self._let_go()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
