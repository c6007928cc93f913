# SPDX-License-Identifier: MIT
"""The storage in this process, for threads."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any, TypeVar

from pyqless.core.effects import Factory
from pyqless.storage.base import Storage
from pyqless.storage.described import Clock, closed
from pyqless.storage.memory import contents
from pyqless.storage.memory.database import database_of
from pyqless.storage.memory.driver import run
from pyqless.storage.memory.subscriptions import MemorySubscription
from pyqless.storage.parts import Part
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

    def run(self, transition: Factory[T], now: float | None = None) -> T:
        """See ``Storage.run``."""
        if self.is_closed:
            raise closed()
        with self._database.lock:
            return run(self, self._database, transition, now)

    def subscribe(self, *channels: str) -> Subscription:
        """See ``Storage.subscribe``."""
        self.require_open()
        return MemorySubscription(self._database, channels)

    def dump(self) -> dict[str, dict[str, Any]]:
        """See ``Storage.dump``."""
        self.require_open()
        return contents.dump(self._database, self.keys)

    def scan(self) -> Generator[Part, None, None]:
        """See ``Storage.scan``; other threads wait until it is finished or closed."""
        self.require_open()
        return contents.scan(self._database, self.keys)

    def clear(self) -> None:
        """See ``Storage.clear``; all at once."""
        self.require_open()
        contents.clear(self._database, self.keys)

    def flush(self) -> None:
        """See ``Storage.flush``."""
        self.require_open()
        contents.flush(self._database)

    def close(self) -> None:
        """Refuse further calls; what is stored under a name stays for others."""
        self.is_closed = True
