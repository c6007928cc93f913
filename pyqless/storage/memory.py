# SPDX-License-Identifier: MIT
"""
``memory://``: everything in this process.

A transition runs from its first read to its last write under one lock, so nobody can interfere.
``memory://NAME`` is shared by all who open that name; ``memory://`` is the opener's own.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Generator, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple, TypeVar, cast
from urllib.parse import urlsplit

from pyqless.core.effects import Batch, Command, Continue, Factory, FollowedBy, Replies, Transition
from pyqless.core.keyspace import Keyspace, NotAnInteger, WrongType
from pyqless.core.transaction import Stale, Transaction
from pyqless.errors import ConflictError, QlessError, StoreCorrupted, StoreUnavailable
from pyqless.storage.base import (
    AsyncStorage,
    AsyncSubscription,
    Clock,
    Message,
    Storage,
    Subscription,
    logger,
)
from pyqless.storage.parts import Part, in_bytes, parts_of

__all__ = ["AsyncMemoryStorage", "MemoryStorage"]

T = TypeVar("T")

#: how often a transition is begun that finds stale what it has read
_ATTEMPTS: Final = 100


class _Feed(NamedTuple):
    """Where messages of some channels go."""

    channels: tuple[str, ...]
    offer: Callable[[Message | None], None]


class _Database:
    """What those who open the same name share."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.keyspace = Keyspace()
        self.feeds: list[_Feed] = []
        self._driving = False

    def drive(self, steps: Transition[T], batches: list[Batch]) -> T:
        """Feed a transition with what it reads, and note that."""
        if self._driving:
            raise StoreUnavailable("a transition cannot be carried out in the middle of another")
        self._driving = True
        try:
            batch = next(steps)
            while True:
                batches.append(batch)
                batch = steps.send(self._replies(batch.reads))
        except StopIteration as end:
            return cast("T", end.value)
        finally:
            self._driving = False

    def _replies(self, reads: Sequence[Command]) -> Replies:
        read, replies = self.keyspace.read, []
        for command in reads:
            try:
                replies.append(read(command))
            except WrongType as error:
                text = f"{command[1]}: {error}"
                replies.append(StoreCorrupted(text, argument=command[1], value=command[0]))
        return replies

    def apply(self, tx: Transaction) -> None:
        """As Redis does it: a write that does not fit its key fails by itself, and the call with it."""
        fault = None
        for write in tx.blind:
            try:
                if write[0] == "PUBLISH":
                    self._publish(write[1], write[2])
                elif write[0] == "SET":
                    self.keyspace.replace(write[1], write[2])
                else:
                    self.keyspace.write(write)
            except (WrongType, NotAnInteger) as error:
                fault = fault or StoreCorrupted(
                    f"{write[1]}: {write[0]} failed in the middle of a commit: {error}",
                    argument=write[1],
                    value=write[0],
                )
        for key, image in tx.changed.items():
            # the image itself may be part of what the transition returns
            self.keyspace.replace(key, image.copy())
        if fault:
            raise fault

    def _publish(self, channel: str, data: str) -> None:
        for feed in self.feeds:
            if any(fnmatchcase(channel, pattern) for pattern in feed.channels):
                feed.offer(Message(channel, data))


_databases: dict[str, _Database] = {}
_databases_lock = threading.Lock()


def _database(url: str) -> _Database:
    name = urlsplit(url).netloc
    if not name:
        return _Database()
    with _databases_lock:
        return _databases.setdefault(name, _Database())


# -- driving ----------------------------------------------------------------------------------


def _run(
    storage: Storage | AsyncStorage,
    database: _Database,
    transition: Factory[T],
    now: float | None,
) -> T:
    """Carry out a transition, and what it says is to follow."""
    value, moment = _until_done(storage, database, transition, now)
    while isinstance(value, Continue):
        value, moment = _until_done(storage, database, value.rest, moment)
    if isinstance(value, FollowedBy):
        try:
            _run(storage, database, value.rest, moment)
        except QlessError as fault:
            logger.warning("housekeeping is left to a later call: %s", fault)
        value = value.value
    return cast("T", value)


def _until_done(
    storage: Storage | AsyncStorage,
    database: _Database,
    transition: Factory[Any],
    now: float | None,
) -> tuple[Any, float]:
    """Try until the transition finds nothing stale; give its value and its moment."""
    for attempt in range(_ATTEMPTS):
        tx = Transaction(storage.clock() if now is None else now, storage.keys, attempt)
        storage.metrics.attempts += 1
        batches: list[Batch] = []
        try:
            value = database.drive(transition(tx), batches)
        except Stale:
            storage.metrics.conflicts += 1
            continue
        database.apply(tx)
        storage.committed(tx)
        return value, tx.now
    guards = dict.fromkeys((key for batch in batches for key in batch.guards), False)
    names = ", ".join(guards)
    raise ConflictError(
        f"the transaction has found what it read stale {_ATTEMPTS} times: {names}", value=guards
    )


