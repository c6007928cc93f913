# SPDX-License-Identifier: MIT
"""What those who open the same name share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple, TypeVar, cast
from urllib.parse import urlsplit

from pyqless.core.effects import Batch, Command, Replies, Transition
from pyqless.core.keyspace import Keyspace, NotAnInteger, WrongType
from pyqless.core.transaction import Transaction
from pyqless.errors import StoreCorrupted, StoreUnavailable
from pyqless.storage.subscriptions import Message

__all__ = ["Database", "Feed", "database_of"]

T = TypeVar("T")


class Feed(NamedTuple):
    """Where messages of some channels go."""

    channels: tuple[str, ...]
    offer: Callable[[Message], None]


class Database:
    """Keys, and who listens; whoever uses it holds its lock."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.keyspace = Keyspace()
        self.feeds: list[Feed] = []
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
                fault = fault or _failed(write, error)
        for key, image in tx.changed.items():
            # the image itself may be part of what the transition returns
            self.keyspace.replace(key, image.copy())
        if fault:
            raise fault

    def _publish(self, channel: str, data: str) -> None:
        for feed in self.feeds:
            if any(fnmatchcase(channel, pattern) for pattern in feed.channels):
                feed.offer(Message(channel, data))


def _failed(write: Command, error: Exception) -> StoreCorrupted:
    name, key = write[:2]
    text = f"{key}: {name} failed in the middle of a commit: {error}"
    return StoreCorrupted(text, argument=key, value=name)


_databases: dict[str, Database] = {}
_databases_lock = threading.Lock()


def database_of(url: str) -> Database:
    """The database that a URL means."""
    name = urlsplit(url).netloc
    if not name:
        return Database()
    with _databases_lock:
        return _databases.setdefault(name, Database())
