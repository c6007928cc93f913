# SPDX-License-Identifier: MIT
"""How a worker waits: for jobs, and for a store that is away. It never turns in a busy loop."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable
from typing import Final

from redis import ResponseError

from pyqless.client import AsyncClient, AsyncEvents, Client, Event, Events
from pyqless.errors import (
    QlessError,
    StorageError,
    StoreCorrupted,
    StoreRefused,
    StoreUnsupported,
)

__all__ = ["SLICE", "AsyncBell", "Backoff", "Bell", "is_refusal"]

logger = logging.getLogger("pyqless.worker")

#: seconds after which a wait looks whether an order has come in
SLICE: Final = 0.25

#: What the log channel says when there may be work in a queue. A job that is complete may let others go, in its own
#: queue more often than not.
_WORK: Final = frozenset({"put", "advanced", "completed"})

#: seconds after which a subscription that broke is tried again
RESUBSCRIBE: Final = 5.0


def is_refusal(error: QlessError) -> bool:
    """
    Whether a store that has never served us will not do so, however often it is asked.

    A wrong password, too few rights, no such database, a file of another kind or without a directory: there is an answer,
    while a store that is away gives none.
    """
    if isinstance(error, StoreCorrupted):
        return error.argument == "path"  # of a file; anything else is damage in one place
    has_answered = isinstance(error.__cause__, ResponseError | FileNotFoundError)
    return has_answered or isinstance(error, StoreRefused | StoreUnsupported)


class Backoff:
    """
    Pauses that grow: each twice the last at most, with jitter, up to a cap.

    Args:
        base: the first one at most, seconds.
        cap: any of them at most, seconds.
        chance: from 0 to 1.
    """

    def __init__(
        self, base: float = 0.1, cap: float = 10.0, chance: Callable[[], float] = random.random
    ) -> None:
        self._base = base
        self._cap = cap
        self._chance = chance
        self._tries = 0

    def next(self) -> float:
        """The next pause, seconds; never less than half of what it may be."""
        most = min(self._cap, self._base * 2.0 ** min(self._tries, 30))
        self._tries += 1
        return most * (0.5 + 0.5 * self._chance())

    def reset(self) -> None:
        """Begin anew, since all is well."""
        self._tries = 0

    @property
    def is_fresh(self) -> bool:
        """Whether nothing has gone wrong yet."""
        return self._tries == 0


class _Rope:
    """What both bells know: how long to wait, and when to try to listen."""

    def __init__(
        self,
        interval: float,
        wanted: Callable[[], bool],
        *,
        listen: bool = True,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._interval = interval
        self._wanted = wanted
        self._chance = chance
        self._subscribe_at = float("-inf") if listen else float("inf")

    def _end(self) -> float:
        return time.monotonic() + self._interval * (0.8 + 0.2 * self._chance())

    def _slice(self, end: float) -> float:
        """How long to wait now, seconds; 0 when the wait is over."""
        return 0.0 if self._wanted() else max(0.0, min(SLICE, end - time.monotonic()))

    def _failed(self, error: StorageError) -> None:
        logger.info("no messages for now, looking every %g s: %s", self._interval, error)
        self._subscribe_at = time.monotonic() + RESUBSCRIBE


class Bell(_Rope):
    """
    Wakes a worker without work.

    It listens to the log channel, where the store has one to listen to, for what puts a job into a queue.
    What nobody says (a delayed job is due, a recurring one, a retry) shows at the next look, after the interval.

    Args:
        interval: seconds between two looks; each is a little shorter, by chance, so that workers do not look
            all at once.
        wanted: whether the wait is to end, asked a few times a second.
        listen: whether to listen at all.
    """

    def __init__(
        self, client: Client, interval: float, wanted: Callable[[], bool], *, listen: bool = True
    ) -> None:
        super().__init__(interval, wanted, listen=listen)
        self._client = client
        self._events: Events | None = None

    def wait(self, queues: list[str]) -> None:
        """Wait until there may be work, or the interval is over, or the wait is to end."""
        end = self._end()
        if self._begin() or self._has_rung(queues):
            return  # look once more: what came in before there was anybody to listen is not told
        while (seconds := self._slice(end)) > 0:
            event = self._hear(seconds)
            if event is not None and _means_work(event, queues):
                return

    def pause(self, seconds: float) -> None:
        """Wait without listening."""
        end = time.monotonic() + seconds
        while (slice_ := self._slice(end)) > 0:
            time.sleep(slice_)

    def _begin(self) -> bool:
        """Subscribe if that is to be done, and tell whether it was."""
        if self._events is not None or time.monotonic() < self._subscribe_at:
            return False
        try:
            self._events = self._client.events("log")
        except StorageError as error:
            self._failed(error)
            return False
        return True

    def _has_rung(self, queues: list[str]) -> bool:
        """Whether anything was said while nobody listened; all that is old is heard at once."""
        rung = False
        while self._events is not None and (event := self._hear(0)) is not None:
            rung = rung or _means_work(event, queues)
        return rung

    def _hear(self, seconds: float) -> Event | None:
        if self._events is None:
            time.sleep(seconds)
            return None
        try:
            return self._events.get(seconds)
        except StorageError as error:
            self._failed(error)
            self.close()
            return None

    def close(self) -> None:
        """Listen no longer."""
        events, self._events = self._events, None
        if events is not None:
            events.close()


class AsyncBell(_Rope):
    """As ``Bell``, for asyncio."""

    def __init__(
        self,
        client: AsyncClient,
        interval: float,
        wanted: Callable[[], bool],
        *,
        listen: bool = True,
    ) -> None:
        super().__init__(interval, wanted, listen=listen)
        self._client = client
        self._events: AsyncEvents | None = None

    async def wait(self, queues: list[str]) -> None:
        """As ``Bell.wait``."""
        end = self._end()
        if await self._begin() or await self._has_rung(queues):
            return
        while (seconds := self._slice(end)) > 0:
            event = await self._hear(seconds)
            if event is not None and _means_work(event, queues):
                return

    async def pause(self, seconds: float) -> None:
        """As ``Bell.pause``."""
        end = time.monotonic() + seconds
        while (slice_ := self._slice(end)) > 0:  # noqa: ASYNC110 - no event: handlers of signals set none
            await asyncio.sleep(slice_)

    async def _begin(self) -> bool:
        if self._events is not None or time.monotonic() < self._subscribe_at:
            return False
        events = self._client.events("log")
        try:
            self._events = await events.__aenter__()
        except StorageError as error:
            self._failed(error)
            return False
        return True

    async def _has_rung(self, queues: list[str]) -> bool:
        rung = False
        while self._events is not None and (event := await self._hear(0)) is not None:
            rung = rung or _means_work(event, queues)
        return rung

    async def _hear(self, seconds: float) -> Event | None:
        if self._events is None:
            await asyncio.sleep(seconds)
            return None
        try:
            return await self._events.get(seconds)
        except StorageError as error:
            self._failed(error)
            await self.close()
            return None

    async def close(self) -> None:
        """As ``Bell.close``."""
        events, self._events = self._events, None
        if events is not None:
            await events.close()


def _means_work(event: Event, queues: list[str]) -> bool:
    if event.name == "lock_lost":  # the job is free, in a queue that is not named
        return True
    named = {event.details.get("queue"), event.details.get("to")} - {None}
    return event.name in _WORK and not named.isdisjoint(queues)
