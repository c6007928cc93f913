# SPDX-License-Identifier: MIT
"""
Processes that work on one queue at once: ``python -m tests.bench.crowd``, with a ``Crowd`` as JSON on standard input.

It forks the processes, which is sure only where there are no threads: hence a program of its own. It prints what each
of them was told, as JSON.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Final

from pyqless.errors import ConflictError
from tests.bench.contestants import Contestant, Pyqless
from tests.bench.ground import ROOT
from tests.bench.opening import KINDS

__all__ = ["QUEUE", "Crowd", "Told", "gather", "named"]

QUEUE: Final = "busy"
#: priorities are below; the first two digits of a jid tell it
PRIORITIES: Final = 100
#: how long a worker that finds nothing rests, seconds
REST: Final = 0.001


@dataclass
class Crowd:
    """Who works where."""

    #: one of ``contestants.KINDS``
    kind: str
    url: str
    #: processes that pop and complete
    workers: int
    #: processes that put
    producers: int
    seconds: float


@dataclass
class Told:
    """What one process was told; moments are of the machine's monotonic clock, seconds."""

    #: jid, when the call of pop began and ended
    popped: list[tuple[str, float, float]] = field(default_factory=list)
    #: jid, when put had returned
    put: list[tuple[str, float]] = field(default_factory=list)
    #: pops that found nothing
    empty: int = 0
    #: calls that met too many conflicts
    given_up: int = 0
    conflicts: int = 0
    #: attempts of pops alone
    attempts: int = 0


def named(priority: int, rest: str) -> str:
    """Make a jid that tells the priority."""
    return f"{priority:02}{rest}"


def gather(crowd: Crowd) -> list[Told]:
    """Let a crowd work; gives what each process was told, the workers first."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.crowd"],
        input=json.dumps(asdict(crowd)),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=ROOT,
        timeout=crowd.seconds + 120,
    )
    return [Told(**told) for told in json.loads(done.stdout)]


def attempts(core: Contestant) -> int:
    """How often transitions were begun so far; calls of a script are not counted."""
    return core.client.storage.metrics.attempts if isinstance(core, Pyqless) else 0


def consume(core: Contestant, seconds: float) -> Told:
    """Pop and complete for some time."""
    told = Told()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            take(core, told)
        except ConflictError:
            told.given_up += 1
    return told


def take(core: Contestant, told: Told) -> None:
    """Pop and complete a job, if there is one."""
    before, start = attempts(core), time.monotonic()
    job = core.pop(QUEUE)
    told.attempts += attempts(core) - before
    if job is None:
        told.empty += 1
        time.sleep(REST)
        return
    told.popped.append((core.jid(job), start, time.monotonic()))
    core.complete(job)


def produce(core: Contestant, seconds: float) -> Told:
    """Put for some time."""
    told = Told()
    chance = random.Random(os.getpid())
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        priority = chance.randrange(PRIORITIES)
        jid = named(priority, f"{os.getpid():010}{len(told.put):020}")
        core.put(QUEUE, {"a": 1}, jid=jid, priority=priority)
        told.put.append((jid, time.monotonic()))
    return told


def work(crowd: Crowd, number: int, gate: Any, pipe: Connection) -> None:
    """Be one of the crowd: come in, wait for the others, do one's part, and tell."""
    core = KINDS[crowd.kind](crowd.url)
    core.pop("nothing")  # connects
    gate.wait()
    told = (consume if number < crowd.workers else produce)(core, crowd.seconds)
    if isinstance(core, Pyqless):
        told.conflicts = core.client.storage.metrics.conflicts
    pipe.send(told)
    core.close()


def main() -> None:
    """Fork, and print what comes back."""
    crowd = Crowd(**json.load(sys.stdin))
    context = multiprocessing.get_context("fork")
    count = crowd.workers + crowd.producers
    gate = context.Barrier(count)
    pipes = [context.Pipe(duplex=False) for _ in range(count)]
    processes = [
        context.Process(target=work, args=(crowd, number, gate, into), daemon=True)
        for number, (_, into) in enumerate(pipes)
    ]
    for process, (_, into) in zip(processes, pipes, strict=True):
        process.start()
        into.close()
    print(json.dumps([asdict(out.recv()) for out, _ in pipes]))
    for process in processes:
        process.join()


if __name__ == "__main__":
    main()
