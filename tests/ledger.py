# SPDX-License-Identifier: MIT
"""
A book in the store under test, in which jobs enter that they are at work.

It asks nothing of pyqless: by plain means of the store, an entry and the look at the job's lock are one transaction.
So it is known of each entry whether its run held the lock at that instant, and in which order entries were made.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Callable, Iterable
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeVar
from urllib.parse import urlsplit

import apsw
import msgpack
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

__all__ = ["Entry", "Ledger", "Run", "interleaved", "ledger"]

T = TypeVar("T")

#: seconds after which a store that is away is asked again
AGAIN: Final = 0.05


class Run(NamedTuple):
    """One run of a job, as the job knows it."""

    jid: str
    #: of this run alone
    name: str
    pid: int
    worker: str
    #: Unix time at which its lock began, seconds
    start: float

    @classmethod
    def of(cls, job: Any, heartbeat: float) -> Run:
        """The run that this is."""
        pid, start = os.getpid(), job.attempt.expires - heartbeat
        return cls(job.jid, f"{pid}-{uuid.uuid4().hex}", pid, job.attempt.worker, start)


class Entry(NamedTuple):
    """What a run has entered."""

    run: Run
    #: Unix time at which the lock would expire then, seconds
    end: float
    #: Unix time of the entry, seconds
    at: float
    #: whether it was this run's worker that held the lock, and the lock was valid
    holds: bool

    @classmethod
    def made(cls, run: Run, state: str, worker: str, expires: str) -> Entry:
        """An entry, and the job's fields as they stand in the store at that instant."""
        now, end = time.time(), float(expires or 0)
        holds = (state, worker) == ("running", run.worker) and run.start <= now < end
        return cls(run, end, now, holds)

    def to_text(self) -> str:
        return json.dumps(self)

    @classmethod
    def from_text(cls, text: str | bytes) -> Entry:
        run, *rest = json.loads(text)
        return cls(Run(*run), *rest)


class Ledger(Protocol):
    """The book."""

    def enter(self, run: Run) -> Entry:
        """Enter that a run is at work; waits for a store that is away."""

    def entries(self, jid: str) -> list[Entry]:
        """What was entered of a job, in the order of the store's transactions; waits likewise."""


def ledger(url: str) -> Ledger:
    """The book in a store."""
    return _InFile(url) if url.startswith("sqlite:") else _InRedis(url)


def interleaved(entries: Iterable[Entry]) -> bool:
    """
    Whether a job was run twice within a valid lock.

    The entries of a run that were made while it held the lock stand together: one that holds it after another run has
    held it, too, held it all the time between.
    """
    runs = [name for name, _ in groupby(entry.run.name for entry in entries if entry.holds)]
    return len(runs) > len(set(runs))


def _patiently(ask: Callable[[], T], *away: type[Exception]) -> T:
    """Ask a store until it is there; what it says then may come twice, which does no harm."""
    while True:
        try:
            return ask()
        except away:
            time.sleep(AGAIN)


class _InRedis:
    """A list for each job; WATCH makes the look and the entry one."""

    def __init__(self, url: str) -> None:
        self._url = url

    def _client(self) -> redis.Redis:
        # nothing is sent twice: a WATCH would be lost on the way
        return redis.Redis.from_url(self._url, decode_responses=True, retry=Retry(NoBackoff(), 0))

    def enter(self, run: Run) -> Entry:
        # a WatchError, where somebody was at the job at the same time, is among these
        return _patiently(lambda: self._entered(run), redis.RedisError)

    def _entered(self, run: Run) -> Entry:
        key = f"ql:j:{run.jid}"
        with self._client() as client, client.pipeline() as pipe:
            pipe.watch(key)
            entry = Entry.made(run, *pipe.hmget(key, "state", "worker", "expires"))
            pipe.multi()
            pipe.rpush(f"ledger:{run.jid}", entry.to_text())
            pipe.execute()
        return entry

    def entries(self, jid: str) -> list[Entry]:
        return _patiently(lambda: self._listed(jid), redis.RedisError)

    def _listed(self, jid: str) -> list[Entry]:
        with self._client() as client:
            return list(map(Entry.from_text, client.lrange(f"ledger:{jid}", 0, -1)))


class _InFile:
    """A table in a file beside the store's, written under the store's own lock for writing."""

    def __init__(self, url: str) -> None:
        self._path = urlsplit(url).path[1:]

    def enter(self, run: Run) -> Entry:
        return _patiently(lambda: self._entered(run), apsw.BusyError, apsw.LockedError)

    def _entered(self, run: Run) -> Entry:
        with closing(self._connection()) as connection, _writing(connection):
            found = connection.execute(
                "SELECT value FROM main.key WHERE name = ?", (f"ql:j:{run.jid}".encode(),)
            ).fetchone()
            fields = msgpack.unpackb(found[0]) if found else {}
            names = ("state", "worker", "expires")
            entry = Entry.made(run, *(fields.get(name, "") for name in names))
            connection.execute(
                "INSERT INTO book.entry (jid, text) VALUES (?, ?)", (run.jid, entry.to_text())
            )
            return entry

    def entries(self, jid: str) -> list[Entry]:
        return _patiently(lambda: self._listed(jid), apsw.BusyError, apsw.LockedError)

    def _listed(self, jid: str) -> list[Entry]:
        with closing(self._connection()) as connection:
            rows = connection.execute(
                "SELECT text FROM book.entry WHERE jid = ? ORDER BY id", (jid,)
            )
            return [Entry.from_text(row[0]) for row in rows]

    def _connection(self) -> apsw.Connection:
        connection = apsw.Connection(self._path)
        connection.set_busy_timeout(5000)
        connection.execute("ATTACH ? AS book", (str(Path(self._path).with_suffix(".ledger")),))
        connection.execute("PRAGMA synchronous = NORMAL")
        for row in connection.execute("PRAGMA book.journal_mode = WAL"):
            assert row == ("wal",)
        connection.execute(
            "CREATE TABLE IF NOT EXISTS book.entry (id INTEGER PRIMARY KEY, jid TEXT, text TEXT);"
            "CREATE INDEX IF NOT EXISTS book.entry_by_jid ON entry (jid)"
        )
        return connection


class _writing:  # noqa: N801 - as the function of contextlib that it stands for
    """A transaction that nobody else's write comes between."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        self._connection.execute("COMMIT" if kind is None else "ROLLBACK")
