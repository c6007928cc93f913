# SPDX-License-Identifier: MIT
"""The storage in this process, for threads."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any, TypeVar

from pyqless.core.effects import Factory
from pyqless.errors import StoreUnavailable
from pyqless.storage.base import Storage
from pyqless.storage.described import Clock
from pyqless.storage.memory.database import database_of
from pyqless.storage.memory.driver import run
from pyqless.storage.memory.subscriptions import MemorySubscription
from pyqless.storage.parts import Part, in_bytes, parts_of
from pyqless.storage.subscriptions import Subscription

__all__ = ["MemoryStorage"]

T = TypeVar("T")


class MemoryStorage(Storage):
    """A storage in this process; threads may share it."""

    def __init__(
        self, url: str = "memory://", *, namespace: str = "ql", clock: Clock = time.time
    ) -> None:
        super().__init__(url, namespace, clock)
        self._database = database_of(url)
        self._closed = False

    def run(self, transition: Factory[T], now: float | None = None) -> T:
        """See ``Storage.run``."""
        if self._closed:
            raise StoreUnavailable("the storage is closed")
        with self._database.lock:
            return run(self, self._database, transition, now)

    def subscribe(self, *channels: str) -> Subscription:
        """See ``Storage.subscribe``."""
        return MemorySubscription(self._database, channels)

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
