# SPDX-License-Identifier: MIT
"""Subscriptions, on a connection of their own; redis-py does what is to be done for them."""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable
from typing import Any, cast

from redis.exceptions import RedisError, ResponseError

from pyqless.errors import StoreRefused, StoreUnavailable
from pyqless.storage.base import AsyncSubscription, Message, Subscription

__all__ = ["AsyncRedisSubscription", "RedisSubscription"]

_MESSAGES = ("message", "pmessage")

#: with protocol 3, redis-py takes a PONG that it has decoded for a list of letters
_PONGS = ("pong", "P")

#: seconds after which a wait looks whether the subscription was closed
_SLICE = 1.0

#: seconds within which the store has to answer
_PATIENCE = 5.0


def _split(channels: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Names and patterns: a user may have a right to the one and not to the other."""
    patterns = [channel for channel in channels if any(mark in channel for mark in "*?[")]
    return [channel for channel in channels if channel not in patterns], patterns


def _message(event: dict[str, Any]) -> Message:
    channel, data = (
        value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)
        for value in (event["channel"], event["data"])
    )
    return Message(channel, data)


def _is_acknowledgement(event: dict[str, Any]) -> bool:
    return event["type"] in ("subscribe", "psubscribe")


def _no_answer() -> StoreUnavailable:
    return StoreUnavailable(f"the store has not answered the subscription for {_PATIENCE:g} s")


def _fault(error: Exception) -> StoreRefused | StoreUnavailable:
    if isinstance(error, ResponseError):
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
        names, patterns = _split(channels)
        if names:
            self._ask(self._pubsub.subscribe, *names)
        if patterns:
            self._ask(self._pubsub.psubscribe, *patterns)
        wanted, end = len(channels), time.monotonic() + _PATIENCE
        # nothing that is published from now on may be missed
        while wanted:
            wanted -= _is_acknowledgement(self._answer(end))

    def _ask(self, method: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        try:
            return method(*arguments, **options)
        except (RedisError, OSError) as error:
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
        while not self._closed:
            left = max(0.0, end - time.monotonic())
            event = self._ask(self._pubsub.get_message, timeout=min(left, _SLICE))
            if event is not None and event["type"] in _MESSAGES:
                return _message(event)
            if left <= _SLICE and event is None:
                break
        return None

    def drain(self) -> list[Message]:
        """See ``Subscription.drain``."""
        self._ask(self._pubsub.ping)
        messages, end = [], time.monotonic() + _PATIENCE
        while (event := self._answer(end))["type"] not in _PONGS:
            if event["type"] in _MESSAGES:
                messages.append(_message(event))
        return messages

    def close(self) -> None:
        """See ``Subscription.close``."""
        self._closed = True
        self._pubsub.close()


class AsyncRedisSubscription(AsyncSubscription):
    """As ``RedisSubscription``; ``open`` makes one."""

    def __init__(self, pubsub: Any) -> None:
        self._pubsub = pubsub
        self._closed = False

    @classmethod
    async def open(cls, client: Any, channels: tuple[str, ...]) -> AsyncRedisSubscription:
        """Subscribe; see ``RedisSubscription``."""
        self = cls(client.pubsub())
        names, patterns = _split(channels)
        if names:
            await self._ask(self._pubsub.subscribe, *names)
        if patterns:
            await self._ask(self._pubsub.psubscribe, *patterns)
        wanted, end = len(channels), time.monotonic() + _PATIENCE
        while wanted:
            wanted -= _is_acknowledgement(await self._answer(end))
        return self

    async def _ask(
        self, method: Callable[..., Awaitable[Any]], *arguments: Any, **options: Any
    ) -> Any:
        try:
            return await method(*arguments, **options)
        except (RedisError, OSError) as error:
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
            if event is not None and event["type"] in _MESSAGES:
                return _message(event)
            if left <= _SLICE and event is None:
                break
        return None

    async def close(self) -> None:
        """See ``AsyncSubscription.close``."""
        self._closed = True
        await self._pubsub.aclose()
