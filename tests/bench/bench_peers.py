# SPDX-License-Identifier: MIT
"""
pyqless beside other queues: the same job, with 100 bytes of data, on the same server.

Each driver under peers/ runs in processes of its own, and the others' in virtual environments of their own, see
``make bench-peers``. By default only ours take part, to see that the benchmark works.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

import pytest
import redis

from tests.bench.ground import FULL, ROOT, Ground, quantile
from tests.bench.peers.driver import STAMP, Task
from tests.bench.tables import Cell, circumstances, show

ROUNDS: Final = 3 if FULL else 1
JOBS: Final = 1000 if FULL else 50
#: jobs that are put one by one, to a worker that waits, and seconds between them
PACED, PAUSE = (200, 0.02) if FULL else (10, 0.005)
PATIENCE: Final = 120.0


class Entry(NamedTuple):
    """Who takes part."""

    package: str
    variant: str = ""
    #: what one worker at a time means for it
    meaning: str = ""

    def __str__(self) -> str:
        return f"{self.package} {self.variant}".strip()

    @property
    def is_ours(self) -> bool:
        """Whether it needs nothing but this project."""
        return self.package == "pyqless"

    @property
    def python(self) -> Path:
        """The interpreter that has it."""
        if self.is_ours:
            return Path(sys.executable)
        return ROOT / ".bench" / "venvs" / self.package / "bin" / "python"


OURS: Final = (
    Entry("pyqless", "serial", "jobs run in the process that fetches them"),
    Entry("pyqless", "forking", "one child, which lives on"),
    Entry("pyqless", "asyncio", "one coroutine at a time"),
    Entry("pyqless", "memory", "puts and runs in one process, without a server"),
)
OTHERS: Final = (
    Entry("reqless", "", "jobs run in the process that fetches them; polls, here every 10 ms"),
    Entry("rq", "", "a fork for each job"),
    Entry("rq", "simple", "jobs run in the process that fetches them"),
    Entry("huey", "", "one thread"),
    Entry("dramatiq", "", "one thread, and one that fetches ahead"),
    Entry("arq", "", "one coroutine at a time; polls, here every 10 ms"),
    Entry("saq", "", "one coroutine at a time"),
    Entry("bullmq", "", "one coroutine at a time"),
    Entry("celery", "solo", "jobs run in the process that fetches them"),
    Entry("celery", "prefork", "one child, which lives on"),
)
ENTRIES: Final = OURS + OTHERS if FULL else OURS

COLUMNS: Final = (
    "peer",
    "puts/s",
    "jobs/s",
    "put to start, p50 ms",
    "p99 ms",
    "server µs a job",
    "bytes a job waiting",
    "run twice",
    "one at a time means",
)


class Sample(NamedTuple):
    """What one peer did once; None where there is no server to ask."""

    puts: float
    jobs: float
    p50: float
    p99: float
    #: microseconds of the server's CPU time
    cpu: float | None
    size: float | None
    #: jobs that ran once more
    again: int


@pytest.mark.bench
@pytest.mark.timeout(7200)
def test_peers(ground: Ground, tmp_path: Path) -> None:
    """Jobs go through each of them."""
    if missing := [entry.package for entry in ENTRIES if not entry.python.exists()]:
        pytest.skip(f"not installed: {', '.join(missing)}; see make bench-peers")
    print("\n" + circumstances(ground.name))
    samples: dict[Entry, list[Sample]] = defaultdict(list)
    for number in range(ROUNDS):
        for at in range(len(ENTRIES)):
            entry = ENTRIES[(at + 5 * number) % len(ENTRIES)]
            samples[entry].append(measure(ground, entry, tmp_path))
    rows = [row(entry, samples[entry]) for entry in ENTRIES]
    show(f"Queues, one producer, one worker: median of {ROUNDS} x {JOBS} jobs", COLUMNS, rows)
    assert all(sample.jobs > 0 for each in samples.values() for sample in each)
    assert not any(sample.again for entry in OURS for sample in samples[entry])


def row(entry: Entry, samples: Sequence[Sample]) -> list[Cell]:
    """A line of the table."""
    cells: list[Cell] = [
        None if None in values else median(value for value in values if value is not None)
        for values in zip(*samples, strict=True)
    ]
    again = sum(sample.again for sample in samples)
    return [str(entry), *cells[:-1], again, entry.meaning]


def measure(ground: Ground, entry: Entry, directory: Path) -> Sample:
    """Put jobs, then let a worker run them, then put some to a worker that waits."""
    ground.flush()
    stamps = directory / f"stamps-{time.monotonic_ns()}"
    stamps.touch()
    task = Task("put", ground.url(0), str(stamps), JOBS, variant=entry.variant)
    if entry.variant == "memory":
        both = replace(task, role="both", paced=PACED, pause=0.0)
        told = run(entry, both, directory)
        return sample(told, read(stamps), None, None)
    size, cpu = used(ground), ground.cpu()
    told = run(entry, task, directory)
    size = used(ground) - size
    with working(entry, replace(task, role="work"), directory):
        wait(stamps, JOBS)
        cpu = ground.cpu() - cpu
        run(entry, replace(task, count=PACED, pause=PAUSE), directory)
        wait(stamps, JOBS + PACED)
    return sample(told, read(stamps), cpu / 1000 / JOBS, size / JOBS)


def sample(
    told: dict[str, Any],
    stamps: Sequence[tuple[float, float]],
    cpu: float | None,
    size: float | None,
) -> Sample:
    """Make figures of what the driver and the jobs have told."""
    begun = first(stamps)
    assert len(begun) == JOBS + PACED, "each job runs"
    starts = begun[:JOBS]
    waits = [1000 * (start - put) for put, start in begun[JOBS:]]
    return Sample(
        puts=told["count"] / told["seconds"],
        jobs=(JOBS - 1) / (starts[-1][1] - starts[0][1]),
        p50=quantile(waits, 0.5),
        p99=quantile(waits, 0.99),
        cpu=cpu,
        size=size,
        again=len(stamps) - len(begun),
    )


def first(stamps: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """When each job was put, and when it began for the first time."""
    begun: dict[float, float] = {}
    for put, start in stamps:
        begun.setdefault(put, start)
    return list(begun.items())


# -- drivers --------------------------------------------------------------------------------------


def run(entry: Entry, task: Task, directory: Path) -> dict[str, Any]:
    """Let a driver do its task to the end; gives the first thing that it says."""
    done = subprocess.run(
        command(entry, task),
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        cwd=directory,
        env=environment(),
        timeout=PATIENCE,
    )
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[0])
    return told


@contextmanager
def working(entry: Entry, task: Task, directory: Path) -> Iterator[None]:
    """Let a driver work, and kill it with all that it has started."""
    with (directory / "worker.log").open("wb") as log:
        process = subprocess.Popen(
            command(entry, task),
            stdout=log,
            stderr=log,
            cwd=directory,
            env=environment(),
            start_new_session=True,
        )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def command(entry: Entry, task: Task) -> list[str]:
    """How a driver is started."""
    driver = Path(__file__).parent / "peers" / f"drive_{entry.package}.py"
    return [str(entry.python), str(driver), json.dumps(asdict(task))]


def environment() -> dict[str, str]:
    """What drivers are told of the outside; jobs import the drivers by name, and ours this project."""
    return {**os.environ, "PYTHONPATH": f"{ROOT}:{Path(__file__).parent / 'peers'}"}


def wait(stamps: Path, count: int) -> None:
    """Wait until so many jobs have begun."""
    deadline = time.monotonic() + PATIENCE
    while len(first(read(stamps))) < count:
        log = stamps.parent / "worker.log"
        assert time.monotonic() < deadline, log.read_text(errors="replace")
        time.sleep(0.005)


def read(stamps: Path) -> list[tuple[float, float]]:
    """When each job was put, and when it began; in the order in which they began."""
    written = stamps.read_bytes()
    whole = written[: len(written) // STAMP.size * STAMP.size]
    return [(put, start) for put, start in STAMP.iter_unpack(whole)]


def used(ground: Ground) -> int:
    """The memory that the server has in use, bytes."""
    with redis.Redis.from_url(ground.url(0)) as client:
        return int(client.info("memory")["used_memory"])
