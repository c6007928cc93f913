# SPDX-License-Identifier: MIT
"""
What wakes a worker without work: messages, and the moments at which something is due.

Both are those of the clients' own waiting, see ``pyqless.client.waiting``; here they are taken a moment at a time,
since a worker sees to orders and other things in between.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Sequence
from typing import Final

from pyqless.client import AsyncClient, Client
from pyqless.client.aio.listening import AsyncListener
from pyqless.client.sync.listening import Listener
from pyqless.client.waiting import Waiting
from pyqless.core.keys import Keys
from pyqless.core.waking import Outlook
from pyqless.worker.waiting import SLICE

__all__ = ["AsyncBell", "Bell"]

logger = logging.getLogger("pyqless.worker")

#: seconds after which it is seen to that somebody listens, lest a subscription has broken
RESUBSCRIBE: Final = 1.0

#: seconds after which jobs are asked for all the same: the store lists workers by the moment at which each last did so
ASK: Final = 60.0


class _Rope:
    """What both bells know: for which queues they ring, until when to rest, and when to try to listen."""

    def __init__(
        self, keys: Keys, interval: float, chance: Callable[[], float], clock: Callable[[], float]
    ) -> None:
        self._keys = keys
        # each a little shorter, so that workers do not look all at once
        self._interval = interval * (0.8 + 0.2 * chance())
        self._clock = clock
        self._waiting: Waiting | None = None
        self._look_at = self._ask_at = self._listen_at = float("-inf")

    @property
    def channels(self) -> list[str]:
        """Where that is told which rings, as patterns."""
        return [] if self._waiting is None else self._waiting.channels

    def tried(self, queues: Sequence[str], now: float) -> None:
        """Note that jobs of some queues are asked for at a moment, Unix time in seconds."""
        if self._waiting is None or self._waiting.queues != queues:
            self._waiting = Waiting(self._keys, queues, self._interval) if queues else None
            self._listen_at = float("-inf")
        if self._waiting is not None:
            self._waiting.tried(now)
        self._look_at, self._ask_at = float("-inf"), self._clock() + ASK

    @property
    def _looks(self) -> bool:
        """Whether it is time for a look."""
        return self._clock() >= self._look_at

    def _rests(self, waiting: Waiting, outlooks: list[Outlook], now: float) -> bool:
        """Whether there is time to rest, until the next look then."""
        if (rest := waiting.rest(outlooks, now)) is not None:
            self._look_at = self._clock() + rest
        return rest is not None

    @property
    def _moment(self) -> float:
        """How long to wait now, seconds."""
        return max(0.0, min(SLICE, self._look_at - self._clock()))

    def _listens(self, *, deaf: bool) -> bool:
        """Whether it is time to try to listen, unless it cannot be done."""
        return not deaf and self._clock() >= self._listen_at

    def _tried_to_listen(self, *, deaf: bool) -> None:
        self._listen_at = self._clock() + RESUBSCRIBE
        if deaf:
            logger.info("the store lets nobody listen: looking every %g s", self._interval)


class Bell(_Rope):
    """
    Wakes a worker without work.

    Idle, it costs what ``Waiting`` does: four reads for each queue at each look.

    Args:
        interval: seconds between two looks at most; each worker's is a little shorter, by chance.
        ends: whether a pause is to end, asked a few times a second.
        listen: whether to listen at all.
        chance: from 0 to 1.
        clock: one that never goes back, seconds.
    """

    def __init__(
        self,
        client: Client,
        interval: float,
        ends: Callable[[], bool],
        *,
        listen: bool = True,
        chance: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(client.storage.keys, interval, chance, clock)
        self._storage = client.storage
        self._ends = ends
        self._listener = Listener(client.storage, lambda: self.channels)
        self._listener.is_deaf = not listen

    def rings(self) -> bool:
        """
        Wait a moment, and tell whether jobs are to be asked for.

        Raises:
            QlessError: the store is at fault.
        """
        if (waiting := self._waiting) is None:
            self.pause(SLICE)
            return True
        # what came in before there was anybody to listen is not told
        if self._begins() or self._clock() >= self._ask_at or self._sees(waiting):
            return True
        return waiting.slept(woken=self._listener.hears(self._moment, waiting.wakes))

    def _begins(self) -> bool:
        """Listen, and tell whether that is new."""
        listener = self._listener
        if not self._listens(deaf=listener.is_deaf):
            return False
        if self._listen_at == float("-inf"):
            listener.close()  # those were other queues
        is_new = listener.begin()
        self._tried_to_listen(deaf=listener.is_deaf)
        return is_new

    def _sees(self, waiting: Waiting) -> bool:
        """Whether a look, if it is time for one, shows that jobs are to be asked for."""
        if not self._looks:
            return False
        run = self._storage.run
        waiting.learn([(name, run(question)) for name, question in waiting.questions()])
        outlooks = [run(look) for look in waiting.looks()]
        return not self._rests(waiting, outlooks, self._storage.clock())

    def pause(self, seconds: float) -> None:
        """Wait without listening."""
        end = time.monotonic() + seconds
        while not self._ends() and (left := end - time.monotonic()) > 0:
            time.sleep(min(SLICE, left))

    def close(self) -> None:
        """Listen no longer."""
        self._listener.close()


class AsyncBell(_Rope):
    """As ``Bell``, for asyncio."""

    def __init__(
        self,
        client: AsyncClient,
        interval: float,
        ends: Callable[[], bool],
        *,
        listen: bool = True,
        chance: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(client.storage.keys, interval, chance, clock)
        self._storage = client.storage
        self._ends = ends
        self._listener = AsyncListener(client.storage, lambda: self.channels)
        self._listener.is_deaf = not listen

    async def rings(self) -> bool:
        """As ``Bell.rings``."""
        if (waiting := self._waiting) is None:
            await self.pause(SLICE)
            return True
        if await self._begins() or self._clock() >= self._ask_at or await self._sees(waiting):
            return True
        return waiting.slept(woken=await self._listener.hears(self._moment, waiting.wakes))

    async def _begins(self) -> bool:
        listener = self._listener
        if not self._listens(deaf=listener.is_deaf):
            return False
        if self._listen_at == float("-inf"):
            await listener.close()
        is_new = await listener.begin()
        self._tried_to_listen(deaf=listener.is_deaf)
        return is_new

    async def _sees(self, waiting: Waiting) -> bool:
        if not self._looks:
            return False
        run = self._storage.run
        waiting.learn([(name, await run(question)) for name, question in waiting.questions()])
        outlooks = [await run(look) for look in waiting.looks()]
        return not self._rests(waiting, outlooks, self._storage.clock())

    async def pause(self, seconds: float) -> None:
        """As ``Bell.pause``."""
        end = time.monotonic() + seconds
        # no event: handlers of signals set none
        while not self._ends() and (left := end - time.monotonic()) > 0:  # noqa: ASYNC110
            await asyncio.sleep(min(SLICE, left))

    async def close(self) -> None:
        """As ``Bell.close``."""
        await self._listener.close()
