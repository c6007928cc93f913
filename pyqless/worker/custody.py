# SPDX-License-Identifier: MIT
"""The heart of a worker with children: as ``keeper``, but in no thread, since a process with threads is not to fork."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from pyqless.client import Client
from pyqless.client.events import event_of
from pyqless.errors import StorageError
from pyqless.storage import Subscription
from pyqless.storage.channels import literal
from pyqless.worker.attempts import Attempt
from pyqless.worker.heartbeats import Heartbeats
from pyqless.worker.keeper import LOST_EVENTS, RESUBSCRIBE
from pyqless.worker.stopping import StopReason

__all__ = ["Custody"]

logger = logging.getLogger("pyqless.worker")


class Custody:
    """
    Keeps the locks of children.

    Args:
        listen: hear of lost locks by message; without, the next renewal tells.
    """

    def __init__(self, client: Client, *, listen: bool = True) -> None:
        self._client = client
        self._book = Heartbeats()
        #: by attempt and not by jid: one that is taken from a child stays with it until the child says so
        self._suspended: dict[Attempt, Callable[[], bool]] = {}
        # of all workers, and not of these children alone: users may have the right to a pattern, but to no narrower one
        self._pattern = literal(client.storage.keys.worker_channel("")) + "*"
        self._messages: Subscription | None = None
        self._subscribe_at = float("-inf") if listen else float("inf")

    def take(self, attempt: Attempt, suspended: Callable[[], bool]) -> None:
        """
        Keep a lock from now on.

        Args:
            suspended: whether the process that runs the job is stopped, or killed, so that the lock is to run out.
        """
        last = self._book.get(attempt.jid)
        if last is not None and last.worker != attempt.worker:
            last.stop(StopReason.LOST)  # another child has got the job, so this one's lock is gone
        self._book.add(attempt, self._now())
        self._suspended[attempt] = suspended

    def release(self, attempt: Attempt) -> None:
        """Keep it no longer."""
        self._book.remove(attempt)
        self._suspended.pop(attempt, None)

    def wait(self) -> float:
        """Seconds until a lock is to be renewed."""
        return self._book.wait(self._now())

    def keep(self, catch_up: Callable[[], None]) -> None:
        """
        Renew the locks that are due.

        Args:
            catch_up: hears what the children have said: a lock that is gone because its job has just ended is no loss.
        """
        self._listen()
        fault: StorageError | None = None
        for attempt in self._book.due(self._now()):
            # another's renewal may have caught up with the end of this one
            if not self._keeps(attempt) or self._suspended[attempt]():
                continue
            if fault is None:
                fault = self._renew(attempt, catch_up)
            else:  # the store is away, and is not waited for once for each
                self._book.failed(attempt, fault, self._now())

    def _renew(self, attempt: Attempt, catch_up: Callable[[], None]) -> StorageError | None:
        try:
            expires = self._client.storage.run(self._book.request(attempt))
        except Exception as error:  # noqa: BLE001 - whatever it is, the lock is to be renewed
            catch_up()
            if self._keeps(attempt):
                self._book.failed(attempt, error, self._now())
            return error if isinstance(error, StorageError) else None
        self._book.beaten(attempt, expires, self._now())
        return None

    def _keeps(self, attempt: Attempt) -> bool:
        return self._book.get(attempt.jid) is attempt

    def _now(self) -> float:
        return float(self._client.storage.clock())

    def _listen(self) -> None:
        """Hear what has been said of the children's jobs."""
        try:
            if self._messages is None and time.monotonic() >= self._subscribe_at:
                self._messages = self._client.storage.subscribe(self._pattern)
                self._book.hasten_all()
            while self._messages is not None and (message := self._messages.get(0)) is not None:
                event = event_of(self._client.storage.keys, message)
                if event.name in LOST_EVENTS and event.jid is not None:
                    self._book.hasten(event.jid)
        except StorageError as error:
            logger.info("no messages for now: %s", error)
            self.close()
            self._subscribe_at = time.monotonic() + RESUBSCRIBE

    def close(self) -> None:
        """Listen no longer."""
        messages, self._messages = self._messages, None
        if messages is not None:
            messages.close()
