# SPDX-License-Identifier: MIT
"""queues, jobs, length, pause, unpause and queue.forget, by examples."""

from __future__ import annotations

from typing import Any

import pytest

from pyqless.conformance import Target
from tests.unit.core.examples import Example, Like, run, score, table

#: one job in each state: running, stalled (until 165), waiting, delayed, waiting for another, recurring
BUSY = (
    "put 100 me q S klass {} 0",
    "pop 105 q worker 1",
    "put 110 me q R klass {} 0",
    "pop 120 q worker 1",
    "put 130 me q W klass {} 0",
    "put 131 me q V klass {} 0",
    "put 132 me q D klass {} 1000",
    """put 133 me q E klass {} 0 depends '["W"]'""",
    "recur 134 q C klass {} interval 10 1000",
)
COUNTS = {
    "name": "q",
    "waiting": 2,
    "running": 1,
    "stalled": 1,
    "scheduled": 1,
    "depends": 1,
    "recurring": 1,
    "paused": False,
}
NOTHING = dict.fromkeys(COUNTS, 0) | {"paused": False}


@table(
    Example("queue.lua: counts", "queues 170 q", after=BUSY, reply=COUNTS, changes={}),
    Example(
        "queue.lua: counts, a queue that nobody knows",
        "queues 170 p",
        reply={**NOTHING, "name": "p"},
        changes={},
    ),
    Example(
        "queue.lua: counts, a paused queue",
        "queues 170 q",
        after=[*BUSY, "pause 140 q"],
        reply={**COUNTS, "paused": True},
    ),
    Example(
        "C8: a lock that ends now is stalled only",
        "queues 165 q",
        after=BUSY,
        reply=Like(running=1, stalled=1),
    ),
    Example(
        "C8: a lock with a moment below zero is running",
        "queues 100 q",
        after=["config.set 90 q-heartbeat -200", "put 100 me q J klass {} 0", "pop 100 q w 1"],
        reply=Like(running=1, stalled=0),
    ),
    Example(
        "queue.lua: counts, what is due is promoted first",
        "queues 1132 q",
        after=BUSY,
        reply=Like(waiting=3, scheduled=0),
        changes={
            "ql:j:D": {"state": "waiting"},
            "ql:q:q-scheduled": None,
            "ql:q:q-work": {"W": score(0, 130), "V": score(0, 131), "D": score(0, 1132)},
        },
        messages=[],
    ),
    Example(
        "queue.lua: counts, many are due",
        "queues 200 q",
        after=[f"put 100 me q J{n:03} klass {{}} {10 + n % 7}" for n in range(250)],
        reply=Like(waiting=250, scheduled=0),
        holds={
            "ql:q:q-scheduled": None,
            "ql:q:q-work": {f"J{n:03}": score(0, 200) for n in range(250)},
        },
    ),
    Example("queue.lua: counts, no queues", "queues 170", reply={}, changes={}),
    Example(
        "queue.lua: counts, all queues in the order in which they were first seen",
        "queues 300",
        after=[
            "put 102 me a J klass {} 0",
            "put 101 me b K klass {} 50",
            "put 103 me c L klass {} 1000",
        ],
        reply=[
            {**NOTHING, "name": "b", "waiting": 1},
            {**NOTHING, "name": "a", "waiting": 1},
            {**NOTHING, "name": "c", "scheduled": 1},
        ],
        changes={
            "ql:j:K": {"state": "waiting"},
            "ql:q:b-scheduled": None,
            "ql:q:b-work": {"K": score(0, 300)},
        },
    ),
    Example(
        "queue.lua: counts, in two of all queues jobs are due",
        "queues 300",
        after=["put 102 me a J klass {} 10", "put 103 me b K klass {} 50"],
        reply=[Like(name="a", waiting=1), Like(name="b", waiting=1)],
    ),
)
def test_queues(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example("base.lua: jobs running", "jobs 170 running q", after=BUSY, reply=["R"], changes={}),
    Example("base.lua: jobs stalled", "jobs 170 stalled q", after=BUSY, reply=["S"], changes={}),
    Example(
        "C8: a lock that ends now is in both lists",
        "jobs 165 running q",
        after=BUSY,
        reply=["S", "R"],
    ),
    Example(
        "C8: a lock that ends now is in both lists", "jobs 165 stalled q", after=BUSY, reply=["S"]
    ),
    Example(
        "C8: a lock with a moment below zero is stalled",
        "jobs 100 stalled q",
        after=["config.set 90 q-heartbeat -200", "put 100 me q J klass {} 0", "pop 100 q w 1"],
        reply=["J"],
    ),
    Example(
        "base.lua: jobs scheduled", "jobs 170 scheduled q", after=BUSY, reply=["D"], changes={}
    ),
    Example(
        "base.lua: jobs scheduled, what is due is promoted first",
        "jobs 1132 scheduled q",
        after=BUSY,
        reply=[],
        changes={
            "ql:j:D": {"state": "waiting"},
            "ql:q:q-scheduled": None,
            "ql:q:q-work": {"W": score(0, 130), "V": score(0, 131), "D": score(0, 1132)},
        },
    ),
    Example("base.lua: jobs depends", "jobs 170 depends q", after=BUSY, reply=["E"], changes={}),
    Example(
        "base.lua: jobs recurring", "jobs 170 recurring q", after=BUSY, reply=["C"], changes={}
    ),
    Example("base.lua: jobs complete", "jobs 170 complete", after=BUSY, reply=[], changes={}),
    *(
        Example("base.lua: jobs, a queue that nobody knows", f"jobs 170 {state} p", reply=[])
        for state in ("running", "stalled", "scheduled", "depends", "recurring")
    ),
    Example(
        "base.lua: jobs, an unknown state",
        "jobs 170 waiting q",
        error='Jobs(): Unknown type "waiting"',
    ),
)
def test_jobs(core: Target, example: Example) -> None:
    example.check(core)


