# SPDX-License-Identifier: MIT
"""
A process of workers on a queue that many want: ``python -m tests.contender URL NAME THREADS SECONDS SEED``.

In the end it prints what its workers were told, as JSON; see ``Told``.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from pyqless.core.commands import call
from pyqless.errors import JobLost, NotRunning
from pyqless.storage import Storage, open_storage

__all__ = ["Told", "contend"]


@dataclass
class Told:
    """What workers were told; moments are Unix time, seconds."""

    #: jids that were put
    put: list[str] = field(default_factory=list)
    #: (jid, when pop had returned, when the worker let go of it or the lock had expired)
    held: list[tuple[str, float, float]] = field(default_factory=list)
    completed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    #: calls that came too late
    lost: int = 0
    conflicts: int = 0
    calls: int = 0

    def add(self, other: Told) -> None:
        """Take over what others were told."""
        for name, value in asdict(other).items():
            setattr(self, name, getattr(self, name) + value)


class _Worker:
    """Puts jobs, pops jobs, and does one thing or the other with them."""

    def __init__(self, storage: Storage, name: str, seed: int) -> None:
        self.told = Told()
        self._storage = storage
        self._name = name
        self._random = random.Random(seed)
        self._ends: list[Callable[[str], None]] = [
            self._complete,
            self._complete,
            self._advance,
            self._retry,
            self._time_out,
            self._fail,
        ]

    def work(self, until: float) -> None:
        while time.time() < until:
            jid = f"{self._name}-{len(self.told.put)}"
            self._call("put", self._name, "q", jid, "klass", "{}", "0", "retries", "999")
            self.told.put.append(jid)
            queue = self._random.choice(["q", "q", "next"])
            popped = self._call("pop", queue, self._name, str(self._random.randint(1, 2)))
            since = time.time()
            for job in json.loads(popped) or []:
                self._hold(job, since)
            self._look(jid)

    def _hold(self, job: dict[str, Any], since: float) -> None:
        jid, expires = job["jid"], job["expires"]
        self._queue = job["queue"]
        try:
            time.sleep(self._random.random() * 0.01)
            if self._random.random() < 0.3:
                expires = self._call("heartbeat", jid, self._name)
            until = min(time.time(), expires)
            self._is_safe = expires - until > 10
            self._random.choice(self._ends)(jid)
        except (JobLost, NotRunning):
            self.told.lost += 1
            until = min(time.time(), expires)
        self.told.held.append((jid, since, until))

    # -- ends -------------------------------------------------------------------------------------

    def _complete(self, jid: str) -> None:
        self._call("complete", jid, self._name, self._queue, "{}")
        self.told.completed.append(jid)

    def _advance(self, jid: str) -> None:
        self._call("complete", jid, self._name, self._queue, "{}", "next", "next")

    def _retry(self, jid: str) -> None:
        self._call("retry", jid, self._queue, self._name)

    def _time_out(self, jid: str) -> None:
        # whose lock may have expired would take the job from somebody else
        if self._is_safe:
            self._call("timeout", jid)

    def _fail(self, jid: str) -> None:
        self._call("fail", jid, self._name, "g", "message")
        self.told.failed.append(jid)

    # -- the rest -----------------------------------------------------------------------------------

    def _look(self, jid: str) -> None:
        self._call(
            *self._random.choice(
                [
                    ("get", jid),
                    ("length", "q"),
                    ("peek", "q", "1"),
                    ("queues",),
                    ("stats", "q", "0"),
                ]
            )
        )

    def _call(self, name: str, *arguments: str) -> Any:
        self.told.calls += 1
        wanted = call((name, repr(time.time()), *arguments))
        return wanted.render(self._storage.run(wanted.transition, wanted.now))


def contend(url: str, name: str, threads: int, seconds: float, seed: int) -> Told:
    """Let some threads work on one storage for so long."""
    with open_storage(url) as storage:
        workers = [_Worker(storage, f"{name}-{number}", seed + number) for number in range(threads)]
        until = time.time() + seconds
        running = [threading.Thread(target=worker.work, args=(until,)) for worker in workers]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        told = Told(conflicts=storage.metrics.conflicts)
    for worker in workers:
        told.add(worker.told)
    return told


def main() -> None:
    """Do what the arguments say; a worker that dies of an error ends the process with it."""
    threading.excepthook = lambda died: sys.exit(f"{died.exc_type.__name__}: {died.exc_value}")
    url, name, threads, seconds, seed = sys.argv[1:]
    print(json.dumps(asdict(contend(url, name, int(threads), float(seconds), int(seed)))))


if __name__ == "__main__":
    main()
