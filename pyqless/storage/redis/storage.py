# SPDX-License-Identifier: MIT
"""``redis://``, ``rediss://``, ``unix://``: a Redis or one of its kin, for threads."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Generator
from typing import Any, Literal, TypeVar, cast

import redis

from pyqless.core.effects import Factory
from pyqless.errors import QlessError, StorageError
from pyqless.storage.base import Storage
from pyqless.storage.described import Clock, closed
from pyqless.storage.parts import Part
from pyqless.storage.redis import dumping, scanning
from pyqless.storage.redis.borrowing import borrow
from pyqless.storage.redis.clock import clock_of
from pyqless.storage.redis.driver import carry_out
from pyqless.storage.redis.lane import Lane
from pyqless.storage.redis.policy import Policy, Replication, require_headroom
from pyqless.storage.redis.pools import describe, open_pool, pool_of, redacted
from pyqless.storage.redis.pubsub import RedisSubscription
from pyqless.storage.redis.steps import Close, Connect, Exchange, LinkLost, Pause, Step, Steps
from pyqless.storage.redis.wire import Wire
from pyqless.storage.subscriptions import Subscription

__all__ = ["RedisStorage"]

T = TypeVar("T")


class _Track:
    """A lane, and the wire that it runs on."""

    def __init__(self, storage: RedisStorage) -> None:
        self.lane = Lane(
            storage.keys, storage.policy, storage.metrics, storage.replication, storage.headroom
        )
        self._pool = storage.pool
        self._wire: Wire | None = None

    def drive(self, steps: Steps[T]) -> T:
        """Do the I/O that the driver asks for."""
        try:
            step = next(steps)
            while True:
                try:
                    answer = self._perform(step)
                except (LinkLost, StorageError) as event:
                    step = steps.throw(event)
                else:
                    step = steps.send(answer)
        except StopIteration as end:
            return cast("T", end.value)
        except QlessError:
            raise
        except BaseException:
            # interrupted at any point: nobody knows what state the server has the connection in
            self.close()
            raise

    def _perform(self, step: Step) -> Any:
        # the step of every call; to match it as the others are would take longer than to ask for its type
        if type(step) is Exchange:
            return cast("Wire", self._wire).exchange(step.commands)
        match step:
            case Pause(seconds):
                time.sleep(seconds)
            case Connect():
                self._wire = borrow(self._pool)
            case Close():
                self.close()
        return None

    def close(self) -> None:
        """Close the connection; the lane opens another when it is used again."""
        self.lane.forget()
        wire, self._wire = self._wire, None
        if wire is not None:
            wire.close()


class _Forks:
    """How often the process has been forked off; to ask the system for its number takes longer than to look here."""

    number = 0

    @classmethod
    def count(cls) -> None:
        """Note that this is a child."""
        cls.number += 1


os.register_at_fork(after_in_child=_Forks.count)


class _Last(threading.local):
    """What the thread that looks used last."""

    track: _Track | None = None


class RedisStorage(Storage):
    """
    A Redis, 6.2 or later, or one of its kin, without scripting.

    Threads may share one: each has a connection of its own. So may forked processes.

    Args:
        url: ``redis://``, ``rediss://`` or ``unix://``, as redis-py reads them.
        connection: instead of a URL, a redis-py client, a pool, or a sentinel's master.
        namespace: what stands before the first colon of every key.
        clock: gives the moment of calls that bring none, Unix time in seconds; ``store`` for the store's own,
            which is asked at most once a minute, and when a connection is new.
        policy: how often a transaction is tried.
        durability: ``replicated``, or a ``Replication``, to have a call report success only once replicas have it;
            else ``NotReplicated`` says that it was carried out here alone.
        headroom: which part of the store's ``maxmemory`` must be free for new jobs to be taken, 0 to 1. Without
            it a store fills up to the end, and then (before Redis 7.4) not even completions are possible.
        options: of redis-py's connections, such as ``socket_timeout`` (5 seconds unless given).
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
        **options: Any,
    ) -> None:
        self.pool = open_pool(url or "", **options) if connection is None else pool_of(connection)
        self.policy = Policy.of(policy)
        self.replication = Replication.of(durability)
        self.headroom = require_headroom(headroom)
        moments = clock_of(clock, self.policy.monotonic, self._ask_time)
        super().__init__(redacted(url) if url else describe(self.pool), namespace, moments)
        self._own_pool = connection is None
        self._begin()

    def _begin(self) -> None:
        """Begin without tracks; those of a parent process are not ours to touch."""
        self._forks = _Forks.number
        #: as many as calls have run at once
        self._free: deque[_Track] = deque()
        self._last = _Last()

    def run(self, transition: Factory[T], now: float | None = None) -> T:
        """See ``Storage.run``."""
        track = self._take()
        try:
            steps: Steps[T] = carry_out(self, self.policy, track.lane, transition, now)
            return track.drive(steps)
        finally:
            self._give_back(track)

    def _take(self) -> _Track:
        if self.is_closed:
            raise closed()
        if self._forks != _Forks.number:
            self._begin()
        track = self._own_track()
        if track is None:
            try:
                track = self._free.popleft()
            except IndexError:
                track = _Track(self)
            self._last.track = track
        return track

    def _own_track(self) -> _Track | None:
        """The one that this thread used last, which may have read ahead for it, unless it is in use."""
        track = self._last.track
        if track is not None:
            try:
                self._free.remove(track)
            except ValueError:
                return None
        return track

    def _give_back(self, track: _Track) -> None:
        self._free.append(track)
        if self.is_closed:
            self.close()

    def _ask_time(self) -> None:
        self.run(lambda tx: tx.snapshot())

    def client(self) -> redis.Redis:
        """A redis-py client on the same pool, for what is no transaction."""
        return redis.Redis(connection_pool=self.pool)

    def subscribe(self, *channels: str) -> Subscription:
        """See ``Storage.subscribe``."""
        self.require_open()
        return RedisSubscription(self.client(), channels)

    def dump(self) -> dict[str, dict[str, Any]]:
        """See ``Storage.dump``."""
        return self.run(dumping.dump)

    scans_one_instant = False

    def scan(self) -> Generator[Part, None, None]:
        """See ``Storage.scan``."""
        return scanning.scan(self)

    def clear(self) -> None:
        """See ``Storage.clear``."""
        scanning.clear(self)

    def flush(self) -> None:
        """See ``Storage.flush``."""
        self.run(dumping.flush)

    def close(self) -> None:
        """See ``Storage.close``."""
        self.is_closed = True
        while self._free:
            self._free.pop().close()
        if self._own_pool:
            self.pool.disconnect()
