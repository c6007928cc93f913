# SPDX-License-Identifier: MIT
"""
When locks are to be renewed, and what becomes of a job whose lock is not.

No clock and no store here: threads, asyncio and the parent of forked children each drive this book.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from pyqless.core import locks
from pyqless.core.effects import Factory
from pyqless.errors import JobLost, JobNotFound, NotRunning, QlessError
from pyqless.worker.attempts import Attempt
from pyqless.worker.stopping import StopReason

__all__ = ["Heartbeats"]

logger = logging.getLogger("pyqless.worker")

#: the part of a lock's time after which it is renewed: two renewals may fail before it expires
SHARE: Final = 1 / 3

#: seconds between two tries of a renewal that the store did not answer
AGAIN: Final = 1.0

#: seconds between two renewals at least
LEAST: Final = 0.05


@dataclass(slots=True)
class _Entry:
    attempt: Attempt
    due: float


class Heartbeats:
    """The attempts whose locks are renewed."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Attempt]:
        return iter([entry.attempt for entry in list(self._entries.values())])

    def get(self, jid: str) -> Attempt | None:
        """The attempt at a job, if there is one."""
        entry = self._entries.get(jid)
        return None if entry is None else entry.attempt

    def add(self, attempt: Attempt, now: float) -> None:
        """Renew an attempt's lock from now on."""
        self._entries[attempt.jid] = _Entry(attempt, _next(attempt.expires, now))

    def remove(self, attempt: Attempt) -> None:
        """Renew it no longer."""
        entry = self._entries.get(attempt.jid)
        if entry is not None and entry.attempt is attempt:
            del self._entries[attempt.jid]

    def hasten(self, jid: str) -> None:
        """Renew a lock at once: there is word that it may be lost, and the store knows whether it is."""
        if (entry := self._entries.get(jid)) is not None:
            entry.due = -math.inf

    def hasten_all(self) -> None:
        """Renew all locks at once: nobody has listened for a while, and there may have been word of any."""
        for entry in list(self._entries.values()):
            entry.due = -math.inf

    def wait(self, now: float) -> float:
        """Seconds until something is to be done; infinite if nothing is."""
        entries = list(self._entries.values())
        moments = [entry.due for entry in entries]
        moments += [
            entry.attempt.deadline
            for entry in entries
            if entry.attempt.deadline is not None and entry.attempt.stopped is None
        ]
        return max(0.0, min(moments, default=math.inf) - now)

    def due(self, now: float) -> list[Attempt]:
        """The attempts whose locks are to be renewed now; those that have run for too long are stopped."""
        entries = list(self._entries.values())
        for attempt in (entry.attempt for entry in entries):
            if attempt.deadline is not None and attempt.deadline <= now:
                attempt.stop(StopReason.TIME_LIMIT)
        return [entry.attempt for entry in entries if entry.due <= now]

    @staticmethod
    def request(attempt: Attempt) -> Factory[float]:
        """Renew a lock; the job's data, which the job may be changing right now, is left alone."""
        return partial(locks.heartbeat, jid=attempt.jid, worker=attempt.worker)

    def beaten(self, attempt: Attempt, expires: float, now: float) -> None:
        """A lock was renewed."""
        attempt.expires = expires
        self._postpone(attempt, _next(expires, now))

    def failed(self, attempt: Attempt, error: Exception, now: float) -> None:
        """A lock was not renewed: it is lost, or has expired, or there is time to try again."""
        fault = None if isinstance(error, QlessError) else error
        is_gone = isinstance(error, JobNotFound | JobLost | NotRunning)
        if attempt.settling and (is_gone or now >= attempt.expires):
            self.remove(attempt)  # whoever tells its end hears of it
        elif isinstance(error, JobNotFound):
            self._lose(attempt, StopReason.CANCELED, error)
        elif is_gone or now >= attempt.expires:
            self._lose(attempt, StopReason.LOST, error)
        else:
            text = "job %s: its lock was not renewed: %s"
            logger.warning(text, attempt.jid, error, exc_info=fault, extra=attempt.fields)
            left = attempt.expires - now
            self._postpone(attempt, now + min(AGAIN, max(LEAST, left / 3)))

    def _lose(self, attempt: Attempt, reason: StopReason, error: Exception) -> None:
        text = "job %s is to end (%s): %s"
        logger.warning(text, attempt.jid, reason, error, extra=attempt.fields)
        self.remove(attempt)
        attempt.stop(reason)

    def _postpone(self, attempt: Attempt, due: float) -> None:
        entry = self._entries.get(attempt.jid)
        if entry is not None and entry.attempt is attempt:
            entry.due = due


def _next(expires: float, now: float) -> float:
    return now + max(LEAST, (expires - now) * SHARE)
