# SPDX-License-Identifier: MIT
"""workers and worker.deregister, by examples."""

from __future__ import annotations

from pyqless.conformance import Target
from tests.unit.core.examples import Example, table

#: a has J until 170, b has K until 180
TWO = (
    "put 100 me q J klass {} 0",
    "put 101 me q K klass {} 0",
    "pop 110 q a 1",
    "pop 120 q b 1",
)


@table(
    Example("worker.lua: counts, nobody", "workers 100", reply={}, changes={}),
    Example(
        "C14: the one seen last first",
        "workers 130",
        after=TWO,
        reply=[{"name": "b", "jobs": 1, "stalled": 0}, {"name": "a", "jobs": 1, "stalled": 0}],
        changes={},
        messages=[],
    ),
    Example(
        "C14: a lock that ends now counts in both",
        "workers 170",
        after=TWO,
        reply=[{"name": "b", "jobs": 1, "stalled": 0}, {"name": "a", "jobs": 1, "stalled": 1}],
    ),
    Example(
        "C14: a lock that has expired",
        "workers 175",
        after=TWO,
        reply=[{"name": "b", "jobs": 1, "stalled": 0}, {"name": "a", "jobs": 0, "stalled": 1}],
    ),
    Example(
        "C14: a lock that lasts more than 100 days is not counted",
        "workers 130",
        after=["config.set 90 heartbeat 9000000", *TWO],
        reply=[{"name": "b", "jobs": 0, "stalled": 0}, {"name": "a", "jobs": 0, "stalled": 0}],
    ),
    Example(
        "C14: a lock with a moment below zero is not counted",
        "workers 130",
        after=["config.set 90 heartbeat -200", *TWO[:3]],
        reply=[{"name": "a", "jobs": 0, "stalled": 0}],
    ),
    Example(
        "worker.lua: counts, max-worker-age",
        "workers 210",
        after=[*TWO, "config.set 130 max-worker-age 100"],
        reply=[{"name": "b", "jobs": 0, "stalled": 1}],
        changes={"ql:w:a:jobs": None, "ql:workers": {"b": 120.0}},
    ),
    Example(
        "C14: a day when nothing is set",
        f"workers {110 + 86400}",
        after=TWO,
        reply=[{"name": "b", "jobs": 0, "stalled": 1}],
        changes={"ql:w:a:jobs": None, "ql:workers": {"b": 120.0}},
    ),
    Example(
        "C14: all are old",
        f"workers {120 + 86400}",
        after=TWO,
        reply={},
        changes={"ql:w:a:jobs": None, "ql:w:b:jobs": None, "ql:workers": None},
    ),
    Example(
        "C8: a moment below zero is never old",
        "workers 200000",
        after=["pop -100 q a 1"],
        reply=[{"name": "a", "jobs": 0, "stalled": 0}],
        changes={},
    ),
)
def test_workers(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "worker.lua: counts, one worker",
        "workers 130 a",
        after=TWO,
        reply={"jobs": ["J"], "stalled": {}},
        changes={},
    ),
    Example(
        "C14: a lock that ends now is in both",
        "workers 170 a",
        after=TWO,
        reply={"jobs": ["J"], "stalled": ["J"]},
    ),
    Example(
        "worker.lua: counts, the lock that lasts longest first",
        "workers 130 a",
        after=[*TWO, "put 102 me q L klass {} 0", "pop 121 q a 1"],
        reply={"jobs": ["L", "J"], "stalled": {}},
    ),
    Example(
        "worker.lua: counts, nobody knows the worker",
        "workers 130 nobody",
        after=TWO,
        reply={"jobs": {}, "stalled": {}},
    ),
    Example(
        "C12: the list of an old worker is dropped first",
        "workers 210 a",
        after=[*TWO, "config.set 130 max-worker-age 100"],
        reply={"jobs": {}, "stalled": {}},
        changes={"ql:w:a:jobs": None, "ql:workers": {"b": 120.0}},
    ),
)
def test_jobs_of_a_worker(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "worker.lua: deregister",
        "worker.deregister 130 a nobody",
        after=TWO,
        reply=None,
        changes={"ql:workers": {"b": 120.0}},
        messages=[],
    ),
)
def test_deregister(core: Target, example: Example) -> None:
    example.check(core)
