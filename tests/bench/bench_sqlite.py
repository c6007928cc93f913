# SPDX-License-Identifier: MIT
"""
How many jobs a second go through one file: pyqless beside huey's SqliteStorage and persist-queue.

A job of ours is put, popped and completed, each in a transaction of its own, with all that the rules keep of it
(priorities, locks, history, statistics, messages); or 100 are at once. Of huey's it is enqueued and dequeued, of
persist-queue's put, got and acknowledged: a row that comes and goes. With ``full`` no step that takes in or finishes
work is undone by a power cut; the others wait for the disk at each step, ours does not where it only hands a job out.
With ``normal`` nobody waits, and a power cut may undo the last steps.

    python tests/bench/bench_sqlite.py [--seconds S] [--rounds N]

The others are installed into virtual environments of their own, below .bench/.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import Final, NamedTuple

import pytest

ROOT: Final = Path(__file__).parents[2]

#: Each program defines ``cycle``, given the path of a directory, the promise and a name.
OURS: Final = """
from uuid import uuid4
from pyqless.core.commands import call
from pyqless.storage import open_storage
storage = open_storage(f"sqlite:///{directory}/jobs.db?synchronous={promise}&timeout=60")
def send(*words):
    wanted = call(words)
    return storage.run(wanted.transition, wanted.now)
def cycle(queue):
    now = repr(time.time())
    send("put", now, queue, queue, uuid4().hex, "Klass", '{"a": 1}', "0")
    (job,) = send("pop", now, queue, queue, "1")
    send("complete", now, job.jid, queue, queue, '{"a": 1}')
"""
OURS_AT_ONCE: Final = """
from pyqless import Client
client = Client(f"sqlite:///{directory}/jobs.db?synchronous={promise}&timeout=60")
def cycle(queue):
    client.queues[queue].put_many([("Klass", {"a": 1})] * 100)
    jobs = client.queues[queue].pop(100)
    assert client.jobs.complete_many(jobs) == ["complete"] * 100
"""
HUEY: Final = """
from huey.storage import SqliteStorage
storage = SqliteStorage(name, f"{directory}/jobs.db", timeout=60)
storage.conn.execute(f"pragma synchronous={promise}")
data = b'{"jid": "0123456789abcdef0123456789abcdef", "klass": "Klass", "data": {"a": 1}}'
def cycle(_):
    storage.enqueue(data)
    assert storage.dequeue()
"""
PERSIST_QUEUE: Final = """
from persistqueue import SQLiteAckQueue
queue = SQLiteAckQueue(directory, name=name, timeout=60, multithreading=True)
for connection in (queue._getter, queue._putter):
    connection.execute(f"pragma synchronous={promise}")
data = {"jid": "0123456789abcdef0123456789abcdef", "klass": "Klass", "data": {"a": 1}}
def cycle(_):
    queue.put(data)
    queue.ack(queue.get())
"""
#: says that it is ready, waits for a line, goes round for some time, and prints how often a second
RUN: Final = """
import sys, time
from concurrent.futures import ThreadPoolExecutor
directory, promise, name, seconds, threads = sys.argv[1:]
{program}
cycle(name)
print("ready", flush=True)
sys.stdin.readline()
begin = time.monotonic()
def run(number):
    count = 0
    while time.monotonic() < begin + float(seconds):
        cycle(f"{{name}}-{{number}}")
        count += 1
    return count
with ThreadPoolExecutor(int(threads)) as pool:
    count = sum(pool.map(run, range(int(threads))))
