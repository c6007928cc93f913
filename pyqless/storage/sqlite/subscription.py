# SPDX-License-Identifier: MIT
"""Subscriptions: who listens, blocking and for asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
import time
from collections import deque
from typing import Final

from pyqless.errors import ClientClosed, StorageError
from pyqless.storage.sqlite import statements as sql
from pyqless.storage.sqlite.bells import Bell
from pyqless.storage.sqlite.file import DatabaseFile
from pyqless.storage.sqlite.forks import ForkAware, watch
from pyqless.storage.sqlite.listeners import add_listener, drop_listener, matcher
from pyqless.storage.sqlite.packing import text_of
from pyqless.storage.sqlite.threads import Threads
from pyqless.storage.sqlite.turns import Turn
from pyqless.storage.sqlite.whereabouts import Found
from pyqless.storage.subscriptions import GAP, AsyncSubscription, Message, Subscription

__all__ = ["AsyncSqliteSubscription", "SqliteSubscription"]

#: seconds between two looks: with a bell, in case that a publisher died before it rang; and without
_SLICE: Final = 1.0
_SLICE_WITHOUT_BELL: Final = 0.1


class _Ear(ForkAware):
    """A listener's row, its place among the messages, and its bell."""

    def __init__(self, file: DatabaseFile, channels: tuple[str, ...]) -> None:
        #: those that were heard and not taken yet
        self.messages: deque[Message] = deque()
        self._file = file
        self._channels = channels
        self._listens_to = matcher(channels)
        self._lock = threading.Lock()
        try:
            self.bell: Bell | None = Bell(file.path)
        except OSError:
            self.bell = None
        self.slice = _SLICE_WITHOUT_BELL if self.bell is None else _SLICE
        self.is_closed = False
        try:
            self._join()
        except BaseException:
            self._take_down()
            raise
        watch(self)

    def _join(self) -> None:
        self._joined, self._id, self._heard = self._file.write(self._enter)

    def _enter(self, turn: Turn) -> tuple[Found | None, int, int]:
        turn.may_be_lost = True  # nobody listens any more when the power is back
        turn.lane.forget()
        name = None if self.bell is None else self.bell.name
        return turn.lane.place.file, *add_listener(turn.lane.connection, name, self._channels)

    def _leave(self, turn: Turn) -> None:
        turn.may_be_lost = True
        if turn.lane.place.file == self._joined:  # or the row is another's
            turn.lane.forget()
            drop_listener(turn.lane.connection, self._id)

    def listen(self) -> None:
        """Hear all messages since the last call; where some were missed, for that was too long ago, a gap first."""
        if self.bell is not None:
            self.bell.silence()
        with self._lock:
            with self._file.looking() as lane:
                is_another = lane.place.file != self._joined
                rows = lane.execute(sql.MESSAGES, (self._heard,)).fetchall()
            if is_another:  # there is a file in the place of the one that was listened to
                self._join()
                self.messages.append(GAP)
                return
            if rows and rows[0][0] > self._heard + 1:
                self.messages.append(GAP)
            for number, channel, data in rows:
                self._heard = number
                if self._listens_to(text_of(channel)):
                    self.messages.append(Message(text_of(channel), text_of(data)))

    def wait(self, seconds: float) -> None:
        """Wait until there may be something, or for some time."""
        if self.bell is None:
            time.sleep(seconds)
        elif not self.is_closed:  # or its last ring may have been silenced already
            self.bell.wait(seconds)

    def remove(self) -> None:
        """Let a wait end, and remove the row and the bell."""
        self.is_closed = True
        self._take_down()
        # a row that stays is removed by the next publisher, which finds that its bell is gone
        with contextlib.suppress(StorageError, ClientClosed):
            self._file.write(self._leave)

    def _take_down(self) -> None:
        if self.bell is not None:
            self.bell.take_down()

    def before_fork(self) -> None:
        """See ``ForkAware``."""

    def after_fork_in_parent(self) -> None:
        """See ``ForkAware``."""

    def after_fork_in_child(self) -> None:
        """See ``ForkAware``; it is the parent that listens."""
        self.is_closed = True
        if self.bell is not None:
            self.bell.leave_to_parent()


class SqliteSubscription(Subscription):
    """Messages of some channels, for one thread; another may close it."""

    def __init__(self, file: DatabaseFile, channels: tuple[str, ...]) -> None:
        self._ear = _Ear(file, channels)

    def get(self, timeout: float | None = None) -> Message | None:
        """See ``Subscription.get``."""
        ear = self._ear
        end = math.inf if timeout is None else time.monotonic() + timeout
        while not ear.is_closed:
            if not ear.messages:
                ear.listen()
            if ear.messages:
                return ear.messages.popleft()
            left = end - time.monotonic()
            if left <= 0:
                break
            ear.wait(min(left, ear.slice))
        return None

    def drain(self) -> list[Message]:
        """See ``Subscription.drain``."""
        self._ear.listen()
        messages = list(self._ear.messages)
        self._ear.messages.clear()
        return messages

    def close(self) -> None:
        """See ``Subscription.close``."""
        if not self._ear.is_closed:
            self._ear.remove()


class AsyncSqliteSubscription(AsyncSubscription):
    """
    As ``SqliteSubscription``, for the tasks of one loop; ``open`` makes one.

    It looks into the file in one of the storage's threads, and waits in the loop.
    """

    def __init__(self, threads: Threads, ear: _Ear) -> None:
        self._threads = threads
        self._ear = ear
        self._rung = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        if ear.bell is not None:
            self._loop.add_reader(ear.bell.fileno(), self._hear, ear.bell)

    @classmethod
    async def open(
        cls, threads: Threads, file: DatabaseFile, channels: tuple[str, ...]
    ) -> AsyncSqliteSubscription:
        """Subscribe."""
        return cls(threads, await threads.run(_Ear, file, channels))

    def _hear(self, bell: Bell) -> None:
        bell.silence()
        self._rung.set()

    async def get(self, timeout: float | None = None) -> Message | None:
        """See ``AsyncSubscription.get``."""
        ear = self._ear
        end = math.inf if timeout is None else self._loop.time() + timeout
        while not ear.is_closed:
            if not ear.messages:
                self._rung.clear()
                await self._threads.run(ear.listen)
            if ear.messages:
                return ear.messages.popleft()
            left = end - self._loop.time()
            if left <= 0:
                break
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._rung.wait(), min(left, ear.slice))
        return None

    async def close(self) -> None:
        """See ``AsyncSubscription.close``."""
        if self._ear.is_closed:
            return
        if self._ear.bell is not None:
            self._loop.remove_reader(self._ear.bell.fileno())
        self._ear.is_closed = True
        self._rung.set()
        # not in the storage's threads, for it may be closed already
        await asyncio.to_thread(self._ear.remove)
