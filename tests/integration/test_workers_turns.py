# SPDX-License-Identifier: MIT
"""Workers that take the next job with the end of the last, on real stores."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pyqless import Client
from pyqless.worker import Finder, Limits, Runner, SerialWorker, Settings
from tests.workers import Worker, until

#: how many jobs a full queue holds
FULL = 200

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at /proc")


@pytest.fixture(params=["sqlite", "redis"])
def client(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Client]:
    """Repeat the test on both."""
    if request.param == "redis":
        url = str(request.getfixturevalue("one_redis_url"))
    else:
        url = f"sqlite:///{tmp_path}/jobs.db?synchronous=normal"
    with Client(url, worker_name="w") as client:
        yield client


class Spent(NamedTuple):
    commits: int
    trips: int


def spent_by(client: Client, settings: Callable[..., Settings]) -> list[Spent]:
    """Let a worker do ten jobs, and give what each cost, from the beginning of one to that of the next."""
    seen: list[Spent] = []
    finder, metrics = Finder(), client.storage.metrics
    finder.register("run")(lambda job: seen.append(Spent(metrics.commits, metrics.trips)))
    client.queues["q"].put_many(("run", {}) for _ in range(10))
    SerialWorker(client, settings(Runner(finder=finder))).run()
    return [
        Spent(*(end - start for start, end in zip(*pair, strict=True))) for pair in pairwise(seen)
    ]


def test_a_job_takes_one_transaction(client: Client) -> None:
    def settings(runner: Runner) -> Settings:
        return Settings(queues=["q"], runner=runner, limits=Limits(jobs=10), listen=False)

    spent = spent_by(client, settings)
    assert [each.commits for each in spent] == [1] * 9
    # what it will read is foreseen from the second turn on
    trips = 0 if client.storage.url.startswith("sqlite") else 1
    assert [each.trips for each in spent[2:]] == [trips] * 7


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGQUIT], ids=lambda number: number.name)
@pytest.mark.parametrize("kind", ["forking", "serial"])
def test_a_worker_that_ends_leaves_no_job_in_hand(client: Client, kind: str, number: int) -> None:
    """Whether the signal comes while a job runs, or while one is completed and the next taken."""
    arguments = ["-c", "2"] if kind == "forking" else []
    with Worker(client.storage.url, "q", "--kind", kind, *arguments) as worker:
        for each in range(FULL):
            worker.put(client, "sleep", f"J{each}", seconds=0.005, retries=0)
        until(lambda: len(worker.marks()) > FULL / 10, "it is at work")
        worker.signal(number)
        assert worker.end() in (0, 4), worker.log()
        ran = Counter(mark.jid for mark in worker.marks("ended"))
    queue: Any = client.queues["q"]
    done = set(client.jobs.complete(0, FULL))
    waiting = set(queue.waiting(0, FULL))
    assert (queue.running(), queue.stalled()) == ([], [])
    assert len(done) + len(waiting) == FULL
    assert waiting
    assert ran == Counter(done)
