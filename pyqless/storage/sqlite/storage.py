# SPDX-License-Identifier: MIT
"""``sqlite://``: a file, for the threads and processes of one machine."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any, TypeVar, cast

from pyqless.core.effects import Factory
from pyqless.core.keyspace import Keyspace
from pyqless.storage.base import Storage
from pyqless.storage.described import Clock
from pyqless.storage.parts import Part
from pyqless.storage.sqlite import statements as sql
from pyqless.storage.sqlite.connection import require_library
from pyqless.storage.sqlite.driver import carry_out
from pyqless.storage.sqlite.file import DatabaseFile
from pyqless.storage.sqlite.locations import locate
from pyqless.storage.sqlite.scanning import drop_some, parts_in
from pyqless.storage.sqlite.subscription import SqliteSubscription
from pyqless.storage.sqlite.turns import Turn
from pyqless.storage.subscriptions import Subscription

__all__ = ["SqliteStorage"]

T = TypeVar("T")


class SqliteStorage(Storage):
    """
    A SQLite file.

    Threads may share one, and so may forked processes; each call has a connection of its own.
    Any number of processes may open the same file, but on one machine only: not by way of a network.
    The file is opened, and made if need be, at the first call.

    Args:
        url: ``sqlite:///jobs.db``, relative to the working directory, or ``sqlite:////var/lib/jobs.db``;
            the options below may stand behind it, as in ``?synchronous=normal``.
        namespace: what stands before the first colon of every key.
        clock: gives the moment of calls that bring none, Unix time in seconds.
        timeout: seconds that a call waits for others that write at most; 10 unless given.
        synchronous: ``full``, unless given: what a call has acknowledged survives a power cut, except who has
            a job that may run again. ``normal``: it survives the end of the process, however sudden; a power
            cut may undo the last commits, but never damages the file.

    Raises:
        InvalidArgument: the URL or an option makes no sense.
        StoreUnsupported: the SQLite library is too old.
    """

    def __init__(
        self,
        url: str,
        *,
        namespace: str = "ql",
        clock: Clock = time.time,
        timeout: float | None = None,
        synchronous: str | None = None,
    ) -> None:
        require_library()
        path, options = locate(url, timeout=timeout, synchronous=synchronous)
        super().__init__(url, namespace, clock)
        self.file = DatabaseFile(path, timeout=options.timeout, durable=options.durable)

    def run(self, transition: Factory[T], now: float | None = None) -> T:
        """See ``Storage.run``."""
        return cast("T", carry_out(self, self.file, transition, now))

    def subscribe(self, *channels: str) -> Subscription:
        """See ``Storage.subscribe``."""
        self.require_open()
        return SqliteSubscription(self.file, channels)

    def dump(self) -> dict[str, dict[str, Any]]:
        """See ``Storage.dump``."""
        keyspace = Keyspace()
        with self.file.looking() as lane:
            for key, value in lane.keyspace.items():
                if not key.startswith(self.keys.own):
                    keyspace.replace(key, value)
        return keyspace.dump()

    def scan(self) -> Generator[Part, None, None]:
        """See ``Storage.scan``; nobody has to wait for it."""
        with self.file.looking() as lane:
            yield from parts_in(lane.connection, self.keys)

    def clear(self) -> None:
        """See ``Storage.clear``."""
        is_more = True
        while is_more:
            is_more = self.file.write(lambda turn: drop_some(turn.lane, self.keys))

    def flush(self) -> None:
        """See ``Storage.flush``."""
        self.file.write(_flush)

    def close(self) -> None:
        """See ``Storage.close``."""
        self.is_closed = True
        self.file.close()


def _flush(turn: Turn) -> None:
    turn.lane.execute(sql.FLUSH)
    turn.lane.forget()
