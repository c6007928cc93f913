# SPDX-License-Identifier: MIT
"""
The kill run: workers and children killed and stopped in the middle of jobs that do their worst, and the store away.

Nothing is lost, and no job is run twice within a valid lock: see ``tests.ledger`` for how that is decided.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any, Final

import apsw
import pytest

from pyqless import Client
from pyqless.core.effects import Transition
from pyqless.core.transaction import Transaction
from tests.killing_jobs import HARM, HEARTBEAT
from tests.ledger import Entry, Run, interleaved, ledger
from tests.servers import Kind, Server
from tests.sqlite_files import problems, url_of
from tests.workers import Worker, is_alive, until

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at /proc"),
    pytest.mark.timeout(3600),
]

#: seconds within which some jobs come through, whatever has just happened
PATIENCE: Final = 120.0

#: how often jobs do what, one to the other: most work a little, and few take seconds
WEIGHTS: Final = {name: {"steps": 60.0, "outlasts": 0.5}.get(name, 5.0) for name in HARM}

ARGUMENTS: Final = (
    *("-m", "tests.killing_jobs", "--kind", "forking", "-c", "2"),
    *("--max-memory", "120", "--grace", "1"),
)


class Fleet:
    """
    Two workers, each with two children, that are replaced when they end.

    Args:
        url: of the store.
        away: takes the store away until it is told to give it back, by leaving the context.
        drawn: draws whom it hits.
    """

    def __init__(
        self, url: str, away: Callable[[], Any], drawn: random.Random, stack: ExitStack
    ) -> None:
        self._url = url
        self._away = away
        self._drawn = drawn
        self._stack = stack
        self.workers = [self._start(), self._start()]

    def _start(self) -> Worker:
        return self._stack.enter_context(Worker(self._url, "q", *ARGUMENTS))

    def _any(self) -> int:
        return self._drawn.randrange(len(self.workers))

    def _child(self) -> int:
        worker = self.workers[self._any()]
        until(lambda: worker.children() or worker.process.poll() is not None, "children", PATIENCE)
        assert worker.process.poll() is None, worker.log()[-3000:]
        children: list[int] = until(worker.children, "children", PATIENCE)
        return self._drawn.choice(children)

    def _end(self, number: int) -> None:
        at = self._any()
        worker = self.workers[at]
        worker.signal(number)
        worker.end()
        worker.__exit__()
        self.workers[at] = self._start()

    # -- what happens to them -----------------------------------------------------------------

    def kill_a_child(self) -> None:
        os.kill(self._child(), signal.SIGKILL)

    def kill_a_worker(self) -> None:
        self._end(signal.SIGKILL)

    def end_a_worker(self) -> None:
        self._end(signal.SIGTERM)

    def stop_a_child(self) -> None:
        _stop_past_the_lock(self._child())

    def stop_a_worker(self) -> None:
        _stop_past_the_lock(self.workers[self._any()].process.pid)

    def take_the_store_away(self) -> None:
        """Until each worker has noticed."""
        noticed = [worker.log().count(_NOTICED) for worker in self.workers]
        with self._away():
            for worker, before in zip(self.workers, noticed, strict=True):
                until(partial(_has_noticed, worker, before), worker.log()[-2000:], PATIENCE)

    @property
    def events(self) -> list[Callable[[], None]]:
        """All that can happen, in an order drawn anew."""
        events = [
            *(self.kill_a_child, self.kill_a_worker, self.end_a_worker),
            *(self.stop_a_child, self.stop_a_worker, self.take_the_store_away),
        ]
        self._drawn.shuffle(events)
        return events


#: what children log when they get no jobs
_NOTICED: Final = "no jobs for now"


def _has_noticed(worker: Worker, before: int) -> bool:
    return worker.log().count(_NOTICED) > before


def _stop_past_the_lock(pid: int) -> None:
    """Stop a process until others may have its jobs, or until its parent has killed it for that."""
    end = time.monotonic() + HEARTBEAT + 1
    os.kill(pid, signal.SIGSTOP)
    until(lambda: time.monotonic() > end or not is_alive(pid), patience=PATIENCE)
    if is_alive(pid):
        os.kill(pid, signal.SIGCONT)


# -- the stores -------------------------------------------------------------------------------


@pytest.fixture(params=["redis", "sqlite"])
def store(
    request: pytest.FixtureRequest, tmp_path: Path
) -> tuple[str, Callable[[], Any], Callable[[], object]]:
    """Give the URL of a store, what takes it away for a while, and what looks at it in the end."""
    if request.param == "sqlite":
        path = tmp_path / "jobs.db"
        url = url_of(path, synchronous="normal", timeout=2)
        return url, partial(_locked, path), lambda: problems(path)
    kind: Kind = request.getfixturevalue("one_kind")
    keeps = ("--appendonly", "yes", "--appendfsync", "everysec")
    server = request.getfixturevalue("start_server")(kind, extra_args=keeps)
    return server.url, partial(_killed, server), list


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a file's lock for writing, as another program might."""
    with closing(apsw.Connection(str(path))) as connection:
        connection.set_busy_timeout(60_000)
        connection.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def _killed(server: Server) -> Iterator[None]:
    """Kill a server that writes down all it does, and start it again on what it has written."""
    server.process.kill()
    server.process.wait()
    yield
    with (server.directory / "log").open("ab") as log:
        server.process = subprocess.Popen(server.process.args, stdout=log, stderr=log)