def in_state(state: str, number: int) -> list[str]:
    """The calls that bring a job into a state in the queue q."""
    jid, now = f"J{number:02}", 100 + number
    put = f"put {now} me q {jid} klass {{}} 0"
    return {
        "running": [put, f"pop {now} q worker 1"],
        "stalled": [put, f"pop {now - 99} q worker 1"],
        "scheduled": [f"put {now} me q {jid} klass {{}} 1000"],
        "depends": ["put 90 me p P klass {} 0", f"""{put} depends '["P"]'"""],
        "recurring": [f"recur {now} q {jid} klass {{}} interval 10 1000"],
        "complete": [put, f"pop {now} q worker 1", f"complete {now} {jid} worker q {{}}"],
    }[state]


#: the page, and what it gives of 30 jids in a sorted set that is read by ranks
BY_RANK = [
    ("", range(25)),
    ("28", range(28, 30)),
    ("3 2", range(3, 5)),
    ("0 0", range(30)),
    ("0 -1", range(29)),
    ("-3 2", range(27, 29)),
    ("40", range(0)),
]
#: likewise, of one that is read by scores with a LIMIT
BY_SCORE = [
    ("", range(25)),
    ("28", range(28, 30)),
    ("3 2", range(3, 5)),
    ("0 0", range(0)),
    ("0 -1", range(30)),
    ("28 -1", range(28, 30)),
    ("-3 2", range(0)),
    ("40", range(0)),
]
PAGES = {
    "running": BY_SCORE,
    "stalled": BY_SCORE,
    "recurring": BY_SCORE,
    "scheduled": BY_RANK,
    "depends": BY_RANK,
}


@pytest.mark.parametrize(
    ("state", "page", "expected"),
    [(state, page, expected) for state, pages in PAGES.items() for page, expected in pages],
)
def test_pages_of_jobs(core: Target, state: str, page: str, expected: range) -> None:
    for number in range(30):
        for call in in_state(state, number):
            run(core, call)
    reply = run(core, f"jobs 135 {state} q {page}")
    assert reply == [f"J{number:02}" for number in expected]


@pytest.mark.parametrize(("page", "expected"), BY_RANK)
def test_pages_of_complete_jobs(core: Target, page: str, expected: range) -> None:
    for number in range(30):
        for call in in_state("complete", number):
            run(core, call)
    reply = run(core, f"jobs 135 complete {page}")
    # the last one first
    assert reply == [f"J{29 - number:02}" for number in expected]


@table(
    Example("queue.lua: length, running, waiting and delayed", "length 170 q", after=BUSY, reply=5),
    Example(
        "queue.lua: length, nothing is promoted", "length 9999 q", after=BUSY, reply=5, changes={}
    ),
    Example("queue.lua: length, a queue that nobody knows", "length 170 p", after=BUSY, reply=0),
)
def test_length(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "queue.lua: pause",
        "pause 100 q p",
        reply=None,
        changes={"ql:paused_queues": ["p", "q"]},
        messages=[],
    ),
    Example("queue.lua: pause, paused already", "pause 100 q", after=["pause 90 q"], changes={}),
    Example(
        "queue.lua: unpause",
        "unpause 100 q r",
        after=["pause 90 q p"],
        reply=None,
        changes={"ql:paused_queues": ["p"]},
        messages=[],
    ),
    Example(
        "queue.lua: deregister",
        "queue.forget 110 q r",
        after=["put 100 me q J klass {} 0", "put 101 me p K klass {} 0"],
        reply=None,
        changes={"ql:queues": {"p": 101.0}},
        messages=[],
    ),
)
def test_pause_unpause_and_forget(core: Target, example: Example) -> None:
    example.check(core)


def test_a_queue_that_is_no_longer_paused_hands_out_jobs(core: Target) -> None:
    replies: list[Any] = [
        run(core, call)
        for call in (
            "put 100 me q J klass {} 0",
            "pause 101 q",
            "pop 102 q worker 1",
            "unpause 103 q",
            "length 104 q",
        )
    ]
    assert replies == ["J", None, "{}", None, 1]
    assert run(core, "pop 105 q worker 1") != "{}"
