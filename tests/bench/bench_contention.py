# SPDX-License-Identifier: MIT
"""
Many processes on one queue: pyqless beside the Lua core, in turns.

Who works, each on a database of its own, is told in ``crowd``. What came out of it is checked as well: no job goes to
two workers, and none goes past a ready one of higher priority.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from statistics import median
from typing import Final, NamedTuple

import pytest
import redis

from tests.bench.crowd import PRIORITIES, QUEUE, Crowd, Told, gather, named
from tests.bench.delay import delayed
from tests.bench.ground import FULL, Ground, quantile
from tests.bench.opening import KINDS
from tests.bench.order import passed
from tests.bench.seeding import copy_job, numbered
from tests.bench.tables import Cell, circumstances, show

ENTRIES: Final = ("pyqless", "raw socket")
ROUNDS: Final = 3 if FULL else 1
SECONDS: Final = 3.0 if FULL else 0.5
#: jobs of each priority that wait at the start
WAITING: Final = 400 if FULL else 40
#: the database in which jobs are made that are to be copied
WORKSHOP: Final = 15
#: one way, seconds
DELAY: Final = 0.001

CONSUMERS: Final = (1, 2, 4, 8, 16, 32) if FULL else (1, 4)
#: consumers and producers
MIXED: Final = ((2, 2), (8, 4), (16, 8)) if FULL else ((2, 1),)
FAR: Final = (1, 8, 32) if FULL else (2,)

COLUMNS: Final = (
    "processes",
    "core",
    "jobs/s",
    "of Lua's",
    "conflicts a job",
    "attempts a pop",
    "Jain's index",
    "pop p50, ms",
    "pop p99, ms",
    "past a higher",
    "given up",
    "server µs a job",
)


class Outcome(NamedTuple):
    """What one crowd did."""

    jobs_a_second: float
    conflicts_a_job: float
    attempts_a_pop: float
    #: 1: all workers had equally many jobs; 1/n: one had all
    fairness: float
    p50: float
    p99: float
    #: jobs that were handed out although one of higher priority was ready
    passed: int
    #: calls that met too many conflicts
    given_up: int
    #: microseconds of the server's CPU time
    cpu: float


@pytest.mark.bench
@pytest.mark.timeout(3600)
def test_workers_alone(ground: Ground) -> None:
    """Processes that pop and complete what waits."""
    crowds = [(str(count), count, 0) for count in CONSUMERS]
    compete(ground, ground.server.port, "Workers on one queue", crowds)


@pytest.mark.bench
@pytest.mark.timeout(3600)
def test_workers_beside_producers(ground: Ground) -> None:
    """Processes that put, and others that pop and complete."""
    crowds = [(f"{one} workers, {other} producers", one, other) for one, other in MIXED]
    compete(ground, ground.server.port, "Workers and producers on one queue", crowds)


@pytest.mark.bench
@pytest.mark.timeout(3600)
def test_workers_far_away(ground: Ground) -> None:
    """Processes that pop and complete what waits, behind a network."""
    crowds = [(str(count), count, 0) for count in FAR]
    with delayed(ground.server.port, DELAY) as port:
        compete(ground, port, f"Workers on one queue, {DELAY * 1000:g} ms away", crowds)


@pytest.mark.bench
def test_a_wrong_order_is_seen() -> None:
    """A job that is handed out past a ready one of higher priority is counted, and no other."""
    high, low = named(7, "a"), named(3, "b")
    put = Told(put=[(high, 0.0), (low, 0.0)])
    late = Told(popped=[(high, 4.0, 5.0)])
    assert passed([put, late, Told(popped=[(low, 2.0, 3.0)])], waiting=0) == 1
    assert passed([put, Told(popped=[(low, 2.0, 3.0)])], waiting=0) == 1
    assert passed([put, late, Told(popped=[(low, 2.0, 4.5)])], waiting=0) == 0
    assert passed([put, late, Told(popped=[(low, -1.0, 3.0)])], waiting=0) == 0
    assert passed([Told(popped=[(low, 2.0, 3.0)])], waiting=1) == 1


def compete(ground: Ground, port: int, title: str, crowds: Sequence[tuple[str, int, int]]) -> None:
    """Let crowds of each core work in turns, check what they did, and print it."""
    print("\n" + circumstances(ground.name))
    rows: list[list[Cell]] = []
    for name, workers, producers in crowds:
        outcomes: dict[str, list[Outcome]] = defaultdict(list)
        for number in range(ROUNDS):
            for at in range(len(ENTRIES)):
                kind = ENTRIES[(at + number) % len(ENTRIES)]
                crowd = Crowd(kind, f"redis://127.0.0.1:{port}/{at}", workers, producers, SECONDS)
                outcomes[kind].append(watch(ground, crowd, at))
        for kind in ENTRIES:
            rows.append(row(name, kind, outcomes[kind], outcomes[ENTRIES[1]]))
            assert not any(outcome.passed for outcome in outcomes[kind]), f"{kind}: wrong order"
            assert all(outcome.jobs_a_second > 0 for outcome in outcomes[kind])
    show(f"{title}: median of {ROUNDS} x {SECONDS:g} s", COLUMNS, rows)


def row(name: str, kind: str, own: Sequence[Outcome], lua: Sequence[Outcome]) -> list[Cell]:
    """A line of the table."""
    pairs = zip(own, lua, strict=True)
    ratio = median(one.jobs_a_second / other.jobs_a_second for one, other in pairs)
    rate, conflicts, attempts, fairness, p50, p99, *counts, cpu = (
        median(values) for values in zip(*own, strict=True)
    )
    tries: list[Cell] = [conflicts, attempts] if kind == "pyqless" else [None, None]
    fair = f"{fairness:.3f}"
    return [name, kind, rate, ratio, *tries, fair, p50, p99, *map(int, counts), cpu]


def watch(ground: Ground, crowd: Crowd, database: int) -> Outcome:
    """Let a crowd work from a fresh start."""
    waiting = 0 if crowd.producers else WAITING
    seed(ground, crowd.kind, database, waiting)
    before = ground.cpu()
    told = gather(crowd)
    cpu = (ground.cpu() - before) / 1000
    workers = told[: crowd.workers]
    jids = [jid for worker in workers for jid, _, _ in worker.popped]
    given_up = sum(worker.given_up for worker in workers)
    assert jids, f"{crowd.kind}: nothing is done"
    assert len(set(jids)) == len(jids), "a job went to two workers"
    assert completed(ground, database) >= len(jids) - given_up, "a job is lost"
    pops = [1000 * (end - start) for worker in workers for _, start, end in worker.popped]
    calls = len(pops) + sum(worker.empty for worker in workers)
    return Outcome(
        jobs_a_second=len(jids) / crowd.seconds,
        conflicts_a_job=sum(each.conflicts for each in told) / len(jids),
        attempts_a_pop=sum(worker.attempts for worker in workers) / calls,
        fairness=jain([len(worker.popped) for worker in workers]),
        p50=quantile(pops, 0.5),
        p99=quantile(pops, 0.99),
        passed=passed(told, waiting),
        given_up=given_up,
        cpu=cpu / len(jids),
    )


def seed(ground: Ground, kind: str, database: int, count: int) -> None:
    """Let so many jobs of each priority wait, in an otherwise empty database."""
    with (
        redis.Redis.from_url(ground.url(database)) as place,
        redis.Redis.from_url(ground.url(WORKSHOP)) as workshop,
    ):
        place.flushdb()
        workshop.flushdb()
        core = KINDS[kind](ground.url(WORKSHOP))
        for rank in range(PRIORITIES if count else 0):
            jid = named(rank, "0" * 30)
            core.put(QUEUE, {"a": 1}, jid=jid, priority=rank)
            copy_job(workshop, jid, numbered(jid, count), place)
            core.send("cancel", repr(time.time()), jid)
        core.close()


def completed(ground: Ground, database: int) -> int:
    """How many jobs the store has as completed."""
    with redis.Redis.from_url(ground.url(database)) as client:
        return int(client.zcard("ql:completed"))


def jain(shares: Sequence[int]) -> float:
    """Jain's index of how equal shares are."""
    return sum(shares) ** 2 / (len(shares) * sum(share * share for share in shares))