# -- the storages -----------------------------------------------------------------------------


class MemoryStorage(Storage):
    """A storage in this process; threads may share it."""

    def __init__(
        self, url: str = "memory://", *, namespace: str = "ql", clock: Clock = time.time
    ) -> None:
        super().__init__(url, namespace, clock)
        self._database = _database(url)
        self._closed = False

    def run(self, transition: Factory[T], now: float | None = None) -> T:
        """See ``Storage.run``."""
        if self._closed:
            raise StoreUnavailable("the storage is closed")
        with self._database.lock:
            return _run(self, self._database, transition, now)

    def subscribe(self, *channels: str) -> Subscription:
        """See ``Storage.subscribe``."""
        return _MemorySubscription(self._database, channels)

    def dump(self) -> dict[str, dict[str, Any]]:
        """See ``Storage.dump``."""
        with self._database.lock:
            return {
                key: value
                for key, value in self._database.keyspace.dump().items()
                if not key.startswith(self.keys.own)
            }

    def scan(self) -> Generator[Part, None, None]:
        """See ``Storage.scan``; other threads wait until it is finished or closed."""
        with self._database.lock:
            keyspace = self._database.keyspace
            for key in sorted(self._names(), key=in_bytes):
                if not key.startswith(self.keys.own):
                    yield from parts_of(key, str(keyspace.type_of(key)), keyspace.data[key])

    def clear(self) -> None:
        """See ``Storage.clear``; all at once."""
        with self._database.lock:
            for key in self._names():
                self._database.keyspace.write(("DEL", key))

    def _names(self) -> list[str]:
        names = self._database.keyspace.keys()
        return [name for name in names if name.startswith(self.keys.prefix)]

    def flush(self) -> None:
        """See ``Storage.flush``."""
        with self._database.lock:
            self._database.keyspace.flush()

    def close(self) -> None:
        """Refuse further calls; what is stored under a name stays for others."""
        self._closed = True


class _MemorySubscription(Subscription):
    def __init__(self, database: _Database, channels: tuple[str, ...]) -> None:
        self._messages: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._feed = _Feed(channels, self._messages.put)
        self._database = database
        with database.lock:
            database.feeds.append(self._feed)

    def get(self, timeout: float | None = None) -> Message | None:
        """See ``Subscription.get``."""
        try:
            return self._messages.get(timeout=timeout)
        except queue.Empty:
            return None

    def drain(self) -> list[Message]:
        """See ``Subscription.drain``."""
        messages = []
        while not self._messages.empty():
            if (message := self._messages.get()) is not None:
                messages.append(message)
        return messages

    def close(self) -> None:
        """See ``Subscription.close``."""
        with self._database.lock:
            if self._feed in self._database.feeds:
                self._database.feeds.remove(self._feed)
        self._messages.put(None)


class AsyncMemoryStorage(AsyncStorage):
    """A storage in this process for asyncio; a transition does not wait, so it holds the loop but briefly."""

    def __init__(
        self, url: str = "memory://", *, namespace: str = "ql", clock: Clock = time.time
    ) -> None:
        super().__init__(url, namespace, clock)
        self._database = _database(url)
        self._closed = False

    async def run(self, transition: Factory[T], now: float | None = None) -> T:
        """See ``AsyncStorage.run``."""
        if self._closed:
            raise StoreUnavailable("the storage is closed")
        with self._database.lock:
            return _run(self, self._database, transition, now)

    async def subscribe(self, *channels: str) -> AsyncSubscription:
        """See ``AsyncStorage.subscribe``."""
        return _AsyncMemorySubscription(self._database, channels)

    async def close(self) -> None:
        """See ``MemoryStorage.close``."""
        self._closed = True


class _AsyncMemorySubscription(AsyncSubscription):
    def __init__(self, database: _Database, channels: tuple[str, ...]) -> None:
        self._messages: asyncio.Queue[Message | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._feed = _Feed(channels, self._offer)
        self._database = database
        with database.lock:
            database.feeds.append(self._feed)

    def _offer(self, message: Message | None) -> None:
        self._loop.call_soon_threadsafe(self._messages.put_nowait, message)

    async def get(self, timeout: float | None = None) -> Message | None:
        """See ``AsyncSubscription.get``."""
        try:
            return await asyncio.wait_for(self._messages.get(), timeout)
        except TimeoutError:
            return None

    async def close(self) -> None:
        """See ``AsyncSubscription.close``."""
        with self._database.lock:
            if self._feed in self._database.feeds:
                self._database.feeds.remove(self._feed)
        self._messages.put_nowait(None)
