# SPDX-License-Identifier: MIT
"""Threads and processes on one queue: never one job with two workers, never one lost, and all is counted."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pyqless.core.commands import call
from pyqless.core.statistics import fold
from pyqless.storage import Storage, open_storage
from tests.contender import Told

Dump = Mapping[str, Mapping[str, Any]]


def run(storage: Storage, *words: str) -> Any:
    wanted = call(words)
    return wanted.render(storage.run(wanted.transition, wanted.now))


def contend(url: str, processes: int, threads: int, seconds: float) -> Told:
    """Let processes work at once; returns what all of them were told."""
    seed = random.randrange(2**31)
    print("seed", seed)
    command = [sys.executable, "-W", "error", "-m", "tests.contender", url]
    running = [
        subprocess.Popen(
            [*command, f"p{number}", str(threads), str(seconds), str(seed + 100 * number)],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
        )
        for number in range(processes)
    ]
    told = Told()
    for process in running:
        printed, _ = process.communicate(timeout=seconds + 60)
        assert process.returncode == 0
        told.add(Told(**json.loads(printed)))
    return told


def overlaps(told: Told) -> list[tuple[str, float, float]]:
    """The jobs that were handed out while somebody held them, and when."""
    holds: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for jid, since, until in told.held:
        if since < until:  # else the lock had expired before pop returned
            holds[jid].append((since, until))
    found = []
    for jid, spans in holds.items():
        spans.sort()
        found += [
            (jid, since, until) for (_, until), (since, _) in pairwise(spans) if since < until
        ]
    return found


def states(dump: Dump) -> dict[str, str]:
    return {
        key.removeprefix("ql:j:"): entry["value"]["state"]
        for key, entry in dump.items()
        if key.startswith("ql:j:") and entry["type"] == "hash"
    }


def check_statistics(dump: Dump) -> None:
    """Each sample is both in a total and in a histogram."""
    for key, entry in dump.items():
        if key.startswith(("ql:s:wait:", "ql:s:run:")):
            times = {name: float(text) for name, text in entry["value"].items()}
            bins = sum(number for name, number in times.items() if re.match(r"[smhd]-?\d", name))
            assert times["total"] == bins, key


def samples(dump: Dump, kind: str) -> float:
    return sum(
        float(entry["value"]["total"])
        for key, entry in dump.items()
        if key.startswith(f"ql:s:{kind}:")
    )


def events(dump: Dump, what: str) -> int:
    """How often the histories of all jobs tell of an event."""
    return sum(
        json.loads(text)[1] == what
        for key, entry in dump.items()
        if key.endswith("-history")
        for text in entry["value"]
    )


def check(url: str, told: Told) -> None:
    assert overlaps(told) == []
    assert max(Counter(told.completed).values()) == 1
    with open_storage(url) as storage:
        storage.run(fold)
        dump = storage.dump()
        found = states(dump)
        assert found.keys() == set(told.put), "none is lost, and none comes from nowhere"
        assert {jid for jid, state in found.items() if state == "complete"} == set(told.completed)
        assert {jid for jid, state in found.items() if state == "failed"} == set(told.failed)
        check_statistics(dump)
        assert samples(dump, "wait") == events(dump, "popped")
        assert samples(dump, "run") == events(dump, "done")
        check_places(dump, found)
        left = sum(state not in ("complete", "failed") for state in found.values())
        assert len(drain(storage)) == left, "each of the others can still be popped, once"


#: where jobs stand in each state
PLACES = {
    "waiting": "work",
    "stalled": "work",
    "running": "locks",
}


def check_places(dump: Dump, found: Mapping[str, str]) -> None:
    standing = Counter(
        (member, key.rpartition("-")[2])
        for key, entry in dump.items()
        if key.startswith("ql:q:")
        for member, _ in entry["value"]
    )
    expected = {(jid, PLACES[state]) for jid, state in found.items() if state in PLACES}
    assert standing == Counter(expected), "each job stands in one place, and in the right one"


def drain(storage: Storage) -> list[str]:
    """Pop all that is left, long after every lock has expired."""
    run(storage, "config.set", "0", "grace-period", "0")
    popped: list[str] = []
    for queue in ("q", "next"):
        while jobs := json.loads(run(storage, "pop", "9999999999", queue, "w", "50")):
            popped += [job["jid"] for job in jobs]
            for job in jobs:
                run(storage, "complete", "9999999999", job["jid"], "w", queue, "{}")
    return popped


def test_many_workers_on_one_queue(redis_url: str) -> None:
    told = contend(redis_url, processes=3, threads=2, seconds=1.5)
    assert told.lost == 0, "no lock expires within this time"
    assert told.conflicts > 0, "they have got into each other's way"
    assert len(told.completed) > 10
    check(redis_url, told)


def test_many_workers_that_lose_their_locks(one_redis_url: str) -> None:
    with open_storage(one_redis_url) as storage:
        run(storage, "config.set", "0", "heartbeat", "0.02")
        run(storage, "config.set", "0", "grace-period", "0")
    told = contend(one_redis_url, processes=3, threads=2, seconds=3)
    assert told.lost > 0
    assert len(told.completed) > 10
    check(one_redis_url, told)


@pytest.mark.soak
@pytest.mark.parametrize("heartbeat", ["60", "0.02"])
def test_many_workers_for_long(redis_url: str, heartbeat: str) -> None:
    with open_storage(redis_url) as storage:
        run(storage, "config.set", "0", "heartbeat", heartbeat)
        run(storage, "config.set", "0", "grace-period", "0")
    check(redis_url, contend(redis_url, processes=8, threads=4, seconds=60))
