# SPDX-License-Identifier: MIT
"""
Waiting for jobs: which messages wake, and until when to sleep. No I/O; both clients wait by it.

Idle, a client looks once every interval with four single reads for each queue. The interval is 5 seconds a queue
unless set, so that is less than one command a second.
"""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Iterable, Iterator
from functools import partial
from threading import TIMEOUT_MAX
from typing import Any, Final

from pyqless.client import checks
from pyqless.client.checks import Span
from pyqless.core import waking
from pyqless.core.effects import Factory
from pyqless.core.keys import Keys
from pyqless.core.waking import Outlook
from pyqless.errors import NotReplicated
from pyqless.storage import Message
from pyqless.storage.channels import literal

__all__ = [
    "AGAIN",
    "INTERVAL",
    "Waiting",
    "at_most",
    "end_of",
    "read",
    "seconds",
    "slices",
    "still_handed",
]

#: seconds between two looks, for each queue
INTERVAL: Final = 5.0

#: seconds to the next try to listen to a store that was away
AGAIN: Final = 0.5

#: seconds after which who waits for an event looks whether the client was closed
_SLICE: Final = 1.0

#: what the log channel says when a job comes into a queue, and where it names the queue
_ARRIVALS: Final = {"put": "queue", "advanced": "to"}

#: what it says when a running job makes room for another
_ENDS: Final = ("completed", "advanced", "failed", "canceled", "lock_lost")

_SETTINGS: Final = ("config_set", "config_unset")


def still_handed(error: NotReplicated) -> Any:
    """The jobs that were handed out, though no replica knows of it: who leaves them would only lose time."""
    logging.getLogger("pyqless").warning("jobs are in hand: %s", error)
    return error.result


class Waiting:
    """
    What somebody knows who waits for jobs of some queues.

    Args:
        interval: seconds, or a timedelta, between two looks; None for the usual.
    """

    def __init__(self, keys: Keys, queues: Iterable[str], interval: Span | None) -> None:
        self._keys = keys
        self.queues = checks.names("queues", queues, least=1)
        self.interval = (
            INTERVAL * len(self.queues)
            if interval is None
            else checks.positive_span("interval", interval)
        )
        self._tried_at = 0.0
        #: whether something may have changed since, without a message
        self._rested = False
        #: the queues in which the end of a job may make room for another; None: to be asked again
        self._limited: set[str] | None = None

    @property
    def channels(self) -> list[str]:
        """Where that is told which wakes, as patterns."""
        names = [self._keys.channel("log"), *map(self._keys.wake, self.queues)]
        return [literal(name) for name in names]

    def questions(self) -> list[tuple[str, Factory[bool]]]:
        """What is to be asked about the queues, once, and again after a setting has changed."""
        if self._limited is not None:
            return []
        return [(name, partial(waking.is_limited, queue=name)) for name in self.queues]

    def learn(self, answers: list[tuple[str, bool]]) -> None:
        """Note the answers, if there was anything to ask."""
        if answers:
            self._limited = {name for name, limited in answers if limited}

    def looks(self) -> list[Factory[Outlook]]:
        """One look at each queue."""
        return [partial(waking.outlook, queue=name) for name in self.queues]

    def tried(self, now: float) -> None:
        """Note that jobs are asked for at a moment, Unix time in seconds."""
        self._tried_at = now

    def rest(self, outlooks: list[Outlook], now: float) -> float | None:
        """
        For how many seconds to sleep at most; None if jobs should be asked for at once.

        What was there, or due, when they were asked for in vain is not to be had, such as jobs above a limit.
        """
        dues = [outlook.due for outlook in outlooks if outlook.due > self._tried_at]
        is_late = any(due <= now for due in dues)
        if is_late or (self._rested and any(outlook.ready for outlook in outlooks)):
            self._rested = False
            return None
        return min([self.interval, *(due - now for due in dues)])

    def slept(self, *, woken: bool) -> bool:
        """Note how a sleep ended, and give that."""
        self._rested = not woken
        return woken

    def wakes(self, message: Message) -> bool:
        """Whether a message says that there may be something to do."""
        if message.channel != self._keys.channel("log"):
            return True
        told = read(message.data)
        event = told.get("event")
        if event in _SETTINGS:
            self._limited = None
            return str(told.get("option")).endswith("-max-concurrency")
        if told.get(_ARRIVALS.get(str(event), "")) in self.queues:
            return True
        # who loses a lock is told, but not where
        ended_in = self.queues if event == "lock_lost" else [told.get("queue")]
        return event in _ENDS and not (self._limited or set()).isdisjoint(ended_in)


def read(text: str) -> dict[str, Any]:
    """What a message of the log channel says; nothing where it makes no sense."""
    try:
        told = json.loads(text)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def at_most(timeout: Span | None) -> float | None:
    """For how many seconds to wait: for ever for None, and for what is longer than the system can."""
    if timeout is None:
        return None
    longest = seconds(timeout)
    return None if longest > TIMEOUT_MAX else longest


def seconds(timeout: Span | None) -> float:
    """For how many seconds to wait: not at all for None."""
    if timeout is None:
        return 0.0
    if timeout == math.inf:
        return math.inf
    return checks.span("timeout", timeout)


def slices(timeout: float | None) -> Iterator[float]:
    """Parts of a wait, seconds, after each of which one may look whether it is over: one at least, without end for None."""
    end = math.inf if timeout is None else time.monotonic() + timeout
    while True:
        left = end - time.monotonic()
        yield max(0.0, min(left, _SLICE))
        if left <= _SLICE:
            return


def end_of(timeout: Span | None) -> float:
    """When a wait that begins now ends, by the monotonic clock: never for None."""
    return time.monotonic() + (math.inf if timeout is None else seconds(timeout))