print(count / (time.monotonic() - begin))
"""


class Contestant(NamedTuple):
    """Who takes part."""

    name: str
    program: str
    #: what to install, nothing for ourselves
    package: str | None = None
    #: how many jobs each of its cycles is about
    jobs: int = 1

    @property
    def python(self) -> Path:
        """The interpreter that has it."""
        if self.package is None:
            return Path(sys.executable)
        return ROOT / ".bench" / self.name / "bin" / "python"

    def install(self) -> None:
        """Make it a virtual environment of its own."""
        if not self.python.exists() and self.package:
            place = self.python.parents[1]
            venv.create(place, with_pip=True)
            subprocess.run([self.python, "-m", "pip", "install", "-q", self.package], check=True)


AT_ONCE: Final = "pyqless, 100 at once"
#: those beside the better of the others, and what is to be reached
GAIN: Final = "times as many as theirs (goal: 5)"
CONTESTANTS: Final = (
    Contestant("pyqless", OURS),
    Contestant(AT_ONCE, OURS_AT_ONCE, jobs=100),
    Contestant("huey", HUEY, "huey==3.5.4"),
    Contestant("persist-queue", PERSIST_QUEUE, "persist-queue==1.1.0"),
)


class Setting(NamedTuple):
    """How they run."""

    promise: str
    processes: int
    #: of each process
    threads: int


SETTINGS: Final = (
    Setting("full", 1, 1),
    Setting("full", 1, 16),
    Setting("full", 4, 1),
    Setting("normal", 1, 1),
    Setting("normal", 4, 1),
)


def disk() -> float:
    """Milliseconds that a small write to the disk takes, the median: what ``full`` waits for."""
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(bytes(1 << 20))
        spans = []
        for place in range(64):
            begun = time.perf_counter()
            os.pwrite(file.fileno(), bytes(16384), place * 16384)
            os.fsync(file.fileno())
            spans.append(time.perf_counter() - begun)
    return statistics.median(spans) * 1000


def measure(contestant: Contestant, setting: Setting, seconds: float) -> float:
    """Jobs a second of all processes together, in one file."""
    program = RUN.format(program=contestant.program)
    with tempfile.TemporaryDirectory() as directory:
        last = (repr(seconds), str(setting.threads))
        running = [
            subprocess.Popen(
                [contestant.python, "-c", program, directory, setting.promise, f"q{number}", *last],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=ROOT,
            )
            for number in range(setting.processes)
        ]
        for process in running:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in running:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        cycles = [float(process.communicate()[0]) for process in running]
    return sum(cycles) * contestant.jobs


def compare(setting: Setting, seconds: float, rounds: int) -> dict[str, float]:
    """The median of each contestant, in turns."""
    results: dict[str, list[float]] = {contestant.name: [] for contestant in CONTESTANTS}
    for _ in range(rounds):
        for contestant in CONTESTANTS:
            results[contestant.name].append(measure(contestant, setting, seconds))
    return {name: statistics.median(each) for name, each in results.items()}


def report(seconds: float, rounds: int) -> list[dict[str, float]]:
    """Print a table in Markdown; give its lines."""
    took = f"median of {rounds} x {seconds:g} s in turns; the disk takes {disk():.2g} ms"
    columns = (*Setting._fields, *(each.name for each in CONTESTANTS), GAIN)
    print(f"\nJobs a second, {took}\n")
    print(f"| {' | '.join(columns)} |\n| {' | '.join('---' for _ in columns)} |")
    lines = []
    for setting in SETTINGS:
        line = compare(setting, seconds, rounds)
        gain = line[AT_ONCE] / max(line["huey"], line["persist-queue"])
        cells = (*map(str, setting), *(f"{rate:.0f}" for rate in line.values()), f"{gain:.1f}")
        print(f"| {' | '.join(cells)} |", flush=True)
        lines.append(line)
    return lines


@pytest.mark.bench
@pytest.mark.timeout(600)
def test_speed() -> None:
    """Jobs go through, whatever the machine; how many is for people to look at."""
    if missing := [each.name for each in CONTESTANTS if not each.python.exists()]:
        pytest.skip(f"not installed: {', '.join(missing)}; run {Path(__file__).name} once")
    for line in report(seconds=0.1, rounds=1):
        assert min(line.values()) > 0


def main() -> None:
    """Install what is missing, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for contestant in CONTESTANTS:
        contestant.install()
    report(options.seconds, options.rounds)


if __name__ == "__main__":
    main()
