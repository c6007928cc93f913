# SPDX-License-Identifier: MIT
"""What contestants are made to do, call by call, so that each call is timed by itself."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, Final, NamedTuple
from uuid import uuid4

from tests.bench.contestants import Contestant

__all__ = ["SCENARIOS", "Figures", "Scenario", "Step", "run", "run_async"]

#: 100 bytes as JSON
DATA: Final = {"user": 12345, "text": "x" * 72}
#: 11 KB as JSON, as objects and numbers rather than one long text
BIG_DATA: Final = {"rows": [{"number": n, "ratio": n / 7, "name": f"row {n}"} for n in range(180)]}


class Step(NamedTuple):
    """One call."""

    #: what its time is counted as; empty: it is not
    label: str
    act: Callable[[], Any]


Scenario = Generator[Step, Any, None]
#: label: time of a call, microseconds
Figures = dict[str, float]


def life(core: Contestant, queue: str, count: int, data: Any = DATA, suffix: str = "") -> Scenario:
    """Let jobs go through, each with a heartbeat."""
    for _ in range(count):
        yield Step("put" + suffix, partial(core.put, queue, data))
        job = yield Step("pop" + suffix, partial(core.pop, queue))
        yield Step("heartbeat" + suffix, partial(core.heartbeat, job))
        yield Step("complete" + suffix, partial(core.complete, job))


def big_life(core: Contestant, queue: str, count: int) -> Scenario:
    """Let jobs go through whose data is long."""
    return life(core, queue, count, BIG_DATA, ", 11 KB")


def given_jid(core: Contestant, queue: str, count: int) -> Scenario:
    """Put jobs whose jid the caller chooses."""
    for _ in range(count):
        yield Step("put, jid given", partial(core.put, queue, DATA, jid=uuid4().hex))


def tags(core: Contestant, queue: str, count: int) -> Scenario:
    """Put jobs with tags."""
    for _ in range(count):
        yield Step("put, two tags", partial(core.put, queue, DATA, tags=["red", "blue"]))


def depends(core: Contestant, queue: str, count: int) -> Scenario:
    """Put jobs that wait for another."""
    for _ in range(count):
        parent = yield Step("", partial(core.put, queue, DATA))
        jid = parent.decode() if isinstance(parent, bytes) else parent
        yield Step("put, depends", partial(core.put, queue, DATA, depends=[jid]))


def recurring(core: Contestant, queue: str, count: int) -> Scenario:
    """Pop jobs that are made when they are popped."""
    past = repr(time.time() - 10_000)
    words = ("recur", past, queue, uuid4().hex, "Klass", '{"a": 1}', "interval", "1", "0")
    yield Step("", partial(core.send, *words))
    for _ in range(count):
        job = yield Step("pop, recurring", partial(core.pop, queue))
        yield Step("", partial(core.complete, job))


def loop(core: Contestant, queue: str, count: int) -> Scenario:
    """Complete one job and take the next, as a worker does; in one call where there is one."""
    for _ in range(count + 1):
        yield Step("", partial(core.put, queue, DATA))
    job = yield Step("", partial(core.pop, queue))
    for _ in range(count):
        if fused := getattr(job, "complete_and_pop", None):
            job = yield Step("complete and pop", fused)
        else:
            yield Step("complete and pop", partial(core.complete, job))
            job = yield Step("complete and pop", partial(core.pop, queue))
    yield Step("", partial(core.complete, job))


#: each begins in a queue that nobody has used
SCENARIOS: Final = (life, loop, given_jid, tags, depends, recurring, big_life)


def run(scenario: Scenario) -> dict[str, list[int]]:
    """Go through a scenario; gives the time of each call, nanoseconds, by label."""
    spent: dict[str, list[int]] = defaultdict(list)
    value = None
    while True:
        try:
            label, act = scenario.send(value)
        except StopIteration:
            return spent
        start = time.perf_counter_ns()
        value = act()
        spent[label].append(time.perf_counter_ns() - start)


async def run_async(scenario: Scenario) -> dict[str, list[int]]:
    """As ``run``, for asyncio."""
    spent: dict[str, list[int]] = defaultdict(list)
    value = None
    while True:
        try:
            label, act = scenario.send(value)
        except StopIteration:
            return spent
        start = time.perf_counter_ns()
        value = await act()
        spent[label].append(time.perf_counter_ns() - start)
