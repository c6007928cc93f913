# SPDX-License-Identifier: MIT
"""How a worker waits: for jobs, and for a store that is away. It never turns in a busy loop."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from typing import Final

from pyqless.client import Client, Event, Events
from pyqless.errors import StorageError

__all__ = ["SLICE", "Backoff", "Bell"]

logger = logging.getLogger("pyqless.worker")

#: seconds after which a wait looks whether an order has come in
SLICE: Final = 0.25

#: What the log channel says when there may be work in a queue. A job that is complete may let others go, in its own
#: queue more often than not.
_WORK: Final = frozenset({"put", "advanced", "completed"})

#: seconds after which a subscription that broke is tried again
RESUBSCRIBE: Final = 5.0


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


class Bell:
    """
    Wakes a worker without work.

    It listens to the log channel, where the store has one to listen to, for what puts a job into a queue.
    What nobody says (a delayed job is due, a recurring one, a retry) shows at the next look, after the interval.

    Args:
        interval: seconds between two looks; each is a little shorter, by chance, so that workers do not look
            all at once.
        wanted: whether the wait is to end, asked a few times a second.
    """

    def __init__(
        self,
        client: Client,
        interval: float,
        wanted: Callable[[], bool],
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._client = client
        self._interval = interval
        self._wanted = wanted
        self._chance = chance
        self._events: Events | None = None
        self._subscribe_at = 0.0

    def wait(self, queues: list[str]) -> None:
        """Wait until there may be work, or the interval is over, or the wait is to end."""
        end = time.monotonic() + self._interval * (0.8 + 0.2 * self._chance())
        if self._begin() or self._has_rung(queues):
            return  # look once more: what came in before there was anybody to listen is not told
        while (left := end - time.monotonic()) > 0 and not self._wanted():
            if self._rings(min(SLICE, left), queues):
                return

    def pause(self, seconds: float) -> None:
        """Wait without listening."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not self._wanted():
            time.sleep(min(SLICE, left))

    def _begin(self) -> bool:
        """Subscribe if that is to be done, and tell whether it was."""
        if self._events is not None or time.monotonic() < self._subscribe_at:
            return False
        try:
            self._events = self._client.events("log")
        except StorageError as error:
            self._fail(error)
            return False
        return True

    def _has_rung(self, queues: list[str]) -> bool:
        """Whether anything was said while nobody listened; all that is old is heard at once."""
        rung = False
        while (event := self._hear(0)) is not None:
            rung = rung or _means_work(event, queues)
        return rung

    def _rings(self, seconds: float, queues: list[str]) -> bool:
        if self._events is None:
            time.sleep(seconds)
            return False
        event = self._hear(seconds)
        return event is not None and _means_work(event, queues)

    def _hear(self, seconds: float) -> Event | None:
        try:
            return None if self._events is None else self._events.get(seconds)
        except StorageError as error:
            self._fail(error)
            return None

    def _fail(self, error: StorageError) -> None:
        logger.info("no messages for now, looking every %g s: %s", self._interval, error)
        self.close()
        self._subscribe_at = time.monotonic() + RESUBSCRIBE

    def close(self) -> None:
        """Listen no longer."""
        events, self._events = self._events, None
        if events is not None:
            events.close()


def _means_work(event: Event, queues: list[str]) -> bool:
    if event.name == "lock_lost":  # the job is free, in a queue that is not named
        return True
    named = {event.details.get("queue"), event.details.get("to")} - {None}
    return event.name in _WORK and not named.isdisjoint(queues)
