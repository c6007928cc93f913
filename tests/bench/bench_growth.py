# SPDX-License-Identifier: MIT
"""
What large numbers cost: many jobs waiting, depending, due, expiring or lost, all of them copies of one.

Beside the time of the call stands what the server says of its commands: how many there were, and how long the longest
held it. Nobody else is served meanwhile.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial
from statistics import median
from typing import Any, Final, NamedTuple

import pytest
import redis

from tests.bench.contestants import Contestant
from tests.bench.ground import FULL, Ground
from tests.bench.opening import KINDS
from tests.bench.scenarios import life, run
from tests.bench.seeding import copy_job, numbered
from tests.bench.tables import Cell, circumstances, show

ENTRIES: Final = ("pyqless", "raw socket")
QUEUE: Final = "large"
JID: Final = "c" * 24 + "0" * 8
DAY: Final = 86_400.0

FEW, MANY = (1_000, 1_000_000) if FULL else (100, 5_000)
#: rounds, and lives in each, of the comparison of few and many
ROUNDS, COUNT = (40, 25) if FULL else (2, 5)

DEPENDENTS: Final = 10_000 if FULL else 300
EXPIRING: Final = 50_000 if FULL else 500
DUE: Final = 10_000 if FULL else 300
LOST: Final = 100_000 if FULL else 500


class Load(NamedTuple):
    """What the server says of the commands that it carried out."""

    commands: int
    #: milliseconds, and which it was
    longest: float
    command: str
    #: the longest EXEC, or call of the script, milliseconds
    unit: float


# -- many jobs waiting ----------------------------------------------------------------------------


@pytest.mark.bench
@pytest.mark.timeout(1800)
def test_waiting(ground: Ground) -> None:
    """Jobs come and go at either end of a queue, while few and while many others wait."""
    print("\n" + circumstances(ground.name))
    rows: list[list[Cell]] = []
    for kind in ENTRIES:
        few, many = lives(ground, kind)
        for label in few[0]:
            times = [median(each[label] for each in rounds) for rounds in (few, many)]
            pairs = zip(few, many, strict=True)
            rows.append(
                [kind, label, *times, median(two[label] / one[label] for one, two in pairs)]
            )
    assert all(isinstance(row[-1], float) and row[-1] > 0 for row in rows)
    columns = ("core", "call", f"µs, {FEW:,} waiting", f"µs, {MANY:,} waiting", "times as long")
    show(f"Many jobs waiting: median of {ROUNDS} rounds", columns, rows)


def lives(ground: Ground, kind: str) -> list[list[dict[str, float]]]:
    """Let jobs live in either database in turns; gives the median of each call, microseconds, by round."""
    ground.flush()
    with ExitStack() as stack:
        cores = []
        for database, count in enumerate((FEW, MANY)):
            core = stack.enter_context(closing(KINDS[kind](ground.url(database))))
            put(core, JID, time.time())
            spread(ground.url(database), count)
            cores.append(core)
        rounds: list[list[dict[str, float]]] = [[], []]
        for _ in range(ROUNDS + 1):
            for core, results in zip(cores, rounds, strict=True):
                spent = run(life(core, QUEUE, COUNT))
                results.append({label: median(each) / 1000 for label, each in spent.items()})
    return [results[1:] for results in rounds]  # the first warms up


# -- much to do at once ---------------------------------------------------------------------------


def dependents(core: Contestant, url: str) -> Callable[[], Any]:
    """Complete a job that many wait for."""
    put(core, "p" * 32, time.time())
    put(core, JID, time.time(), "0", "depends", json.dumps(["p" * 32]))
    spread(url, DEPENDENTS)
    return partial(core.complete, core.pop(QUEUE))


def expiring(core: Contestant, url: str) -> Callable[[], Any]:
    """Complete a job when many completed ones have just become too old."""
    past = time.time() - 8 * DAY
    put(core, JID, past)
    core.send("pop", repr(past), QUEUE, "old", "1")
    core.send("complete", repr(past), JID, "old", QUEUE, "{}")
    spread(url, EXPIRING)
    put(core, "p" * 32, time.time())
    return partial(core.complete, core.pop(QUEUE))


def due(core: Contestant, url: str) -> Callable[[], Any]:
    """Pop when many jobs are due since the same moment."""
    put(core, JID, time.time() - 100, "50")
    spread(url, DUE)
    return partial(core.pop, QUEUE)


def lost(core: Contestant, url: str) -> Callable[[], Any]:
    """Pop when many locks have expired."""
    past = time.time() - DAY
    put(core, JID, past)
    core.send("pop", repr(past), QUEUE, "gone", "1")
    spread(url, LOST)
    return partial(core.pop, QUEUE)


CASES: Final[dict[str, Callable[[Contestant, str], Callable[[], Any]]]] = {
    f"complete, {DEPENDENTS:,} dependents": dependents,
    f"complete, {EXPIRING:,} expire": expiring,
    f"pop, {DUE:,} due at once": due,
    f"pop, {LOST:,} locks expired": lost,
}


@pytest.mark.bench
@pytest.mark.timeout(1800)
def test_much_at_once(ground: Ground) -> None:
    """Single calls that have thousands of jobs to move."""
    print("\n" + circumstances(ground.name))
    rows: list[list[Cell]] = []
    for name, prepare in CASES.items():
        for kind in ENTRIES:
            seconds, load = burden(ground, kind, prepare)
            longest = f"{load.command} {load.longest:.1f}"
            rows.append([name, kind, seconds * 1000, load.commands, longest, load.unit])
            assert load.unit > 0
    columns = (
        "call",
        "core",
        "ms",
        "commands",
        "longest of them, ms",
        "longest EXEC or script, ms",
    )
    show("Much to do at once: one call", columns, rows)


def burden(
    ground: Ground, kind: str, prepare: Callable[[Contestant, str], Callable[[], Any]]
) -> tuple[float, Load]:
    """Prepare a call and carry it out; gives how long it took, seconds, and what the server says."""
    ground.flush()
    with (
        closing(KINDS[kind](ground.url(0))) as core,
        redis.Redis.from_url(ground.url(0)) as observer,
    ):
        act = prepare(core, ground.url(0))
        observer.config_set("latency-tracking-info-percentiles", "100")
        observer.config_resetstat()
        start = time.perf_counter()
        act()
        seconds = time.perf_counter() - start
        return seconds, observed(observer)


def observed(observer: redis.Redis) -> Load:
    """Ask what the server has done since its statistics were reset."""
    longest = {
        name.removeprefix("latency_percentiles_usec_"): float(told["p100"]) / 1000
        for name, told in observer.info("latencystats").items()
        if "|" not in name and "info" not in name
    }
    calls = {
        name.removeprefix("cmdstat_"): told["calls"]
        for name, told in observer.info("commandstats").items()
    }
    units = {name: longest.pop(name) for name in ("exec", "evalsha") if name in longest}
    command = max(longest, key=lambda name: longest[name])
    count = sum(calls[name] for name in longest)
    return Load(count, longest[command], command.upper(), max(units.values(), default=0.0))


# -- jobs -----------------------------------------------------------------------------------------


def put(core: Contestant, jid: str, now: float, delay: str = "0", *options: str) -> None:
    """Put a job at any moment."""
    core.send("put", repr(now), "worker", QUEUE, jid, "Klass", "{}", delay, *options)


def spread(url: str, count: int) -> None:
    """Let there be so many more like the job ``JID``."""
    with redis.Redis.from_url(url) as client:
        copy_job(client, JID, numbered(JID, count), client)
