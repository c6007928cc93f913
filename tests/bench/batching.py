# SPDX-License-Identifier: MIT
"""
Who does the same to many jobs: pyqless's batches, and the Lua core, called job by job or in one packet.

All have the same methods, and give an outcome a job.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import hiredis

from pyqless.errors import QlessError
from tests.bench.contestants import Contestant, Lua, Pyqless, worker
from tests.bench.opening import KINDS, RawSocket, loaded
from tests.bench.scenarios import DATA, Scenario, Step

__all__ = ["MANNERS", "Batches", "Manner", "Pipelined", "Singles", "batches"]


class Batches:
    """Through pyqless's own batches."""

    def __init__(self, core: Contestant) -> None:
        assert isinstance(core, Pyqless)
        self._client = core.client
        self.close = core.close

    def put(self, queue: str, count: int) -> Any:
        """Put so many jobs; gives their jids."""
        return self._client.queues[queue].put_many([("Klass", DATA)] * count)

    def pop(self, queue: str, count: int) -> Any:
        """Take so many jobs in hand."""
        return self._client.queues[queue].pop(count)

    def heartbeat(self, jobs: Sequence[Any]) -> Any:
        """Renew their locks."""
        return self._client.jobs.heartbeat_many(jobs)

    def complete(self, jobs: Sequence[Any]) -> Any:
        """Complete jobs in hand."""
        return self._client.jobs.complete_many(jobs)

    def cancel(self, jids: Sequence[Any]) -> Any:
        """Cancel jobs."""
        return self._client.jobs.cancel_many(jids)


class Singles:
    """Through calls of the script, one after the other."""

    def __init__(self, core: Contestant) -> None:
        assert isinstance(core, Lua)
        self._core = core
        self.close = core.close

    def put(self, queue: str, count: int) -> Any:
        return [self._core.put(queue, DATA) for _ in range(count)]

    def pop(self, queue: str, count: int) -> Any:
        return [self._core.pop(queue) for _ in range(count)]

    def heartbeat(self, jobs: Sequence[Any]) -> Any:
        return [self._core.heartbeat(job) for job in jobs]

    def complete(self, jobs: Sequence[Any]) -> Any:
        return [self._core.complete(job) for job in jobs]

    def cancel(self, jids: Sequence[Any]) -> Any:
        return [self._core.cancel(jid) for jid in jids]


class Pipelined(Singles):
    """Through the same calls, all in one packet, which is no transaction; one pop takes as many jobs as are wanted."""

    def __init__(self, url: str) -> None:
        self._connection, self._digest = RawSocket(url), loaded(url)
        self._packed: list[bytes] = []
        super().__init__(Lua(self._add, self._connection.close))

    def put(self, queue: str, count: int) -> Any:
        super().put(queue, count)
        return self._carry_out()

    def pop(self, queue: str, count: int) -> Any:
        self._add("pop", repr(time.time()), queue, worker(), str(count))
        (reply,) = self._carry_out()
        return json.loads(reply)

    def heartbeat(self, jobs: Sequence[Any]) -> Any:
        super().heartbeat(jobs)
        return self._carry_out()

    def complete(self, jobs: Sequence[Any]) -> Any:
        super().complete(jobs)
        return self._carry_out()

    def cancel(self, jids: Sequence[Any]) -> Any:
        super().cancel(jids)
        return self._carry_out()

    def _add(self, *words: Any) -> None:
        self._packed.append(hiredis.pack_command((b"EVALSHA", self._digest, b"0", *words)))

    def _carry_out(self) -> list[Any]:
        packed, self._packed = self._packed, []
        return self._connection.exchange(packed)


Manner = Batches | Singles

#: how each is opened at a URL of its own
MANNERS: Final[dict[str, Callable[[str], Manner]]] = {
    "pyqless": lambda url: Batches(KINDS["pyqless"](url)),
    "pyqless memory": lambda url: Batches(KINDS["pyqless memory"](url)),
    "evalsha": lambda url: Singles(KINDS["evalsha"](url)),
    "raw socket": lambda url: Singles(KINDS["raw socket"](url)),
    "pipeline": Pipelined,
}


def batches(manner: Manner, queue: str, count: int) -> Scenario:
    """Let so many jobs go through together, each with a heartbeat; then cancel as many that wait."""
    yield Step("put_many", partial(manner.put, queue, count))
    jobs = yield Step("pop(n)", partial(manner.pop, queue, count))
    assert len(jobs) == count, f"{len(jobs)} jobs were popped, not {count}"
    locks = yield Step("heartbeat_many", partial(manner.heartbeat, jobs))
    assert min(map(float, locks)) > time.time(), "a lock was not renewed"
    states = yield Step("complete_many", partial(manner.complete, jobs))
    assert set(states) <= {"complete", b"complete"}, "a job was not completed"
    jids = yield Step("", partial(manner.put, queue, count))
    gone = yield Step("cancel_many", partial(manner.cancel, jids))
    assert not any(isinstance(outcome, QlessError) for outcome in gone), "a job was not cancelled"
