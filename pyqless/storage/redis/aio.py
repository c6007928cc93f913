# SPDX-License-Identifier: MIT
"""``redis://``, ``rediss://``, ``unix://`` for asyncio."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import Any, Literal, TypeVar, cast

import redis.asyncio

from pyqless.core.effects import Factory
from pyqless.errors import QlessError, StorageError, WrongLoop
from pyqless.storage.base import AsyncStorage
from pyqless.storage.described import Clock, closed, require_lanes
from pyqless.storage.redis import dumping, scanning
from pyqless.storage.redis.borrowing import borrow_async
from pyqless.storage.redis.clock import clock_of
from pyqless.storage.redis.driver import carry_out
from pyqless.storage.redis.lane import Lane
from pyqless.storage.redis.policy import Policy, Replication, require_headroom
from pyqless.storage.redis.pools import async_pool_of, describe, open_async_pool, redacted
from pyqless.storage.redis.pubsub import AsyncRedisSubscription
from pyqless.storage.redis.steps import Close, Connect, Exchange, LinkLost, Pause, Step, Steps
from pyqless.storage.redis.wire import AsyncWire
from pyqless.storage.subscriptions import AsyncSubscription

__all__ = ["AsyncRedisStorage"]

T = TypeVar("T")


class _Track:
    """A lane, and the wire that it runs on."""

    def __init__(self, storage: AsyncRedisStorage) -> None:
        self.lane = Lane(
            storage.keys, storage.policy, storage.metrics, storage.replication, storage.headroom
        )
        self._pool = storage.pool
        self._wire: AsyncWire | None = None

    async def drive(self, steps: Steps[T]) -> T:
        """Do the I/O that the driver asks for."""
        try:
            step = next(steps)
            while True:
                try:
                    answer = await self._perform(step)
                except (LinkLost, StorageError) as event:
                    step = steps.throw(event)
                else:
                    step = steps.send(answer)
        except StopIteration as end:
            return cast("T", end.value)
        except QlessError:
            raise
        except BaseException:
            # cancelled at any point: nobody knows what state the server has the connection in
            await self.close()
            raise

    async def _perform(self, step: Step) -> Any:
        match step:
            case Exchange(commands):
                return await cast("AsyncWire", self._wire).exchange(commands)
            case Pause(seconds):
                await asyncio.sleep(seconds)
            case Connect():
                self._wire = await borrow_async(self._pool)
            case Close():
                await self.close()
        return None

    async def close(self) -> None:
        """Close the connection; the lane opens another when it is used again."""
        self.lane.forget()
        wire, self._wire = self._wire, None
        if wire is not None:
            await wire.close()


class AsyncRedisStorage(AsyncStorage):
    """
    As ``RedisStorage``, for the tasks of one loop.

    Args:
        lanes: how many connections to use at most; further calls wait for one.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        connection: Any = None,
        namespace: str = "ql",
        clock: Clock | Literal["store"] = time.time,
        policy: Policy | None = None,
        durability: Literal["replicated"] | Replication | None = None,
        headroom: float = 0.0,
        lanes: int = 8,
        **options: Any,
    ) -> None:
        self.pool = (
            open_async_pool(url or "", **options)
            if connection is None
            else async_pool_of(connection)
        )
        self.policy = Policy.of(policy)
        self.replication = Replication.of(durability)
        self.headroom = require_headroom(headroom)
        moments = clock_of(clock, self.policy.monotonic, None)
        super().__init__(redacted(url) if url else describe(self.pool), namespace, moments)
        self._own_pool = connection is None
        self._free: deque[_Track] = deque()
        self._places = asyncio.Semaphore(require_lanes(lanes))
        self._loop: asyncio.AbstractEventLoop | None = None

    async def run(self, transition: Factory[T], now: float | None = None) -> T:
        """See ``AsyncStorage.run``."""
        if self.is_closed:
            raise closed()
        self._require_loop()
        async with self._places:
            track = self._free.pop() if self._free else _Track(self)
            try:
                steps = carry_out(self, self.policy, track.lane, transition, now)
                return await track.drive(steps)
            finally:
                self._free.append(track)
                if self.is_closed:
                    await self.close()

    def _require_loop(self) -> None:
        """
        Begin in the loop that runs now, or make sure that it is the one that this has begun in.

        Raises:
            WrongLoop: connections can be used, and closed, in no other.
        """
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        elif self._loop is not loop:
            raise WrongLoop(
                "the client has connections in another event loop; each loop needs one of its own"
            )

    async def subscribe(self, *channels: str) -> AsyncSubscription:
        """See ``AsyncStorage.subscribe``."""
        self.require_open()
        self._require_loop()
        client: Any = redis.asyncio.Redis(connection_pool=self.pool)
        return await AsyncRedisSubscription.open(client, channels)

    async def dump(self) -> dict[str, dict[str, Any]]:
        """See ``AsyncStorage.dump``."""
        return await self.run(dumping.dump)

    async def clear(self) -> None:
        """See ``AsyncStorage.clear``."""
        await scanning.clear_async(self)

    async def flush(self) -> None:
        """See ``AsyncStorage.flush``."""
        await self.run(dumping.flush)

    async def close(self) -> None:
        """See ``AsyncStorage.close``."""
        self._require_loop()
        self.is_closed = True
        while self._free:
            await self._free.pop().close()
        if self._own_pool:
            await self.pool.disconnect()
