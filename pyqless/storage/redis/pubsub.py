# SPDX-License-Identifier: MIT
"""Subscriptions, on a connection of their own; redis-py does what is to be done for them."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any, cast

from redis.exceptions import AuthenticationError, ResponseError

from pyqless.errors import StoreRefused, StoreUnavailable
from pyqless.storage.channels import name_of
from pyqless.storage.subscriptions import GAP, AsyncSubscription, Message, Subscription

__all__ = ["AsyncRedisSubscription", "RedisSubscription"]

_MESSAGES = ("message", "pmessage")

#: with protocol 3, redis-py takes a PONG that it has decoded for a list of letters
_PONGS = ("pong", "P")

#: seconds after which a wait looks whether the subscription was closed
_SLICE = 1.0

#: seconds within which the store has to answer
_PATIENCE = 5.0


def _split(channels: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Names and patterns, each once: a user may have a right to the one and not to the other."""
    names = {channel: name_of(channel) for channel in channels}
    patterns = [channel for channel, name in names.items() if name is None]
    return list(dict.fromkeys(name for name in names.values() if name is not None)), patterns


def _message(event: dict[str, Any]) -> Message:
    channel, data = (
        value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)
        for value in (event["channel"], event["data"])
    )
    return Message(channel, data)


def _is_acknowledgement(event: dict[str, Any]) -> bool:
    return event["type"] in ("subscribe", "psubscribe")


class _Acknowledgements:
    """The store's answers to a subscription: one for each channel, and again whenever the connection is made anew."""

    def __init__(self, channels: int) -> None:
        self._channels = channels
        self._seen = 0

    @property
    def complete(self) -> bool:
        """Whether the store has answered for each channel."""
        return self._seen >= self._channels

    def note(self, event: dict[str, Any]) -> Message | None:
        """Take an event; gives the message in it, or ``GAP`` with the first answer after the opening ones."""
        if event["type"] in _MESSAGES:
            return _message(event)
        if not _is_acknowledgement(event):
            return None
        self._seen += 1
        return GAP if self.complete and self._seen % self._channels == 1 % self._channels else None


def _no_answer() -> StoreUnavailable:
    return StoreUnavailable(f"the store has not answered the subscription for {_PATIENCE:g} s")


def _fault(error: Exception) -> StoreRefused | StoreUnavailable:
    # of redis-py's errors, a wrong password is one of the connection
    if isinstance(error, ResponseError | AuthenticationError):
        return StoreRefused(f"the store refuses the subscription: {error}")
    return StoreUnavailable(f"the subscription is broken: {error}")


class RedisSubscription(Subscription):
    """
    Messages of some channels.

    Args:
        client: a redis-py client.

    Raises:
        StoreRefused: the user has no right to a channel.
        StoreUnavailable: the store cannot be reached.
    """

    def __init__(self, client: Any, channels: tuple[str, ...]) -> None:
        self._pubsub = client.pubsub()
        self._closed = False
        #: held by whoever reads: closing the connection under a reader confuses redis-py
        self._reading = threading.RLock()
        names, patterns = _split(channels)
        self._acknowledgements = _Acknowledgements(len(names) + len(patterns))
        try:
            self._subscribe(names, patterns)
        except BaseException:
            self._pubsub.close()
            raise

    def _subscribe(self, names: list[str], patterns: list[str]) -> None:
        if names:
            self._ask(self._pubsub.subscribe, *names)
        if patterns:
            self._ask(self._pubsub.psubscribe, *patterns)
        end = time.monotonic() + _PATIENCE
        # nothing that is published from now on may be missed
        while not self._acknowledgements.complete:
            self._acknowledgements.note(self._answer(end))

    def _ask(self, method: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        try:
            return method(*arguments, **options)
        except Exception as error:  # cut off at the wrong moment, redis-py raises anything
            if self._closed:
                return None
            raise _fault(error) from error

    def _answer(self, end: float) -> dict[str, Any]:
        """The next of all that comes, until it is time to give up."""
        while (event := self._ask(self._pubsub.get_message, timeout=_SLICE)) is None:
            if time.monotonic() >= end:
                raise _no_answer()
        return cast("dict[str, Any]", event)

    def get(self, timeout: float | None = None) -> Message | None:
        """See ``Subscription.get``."""
        end = math.inf if timeout is None else time.monotonic() + timeout
        with self._reading:
            while not self._closed:
                left = max(0.0, end - time.monotonic())
                event = self._ask(self._pubsub.get_message, timeout=min(left, _SLICE))
                if event is not None and (message := self._acknowledgements.note(event)):
                    return message
                if left <= _SLICE and event is None:
                    break
        return None

    def drain(self) -> list[Message]:
        """See ``Subscription.drain``."""
        with self._reading:
            self._ask(self._pubsub.ping)
            messages, end = [], time.monotonic() + _PATIENCE
            while (event := self._answer(end))["type"] not in _PONGS:
                if message := self._acknowledgements.note(event):
                    messages.append(message)
            return messages

    def close(self) -> None:
        """See ``Subscription.close``."""
        self._closed = True
        if not self._reading.acquire(blocking=False):
            # an answer ends the wait of whoever reads; without one it takes a moment longer
            self._ask(self._pubsub.ping)
            self._reading.acquire()
        try:
            self._pubsub.close()
        finally:
            self._reading.release()


class AsyncRedisSubscription(AsyncSubscription):
    """As ``RedisSubscription``; ``open`` makes one."""

    def __init__(self, pubsub: Any, channels: int) -> None:
        self._pubsub = pubsub
        self._closed = False
        self._acknowledgements = _Acknowledgements(channels)

    @classmethod
    async def open(cls, client: Any, channels: tuple[str, ...]) -> AsyncRedisSubscription:
        """Subscribe; see ``RedisSubscription``."""
        names, patterns = _split(channels)
        self = cls(client.pubsub(), len(names) + len(patterns))
        try:
            await self._subscribe(names, patterns)
        except BaseException:
            await self._pubsub.aclose()
            raise
        return self

    async def _subscribe(self, names: list[str], patterns: list[str]) -> None:
        if names:
            await self._ask(self._pubsub.subscribe, *names)
        if patterns:
            await self._ask(self._pubsub.psubscribe, *patterns)
        end = time.monotonic() + _PATIENCE
        while not self._acknowledgements.complete:
            self._acknowledgements.note(await self._answer(end))

    async def _ask(
        self, method: Callable[..., Awaitable[Any]], *arguments: Any, **options: Any
    ) -> Any:
        try:
            return await method(*arguments, **options)
        except Exception as error:  # cut off at the wrong moment, redis-py raises anything
            if self._closed:
                return None
            raise _fault(error) from error

    async def _answer(self, end: float) -> dict[str, Any]:
        while (event := await self._ask(self._pubsub.get_message, timeout=_SLICE)) is None:
            if time.monotonic() >= end:
                raise _no_answer()
        return cast("dict[str, Any]", event)

    async def get(self, timeout: float | None = None) -> Message | None:
        """See ``AsyncSubscription.get``."""
        end = math.inf if timeout is None else time.monotonic() + timeout
        while not self._closed:
            left = max(0.0, end - time.monotonic())
            event = await self._ask(self._pubsub.get_message, timeout=min(left, _SLICE))
            if event is not None and (message := self._acknowledgements.note(event)):
                return message
            if left <= _SLICE and event is None:
                break
        return None

    async def close(self) -> None:
        """See ``AsyncSubscription.close``."""
        self._closed = True
        await self._pubsub.aclose()
