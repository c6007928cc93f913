# SPDX-License-Identifier: MIT
"""What a worker tells of itself: for people who look at the command line or the web, and for the janitor."""

from __future__ import annotations

import json
import logging
import os
import socket
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from pyqless.client import Client
from pyqless.core import presence
from pyqless.core.presence import Presence
from pyqless.errors import QlessError
from pyqless.worker.attempts import Attempt

__all__ = ["JobInHand", "Teller", "WorkerRecord", "records"]

logger = logging.getLogger("pyqless.worker")

#: seconds between two words of a worker
PERIOD: Final = 10.0

#: so many periods without a word, and a worker counts as dead
MISSED: Final = 4


@dataclass(frozen=True, slots=True)
class JobInHand:
    """A job that a worker runs."""

    jid: str
    klass: str
    queue: str
    #: Unix time, seconds
    began: float
    progress: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRecord:
    """What a worker has told last."""

    name: str
    kind: str
    queues: list[str]
    host: str
    pid: int
    version: str
    #: Unix time, seconds
    started: float
    #: Unix time of its last word, seconds
    seen: float
    #: seconds between two words
    period: float
    is_paused: bool
    jobs: list[JobInHand]

    def is_fresh(self, now: float) -> bool:
        """Whether it has told anything lately."""
        return now - self.seen <= MISSED * self.period


def records(client: Client) -> list[WorkerRecord]:
    """What all workers of pyqless have told last, the last word first; those that make no sense are left out."""
    found = (_read(word) for word in client.storage.run(presence.present))
    return [record for record in found if record is not None]


def _read(word: Presence) -> WorkerRecord | None:
    try:
        fields: dict[str, Any] = {name: json.loads(text) for name, text in word.fields.items()}
        fields["jobs"] = [JobInHand(**job) for job in fields["jobs"]]
        return WorkerRecord(name=word.name, seen=word.seen, **fields)
    except (ValueError, TypeError, KeyError):
        return None


class Teller:
    """
    Tells of a worker, now and then.

    Args:
        name: of the worker.
        attempts: gives what it has in hand.
        paused: whether it is paused.
        monotonic: a clock that never goes back, seconds.
    """

    def __init__(
        self,
        client: Client,
        name: str,
        kind: str,
        queues: Iterable[str],
        attempts: Callable[[], Iterable[Attempt]],
        paused: Callable[[], bool],
        *,
        pid: int | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._name = name
        self._attempts = attempts
        self._paused = paused
        self._monotonic = monotonic
        self._next = float("-inf")
        self._told: dict[str, str] = {}
        self._constant = {
            "kind": kind,
            "queues": list(queues),
            "host": socket.gethostname(),
            "pid": os.getpid() if pid is None else pid,
            "version": _version(),
            "started": float(client.storage.clock()),
            "period": PERIOD,
        }

    def tell(self) -> None:
        """Tell if it is time, or something has changed a second ago or more; a store that is away is not waited for."""
        now = self._monotonic()
        if now < self._next - PERIOD + 1.0:
            return
        fields = self._fields()
        if now < self._next and fields == self._told:
            return
        self._next, self._told = now + PERIOD, fields
        try:
            self._client.storage.run(partial(presence.announce, worker=self._name, fields=fields))
        except QlessError as error:
            logger.debug("nobody hears of this worker: %s", error)

    def end(self) -> None:
        """Take back all that was told, and strike the worker from the list of known ones."""
        try:
            self._client.storage.run(partial(presence.withdraw, worker=self._name))
        except QlessError as error:
            logger.info("worker %s stays on the list: %s", self._name, error)

    def _fields(self) -> dict[str, str]:
        jobs = [_shown(attempt) for attempt in self._attempts()]
        told = {**self._constant, "is_paused": self._paused(), "jobs": jobs}
        return {name: json.dumps(value) for name, value in told.items()}


def _shown(attempt: Attempt) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "jid": attempt.jid,
        "klass": attempt.klass,
        "queue": attempt.queue,
        "began": attempt.began,
    }
    if (progress := attempt.progress) is not None:
        shown["progress"] = {
            "done": progress.done,
            "total": progress.total,
            "note": progress.note,
        }
    return shown


def _version() -> str:
    from pyqless import __version__  # noqa: PLC0415 - the package imports the client, not the workers

    return __version__
