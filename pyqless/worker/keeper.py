# SPDX-License-Identifier: MIT
"""The heart of a worker with threads: renews locks, and hears of lost ones, beside the threads that run jobs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final, Protocol

from pyqless.client import Client, Events
from pyqless.errors import StorageError
from pyqless.worker.attempts import Attempt
from pyqless.worker.heartbeats import Heartbeats
from pyqless.worker.steady import Steady

__all__ = ["LOST_EVENTS", "Keeper", "ThreadKeeper"]

logger = logging.getLogger("pyqless.worker")

#: what a worker is told about its jobs: each is a reason to ask the store
LOST_EVENTS: Final = frozenset({"lock_lost", "canceled", "put"})

#: seconds after which the heart looks around, whatever it waits for
TICK: Final = 0.25

#: seconds that the heart has to come to its end
LAST_BEAT: Final = 1.0

#: seconds after which a subscription that broke is tried again
RESUBSCRIBE: Final = 5.0


class Keeper(Protocol):
    """Whoever renews locks."""

    def watch(self, attempt: Attempt) -> None:
        """Renew the lock from now on, and stop the attempt when it is lost or has run for too long."""

    def unwatch(self, attempt: Attempt) -> None:
        """The attempt has ended."""


def _nothing() -> None:
    """Do nothing."""


class ThreadKeeper:
    """
    A thread that renews locks; it starts with the first attempt.

    Args:
        client: in whose name jobs are popped.
        listen: hear of lost locks by message; without, the next renewal tells.
        on_tick: called a few times a second while anything is in hand.
    """

    def __init__(
        self, client: Client, *, listen: bool = True, on_tick: Callable[[], None] = _nothing
    ) -> None:
        self._client = client
        self._on_tick = on_tick
        self._book = Heartbeats()
        self._change = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None
        self._events: Events | None = None
        self._subscribe_at = 0.0 if listen else float("inf")
        self._steady = Steady("the heart of this worker")

    @property
    def attempts(self) -> list[Attempt]:
        """What is in hand."""
        return list(self._book)

    def watch(self, attempt: Attempt) -> None:
        """See ``Keeper.watch``."""
        with self._change:
            self._book.add(attempt, self._now())
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="pyqless-heart", daemon=True)
                self._thread.start()
            self._change.notify()

    def unwatch(self, attempt: Attempt) -> None:
        """See ``Keeper.unwatch``."""
        with self._change:
            self._book.remove(attempt)

    def close(self) -> None:
        """Renew nothing any more."""
        with self._change:
            self._closed = True
            self._change.notify()
        if self._thread is not None:
            self._thread.join(LAST_BEAT)
            if self._thread.is_alive():
                return  # it waits for a store that does not answer, and ends with that
        self._unsubscribe()

    def _now(self) -> float:
        return float(self._client.storage.clock())

    # -- in the thread ------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._closed:
            with self._steady:
                for attempt in self._due():
                    self._beat(attempt)
            with self._steady:
                self._on_tick()
            with self._steady:
                self._listen(min(TICK, self._book.wait(self._now())))

    def _due(self) -> list[Attempt]:
        """Wait until there is something in hand, and give what is to be renewed."""
        with self._change:
            while not self._book and not self._closed:
                self._change.wait()
            return self._book.due(self._now())

    def _beat(self, attempt: Attempt) -> None:
        try:
            expires = self._client.storage.run(self._book.request(attempt))
        except Exception as error:  # noqa: BLE001 - whatever it is, the lock is to be renewed
            self._book.failed(attempt, error, self._now())
        else:
            self._book.beaten(attempt, expires, self._now())

    def _listen(self, seconds: float) -> None:
        """Wait, and hear what is said meanwhile."""
        try:
            if self._events is None and self._now() >= self._subscribe_at:
                self._events = self._client.events("worker")
                self._book.hasten_all()
                return
            if self._events is not None:
                event = self._events.get(seconds)
                if event is not None and event.name in LOST_EVENTS and event.jid is not None:
                    self._book.hasten(event.jid)
                return
        except StorageError as error:
            logger.info("no messages for now: %s", error)
            self._unsubscribe()
            self._subscribe_at = self._now() + RESUBSCRIBE
        with self._change:
            if not self._closed:
                self._change.wait(seconds)

    def _unsubscribe(self) -> None:
        events, self._events = self._events, None
        if events is not None:
            events.close()