# -- the run ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("total", "stride"),
    [(300, 20), pytest.param(10_000, 200, marks=pytest.mark.soak)],
    ids=["short", "soak"],
)
def test_nothing_is_lost_and_no_job_is_run_twice_within_a_valid_lock(
    store: tuple[str, Callable[[], Any], Callable[[], list[str]]], total: int, stride: int
) -> None:
    url, away, faults = store
    drawn = random.Random(total)
    jids = [f"J{number}" for number in range(total)]
    with Client(url) as client:
        _put(client, jids, drawn)
        with ExitStack() as stack:
            fleet = Fleet(url, away, drawn, stack)
            happened = _rage(client, fleet, total, stride, drawn)
            ended = [_end(worker) for worker in fleet.workers]
            logs = [worker.log()[-3000:] for worker in fleet.workers]
        assert set(happened) == {event.__name__ for event in fleet.events}
        # a run that has lost its job may be cut off after all are done
        assert set(ended) <= {0, 4}, logs
        assert _completed(client) == total
        assert sum(sum(counts[1:7]) for counts in client.queues.counts()) == 0
        runs = sum(_check(client, url, jid) for jid in jids)
        assert runs > total
        print(f"{total} jobs, {runs} runs, {dict(happened)}")
    assert faults() == []


def _put(client: Client, jids: list[str], drawn: random.Random) -> None:
    client.config["heartbeat"] = HEARTBEAT
    client.config["grace-period"] = 0
    client.config["max-job-history"] = 10_000
    harms = drawn.choices(list(WEIGHTS), list(WEIGHTS.values()), k=len(jids))
    for jid, harm in zip(jids, harms, strict=True):
        data = {"harm": harm, "store": client.storage.url}
        client.queues["q"].put("tests.killing_jobs.work", data, jid=jid, retries=1000)


def _rage(
    client: Client, fleet: Fleet, total: int, stride: int, drawn: random.Random
) -> Counter[str]:
    """Let one thing after another happen while jobs are done."""
    happened: Counter[str] = Counter()
    events = cycle(fleet.events)
    while (done := _completed(client)) < total:
        enough = min(total, done + drawn.randrange(1, stride))
        until(lambda: _failed(client) or _completed(client) >= enough, "work", PATIENCE)  # noqa: B023
        assert _failed(client) == []
        if enough < total:
            event = next(events)
            event()
            happened[event.__name__] += 1
    return happened


def _completed(client: Client) -> int:
    def count(tx: Transaction) -> Transition[int]:
        (number,) = yield from tx.snapshot(("ZCARD", tx.keys.completed))
        return int(number)

    return client.storage.run(count)


def _failed(client: Client) -> list[str]:
    """How each job that failed did so; none should."""
    groups = client.jobs.failed()
    return [str(job.failure) for group in groups for job in client.jobs.failed(group, 0, 9).jobs]


def _end(worker: Worker) -> int:
    until(lambda: "begins with" in worker.log(), "it takes signals")
    worker.signal(signal.SIGTERM)
    return worker.end()


def _check(client: Client, url: str, jid: str) -> int:
    """Look at what has become of a job; gives how often it was run."""
    entries = ledger(url).entries(jid)
    assert any(entry.holds for entry in entries), (jid, entries)
    assert not interleaved(entries), (jid, entries)
    history = client.jobs[jid].history
    whats = Counter(entry["what"] for entry in history)
    assert (whats["put"], whats["done"]) == (1, 1), history
    popped = Counter(entry["worker"] for entry in history if entry["what"] == "popped")
    runs = {entry.run.name: entry.run for entry in entries}
    assert Counter(run.worker for run in runs.values()) <= popped, history
    assert not any(is_alive(run.pid) for run in runs.values())
    return len(runs)


# -- the judge itself -------------------------------------------------------------------------


def _entries(*told: tuple[str, bool]) -> list[Entry]:
    return [Entry(Run("J", name, 1, "w", 0.0), 9.0, 1.0, holds) for name, holds in told]


@pytest.mark.parametrize(
    ("told", "verdict"),
    [
        ([("a", True), ("a", True), ("b", True)], False),
        ([("a", True), ("b", True), ("a", False)], False),
        ([("a", True), ("b", False), ("a", True)], False),
        ([("a", True), ("b", True), ("a", True)], True),
    ],
    ids=["one after the other", "late and refused", "early and refused", "both at once"],
)
def test_what_counts_as_run_twice(told: list[tuple[str, bool]], *, verdict: bool) -> None:
    assert interleaved(_entries(*told)) is verdict
