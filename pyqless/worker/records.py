# SPDX-License-Identifier: MIT
"""What a worker tells of itself: for people who look at the command line or the web, and for the janitor."""

from __future__ import annotations

import json
import logging
import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from pyqless.client import AsyncClient, Client, checks
from pyqless.core import presence
from pyqless.core.effects import Factory, Transition
from pyqless.core.presence import Presence
from pyqless.core.transaction import Transaction
from pyqless.errors import QlessError, StoreUnsupported
from pyqless.storage import AsyncStorage, Storage
from pyqless.worker.attempts import Attempt
from pyqless.worker.waiting import is_refusal

__all__ = ["JobInHand", "Teller", "WorkerRecord", "quietly", "read", "records", "records_async"]

logger = logging.getLogger("pyqless.worker")

#: seconds between two words of a worker
PERIOD: Final = 10.0

#: seconds that a worker has at its end to take back what it has told
FAREWELL: Final = 1.0

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
    """
    What all workers of pyqless have told last, the last word first; those that make no sense are left out.

    Raises:
        InvalidArgument: the client is one for asyncio, see ``records_async``.
    """
    storage = checks.instance("client", client, Client).storage
    return _records(storage.run(presence.present))


async def records_async(client: AsyncClient) -> list[WorkerRecord]:
    """As ``records``, for asyncio."""
    storage = checks.instance("client", client, AsyncClient).storage
    return _records(await storage.run(presence.present))


def _records(words: Iterable[Presence]) -> list[WorkerRecord]:
    return [record for record in map(read, words) if record is not None]


def read(word: Presence) -> WorkerRecord | None:
    """The record that is in a word; None if it makes no sense."""
    try:
        fields: dict[str, Any] = {name: json.loads(text) for name, text in word.fields.items()}
        fields["jobs"] = [JobInHand(**job) for job in fields["jobs"]]
        return WorkerRecord(name=word.name, seen=word.seen, **fields)
    except (ValueError, TypeError, KeyError):
        return None


class Teller:
    """
    What a worker has to tell, now and then; whoever runs it, blocking or not, tells it.

    Args:
        name: of the worker.
        attempts: gives what it has in hand.
        paused: whether it is paused.
        monotonic: a clock that never goes back, seconds.
    """

    def __init__(
        self,
        storage: Storage | AsyncStorage,
        name: str,
        kind: str,
        queues: Iterable[str],
        attempts: Callable[[], Iterable[Attempt]],
        paused: Callable[[], bool],
        *,
        pid: int | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._storage = storage
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
            "started": float(storage.clock()),
            "period": PERIOD,
        }

    def word(self) -> Factory[None] | None:
        """
        What is to be told now: when it is time, or something has changed, but a second after the last word at least.

        The first word is published, too: a store that lets nobody do that would refuse the end of each job.
        """
        now = self._monotonic()
        if now < self._next - PERIOD + 1.0:
            return None
        fields = self._fields()
        if now < self._next and fields == self._told:
            return None
        is_first = not self._told
        self._next, self._told = now + PERIOD, fields
        word = partial(presence.announce, worker=self._name, fields=fields)
        return partial(_aloud, word, worker=self._name) if is_first else word

    def last_word(self) -> Factory[None]:
        """What takes back all that was told; see ``presence.withdraw``."""
        return partial(presence.withdraw, worker=self._name)

    def _fields(self) -> dict[str, str]:
        jobs = [_shown(attempt) for attempt in self._attempts()]
        told = {**self._constant, "is_paused": self._paused(), "jobs": jobs}
        return {name: json.dumps(value) for name, value in told.items()}


@contextmanager
def quietly(*, at_first: bool = False) -> Iterator[None]:
    """
    Go on where the store does not hear of a worker.

    Args:
        at_first: but let a refusal through.

    Raises:
        StorageError: the refusal.
    """
    try:
        yield
    except QlessError as error:
        if at_first and is_refusal(error):
            raise _explained(error) from error
        logger.debug("nobody hears of this worker: %s", error)


def _aloud(word: Factory[None], tx: Transaction, worker: str) -> Transition[None]:
    yield from word(tx)
    tx.publish(presence.record_key(tx.keys, worker), "")


def _explained(error: QlessError) -> QlessError:
    """A refusal, with what helps where a user has all rights but those to channels, as new users of Redis 7 do."""
    if error.argument != "PUBLISH":
        return error
    text = (
        "the store lets this user publish nothing, and no job can be ended without:"
        f" give it the right to channels that `pyqless doctor --acl worker` prints, such as &ql:* ({error})"
    )
    return StoreUnsupported(text, argument="PUBLISH", value=error.value)


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
