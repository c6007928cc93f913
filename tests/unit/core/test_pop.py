# SPDX-License-Identifier: MIT
"""pop and peek, by examples."""

from __future__ import annotations

import json

import pytest

from pyqless.conformance import Target
from tests.unit.core.examples import Example, Like, run, score, stamp, table

#: two jobs that wait, J longer than K
WAITING = ("put 100 me q J klass {} 0", "put 101 me q K klass {} 0")
RECURRING = "recur 100 q R klass {} interval 10 0"


def jids(*names: str) -> list[Like]:
    """A reply with these jobs in this order."""
    return [Like(jid=name) for name in names]


@table(
    Example(
        "queue.lua: pop",
        "pop 110 q worker 1",
        after=["""put 100 me q J klass '{"a": 1}' 0 priority 2 tags '["a"]'"""],
        reply=[
            {
                "jid": "J",
                "klass": "klass",
                "state": "running",
                "queue": "q",
                "worker": "worker",
                "tracked": False,
                "priority": 2,
                "expires": 170,
                "retries": 5,
                "remaining": 5,
                "data": '{"a": 1}',
                "tags": ["a"],
                "history": [
                    {"when": 100, "what": "put", "q": "q"},
                    {"when": 110, "what": "popped", "worker": "worker"},
                ],
                "failure": {},
                "spawned_from_jid": False,
                "dependents": {},
                "dependencies": {},
            }
        ],
        changes={
            "ql:j:J": {
                "state": "running",
                "worker": "worker",
                "expires": "170",
                "time": stamp(110),
            },
            "ql:j:J-history": [[100, "put", {"q": "q"}], [110, "popped", {"worker": "worker"}]],
            "ql:q:q-locks": {"J": 170.0},
            "ql:q:q-work": None,
            "ql:s:wait:0:q": {"total": "1", "mean": "10", "vk": "0", "s10": "1"},
            "ql:w:worker:jobs": {"J": 170.0},
            "ql:workers": {"worker": 110.0},
        },
        messages=[],
    ),
    Example(
        "queue.lua: pop, tracked",
        "pop 110 q worker 1",
        after=[*WAITING, "track 105 track J"],
        reply=[Like(jid="J", tracked=True)],
        messages=[("ql:popped", "J")],
    ),
    Example(
        "queue.lua: pop, nothing there",
        "pop 110 q worker 1",
        reply={},
        changes={"ql:workers": {"worker": 110.0}},
        messages=[],
    ),
    Example(
        "queue.lua: pop, the longest waiting first",
        "pop 110 q worker 5",
        after=WAITING,
        reply=jids("J", "K"),
    ),
    Example(
        "queue.lua: pop, the highest priority first",
        "pop 110 q worker 5",
        after=[*WAITING, "put 102 me q L klass {} 0 priority 1"],
        reply=jids("L", "J", "K"),
    ),
    Example(
        "C8: of equal instants the last jid in the order of bytes goes first",
        "pop 110 q worker 5",
        after=[f"put 100 me q {jid} klass {{}} 0" for jid in ("a", "b", "B", "\u00e4")],
        reply=jids("\u00e4", "b", "a", "B"),
    ),
    Example(
        "C8: the step of a double limits the order of arrival",
        "pop 2000000000 q worker 5",
        after=[
            "put 1400000000.0000001 me q a klass {} 0 priority 1000000",
            "put 1400000000.5 me q b klass {} 0 priority 1000000",
        ],
        reply=jids("b", "a"),
    ),
    Example(
        "queue.lua: pop, the heartbeat of all queues",
        "pop 110 q worker 1",
        after=[*WAITING, "config.set 90 heartbeat 12.5"],
        reply=[Like(jid="J", expires=122.5)],
        holds={"ql:j:J": {"expires": "122.5"}, "ql:q:q-locks": {"J": 122.5}},
    ),
    Example(
        "queue.lua: pop, the heartbeat of one queue",
        "pop 110 q worker 1",
        after=[*WAITING, "config.set 90 heartbeat 12.5", "config.set 90 q-heartbeat -20"],
        reply=[Like(jid="J", expires=90)],
    ),
    Example(
        "C4: a moment in JSON has 14 digits, in the hash 17",
        "pop 1400000000.9876542 q worker 1",
        after=WAITING,
        reply=[Like(jid="J", expires=1400000060.9877)],
        holds={"ql:j:J": {"expires": "1400000060.9876542"}},
    ),
    Example(
        "queue.lua: pop, a paused queue; C8: the worker is not registered",
        "pop 110 q worker 1",
        after=[*WAITING, "pause 105 q"],
        reply={},
        changes={},
    ),
    Example(
        "queue.lua: pop, another queue is paused",
        "pop 110 q worker 1",
        after=[*WAITING, "pause 105 p"],
        reply=jids("J"),
    ),
)
def test_pop_hands_out_what_waits(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "C8: 0 hands out nothing, but registers the worker",
        "pop 110 q worker 0",
        after=WAITING,
        reply={},
        changes={"ql:workers": {"worker": 110.0}},
    ),
    *(
        Example(
            "C8: counts as C reads them",
            f"pop 110 q worker {count}",
            after=[*WAITING, "put 102 me q L klass {} 0"],
            reply=jids("J", "K"),
        )
        for count in ("0x2", "' 2 '", "2e0", "2.")
    ),
    Example(
        "C8: -1 hands out all that waits but the last one",
        "pop 110 q worker -1",
        after=[*WAITING, "put 102 me q L klass {} 0"],
        reply=jids("J", "K"),
        holds={"ql:q:q-work": {"L": score(0, 102)}},
    ),
    Example(
        "C8: -2 leaves one more",
        "pop 110 q worker -2",
        after=[*WAITING, "put 102 me q L klass {} 0"],
        reply=jids("J"),
    ),
    Example(
        "C8: a count below zero makes no children",
        "pop 110 q worker -1",
        after=[*WAITING, RECURRING],
        reply=jids("J"),
        holds={"ql:r:R": {"count": "0"}, "ql:q:q-recur": {"R": 100.0}},
    ),
    Example(
        "C8: a count below zero promotes all that is due",
        "pop 110 q worker -1",
        after=[
            *WAITING,
            "put 90 me q L klass {} 15 priority 1",
            "put 91 me q M klass {} 15 priority 1",
            "put 92 me q N klass {} 50",
        ],
        reply=jids("M", "L", "J"),
        holds={"ql:q:q-scheduled": {"N": 142.0}, "ql:q:q-work": {"K": score(0, 101)}},
    ),
    Example(
        "C8: a count below zero takes all expired locks, and then leaves one more for each",
        "pop 200 q worker -1",
        after=[
            "config.set 90 grace-period 0",
            *WAITING,
            "put 102 me q L klass {} 0",
            "put 103 me q M klass {} 0",
            "put 104 me q N klass {} 0",
            "pop 110 q worker 2",
        ],
        # two in hand: ZREVRANGE 0 -4
        reply=jids("J", "K"),
        holds={"ql:q:q-work": {"L": score(0, 102), "M": score(0, 103), "N": score(0, 104)}},
    ),
    Example(
        "C8: a count below zero takes all expired locks, and then leaves one more for each",
        "pop 200 q worker -1",
        after=[
            "config.set 90 grace-period 0",
            *WAITING,
            "put 102 me q L klass {} 0",
            "put 103 me q M klass {} 0",
            "put 104 me q N klass {} 0",
            "pop 110 q worker 1",
        ],
        # one in hand: ZREVRANGE 0 -3
        reply=jids("J", "K", "L"),
        holds={"ql:q:q-work": {"M": score(0, 103), "N": score(0, 104)}},
    ),
)
def test_pop_count(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "queue.lua: pop, max-concurrency",
        "pop 110 q worker 5",
        after=[*WAITING, "config.set 90 q-max-concurrency 1"],
        reply=jids("J"),
    ),
    Example(
        "C8: the limit is reached: nothing, but the worker is registered",
        "pop 120 q other 5",
        after=[*WAITING, "config.set 90 q-max-concurrency 1", "pop 110 q worker 1"],
        reply={},
        changes={"ql:workers": {"worker": 110.0, "other": 120.0}},
    ),
    Example(
        "C8: a lock that ends now is running still",
        "pop 170 q other 5",
        after=[*WAITING, "config.set 90 q-max-concurrency 1", "pop 110 q worker 1"],
        reply={},
        holds={"ql:j:J": {"worker": "worker"}},
    ),
    Example(
        "C8: an expired lock does not count",
        "pop 171 q other 5",
        after=[
            *WAITING,
            "config.set 90 q-max-concurrency 1",
            "config.set 90 grace-period 0",
            "pop 110 q worker 1",
        ],
        reply=jids("J"),
    ),
    Example(
        "C8: a limit of another queue",
        "pop 120 q other 5",
        after=[*WAITING, "config.set 90 p-max-concurrency 1", "pop 110 q worker 1"],
        reply=jids("K"),
    ),
    Example(
        "C8: a limit of 0 or less is none",
        "pop 110 q worker 5",
        after=[*WAITING, "config.set 90 q-max-concurrency -1"],
        reply=jids("J", "K"),
    ),
    Example(
        "C8: a count below zero is less than what the limit allows",
        "pop 110 q worker -1",
        after=[*WAITING, "config.set 90 q-max-concurrency 1"],
        reply=jids("J"),
    ),
)
def test_pop_keeps_the_limit_of_running_jobs(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "queue.lua: check_scheduled",
        "pop 110 q worker 1",
        after=["put 100 me q J klass {} 10", "put 100 me q K klass {} 11"],
        reply=[Like(jid="J", state="running")],
        changes={
            "ql:j:J": {
                "state": "running",
                "worker": "worker",
                "expires": "170",
                "time": stamp(110),
            },
            "ql:j:J-history": [[100, "put", {"q": "q"}], [110, "popped", {"worker": "worker"}]],
            "ql:q:q-locks": {"J": 170.0},
            "ql:q:q-scheduled": {"K": 111.0},
            "ql:s:wait:0:q": {"total": "1", "mean": "10", "vk": "0", "s10": "1"},
            "ql:w:worker:jobs": {"J": 170.0},
            "ql:workers": {"worker": 110.0},
        },
    ),
    Example(
        "C8: what is promoted competes with what waits, as of now",
        "pop 120 q worker 1",
        after=["put 100 me q J klass {} 5", "put 110 me q K klass {} 0"],
        reply=jids("K"),
        holds={
            "ql:j:J": {"state": "waiting"},
            "ql:q:q-scheduled": None,
            "ql:q:q-work": {"J": score(0, 120)},
        },
    ),
    Example(
        "C8: what is promoted goes first if its priority is higher",
        "pop 120 q worker 1",
        after=["put 100 me q J klass {} 5 priority 0.5", "put 110 me q K klass {} 0"],
        reply=jids("J"),
    ),
    Example(
        "C8: as many are promoted as are wanted",
        "pop 120 q worker 1",
        after=["put 100 me q J klass {} 5", "put 100 me q K klass {} 6 priority 1"],
        reply=jids("J"),
        holds={"ql:q:q-scheduled": {"K": 106.0}},
    ),
    Example(
        "C8: a moment below zero is never due",
        "pop -50 q worker 1",
        after=["put -100 me q J klass {} 10"],
        reply={},
        holds={"ql:q:q-scheduled": {"J": -90.0}},
    ),
    Example(
        "C8: a job put to run later still has the time of its put",
        "pop 90100 q worker 1",
        after=["put 100 me q J klass {} 5"],
        holds={"ql:s:wait:86400:q": {"total": "1", "mean": "90000", "d1": "1"}},
    ),
)
def test_pop_promotes_what_is_due(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "queue.lua: check_recurring",
        "pop 105 q worker 1",
        after=[
            """recur 100 q R klass '{"a": 1}' interval 10 0 priority 2 tags '["a"]' retries 3"""
        ],
        reply=[
            Like(
                jid="R-1",
                klass="klass",
                data='{"a": 1}',
                priority=2,
                tags=["a"],
                retries=3,
                remaining=3,
                spawned_from_jid="R",
                history=[
                    {"when": 100, "what": "put", "q": "q"},
                    {"when": 105, "what": "popped", "worker": "worker"},
                ],
            )
        ],
        changes={
            "ql:j:R-1": {
                "jid": "R-1",
                "klass": "klass",
                "data": '{"a": 1}',
                "priority": "2",
                "tags": '["a"]',
                "state": "running",
                "worker": "worker",
                "expires": "165",
                "queue": "q",
                "retries": "3",
                "remaining": "3",
                "time": stamp(105),
                "spawned_from_jid": "R",
            },
            "ql:j:R-1-history": [
                [100, "put", {"q": "q"}],
                [105, "popped", {"worker": "worker"}],
            ],
            "ql:q:q-locks": {"R-1": 165.0},
            "ql:q:q-recur": {"R": 110.0},
            "ql:r:R": {"count": "1"},
            "ql:s:wait:0:q": {"total": "1", "mean": "5", "vk": "0", "s5": "1"},
            "ql:t:a": {"R-1": 105.0},
            "ql:tags": {"a": 1.0},
            "ql:w:worker:jobs": {"R-1": 165.0},
            "ql:workers": {"worker": 105.0},
        },
        messages=[],
    ),
    Example(
        "queue.lua: check_recurring, one that is not due",
        "pop 105 q worker 1",
        after=["recur 100 q R klass {} interval 10 6"],
        reply={},
        holds={"ql:q:q-recur": {"R": 106.0}, "ql:r:R": {"count": "0"}},
    ),
    Example(
        "queue.lua: check_recurring, as many runs as are wanted",
        "pop 135 q worker 2",
        after=[RECURRING],
        reply=jids("R-1", "R-2"),
        holds={"ql:q:q-recur": {"R": 120.0}, "ql:r:R": {"count": "2"}},
    ),
    Example(
        "C11: all runs that are due",
        "pop 135 q worker 9",
        after=[RECURRING],
        reply=jids("R-1", "R-2", "R-3", "R-4"),
        holds={"ql:q:q-recur": {"R": 140.0}},
    ),
    Example(
        "C11: fractions of a second",
        "pop 101 q worker 9",
        after=["recur 100 q R klass {} interval 0.5 0"],
        reply=jids("R-1", "R-2", "R-3"),
        holds={
            "ql:q:q-recur": {"R": 101.5},
            "ql:j:R-2": {"time": stamp(101)},
            "ql:j:R-2-history": [[100, "put", {"q": "q"}], [101, "popped", {"worker": "worker"}]],
        },
    ),
    Example(
        "C11: the fraction of an offset is lost at the first run",
        "pop 101 q worker 1",
        after=["recur 100 q R klass {} interval 10 0.75"],
        holds={"ql:q:q-recur": {"R": 110.0}, "ql:s:wait:0:q": {"mean": "1"}},
    ),
    Example(
        "C11: a backlog",
        "pop 1001 q worker 9",
        after=["recur 100 q R klass {} interval 10 0 backlog 2"],
        reply=[
            Like(jid="R-1", history=[Like(when=990), Like(when=1001)]),
            Like(jid="R-2", history=[Like(when=1000), Like(when=1001)]),
        ],
        holds={"ql:q:q-recur": {"R": 1010.0}, "ql:r:R": {"count": "2"}},
    ),
    Example(
        "queue.lua: check_recurring, fewer are due than the backlog allows",
        "pop 111 q worker 9",
        after=["recur 100 q R klass {} interval 10 0 backlog 2"],
        reply=jids("R-1", "R-2"),
    ),
    Example(
        "C11: a backlog below zero makes none",
        "pop 105 q worker 9",
        after=["recur 100 q R klass {} interval 10 0 backlog -1"],
        reply={},
        holds={"ql:q:q-recur": {"R": 100.0}, "ql:r:R": {"count": "0"}},
    ),
    Example(
        "queue.lua: check_recurring, a backlog below zero makes none at the very moment either",
        "pop 100 q worker 9",
        after=["recur 100 q R klass {} interval 10 0 backlog -1"],
        reply={},
        holds={"ql:q:q-recur": {"R": 100.0}, "ql:r:R": {"count": "0"}},
    ),
    Example(
        "C11: the number of children goes on after recur",
        "pop 205 q worker 9",
        after=[RECURRING, "pop 105 q worker 1", "recur 200 q R klass {} interval 10 0"],
        reply=jids("R-2"),
    ),
    Example(
        "C11: a child overwrites the fields of a job with its jid, the history goes on",
        "pop 110 q worker 9",
        after=["put 90 me p R-1 old '[1]' 0 priority 9 retries 9", RECURRING],
        reply=[Like(jid="R-1", klass="klass", data="{}", priority=0, retries=0), Like(jid="R-2")],
        holds={
            "ql:j:R-1-history": [
                [90, "put", {"q": "p"}],
                [100, "put", {"q": "q"}],
                [110, "popped", {"worker": "worker"}],
            ],
            "ql:q:p-work": {"R-1": score(9, 90)},
        },
    ),
    Example(
        "C8: children compete by the moment at which they were due",
        "pop 120 q worker 3",
        after=["recur 100 q R klass {} interval 10 0", "put 105 me q J klass {} 0"],
        reply=jids("R-1", "J", "R-2"),
        holds={"ql:q:q-work": {"R-3": score(0, 120)}, "ql:j:R-3": {"state": "waiting"}},
    ),
    Example(
        "C8: two recurring jobs, the longest due first",
        "pop 101 q worker 2",
        after=["recur 90 q R klass {} interval 10 0", "recur 80 q S klass {} interval 100 0"],
        reply=jids("S-1", "R-1"),
        holds={"ql:q:q-recur": {"R": 100.0, "S": 180.0}},
    ),
    Example(
        "C8: with what is wanted made, the next recurring job waits",
        "pop 101 q worker 1",
        after=["recur 90 q R klass {} interval 10 0", "recur 80 q S klass {} interval 100 0"],
        reply=jids("S-1"),
        holds={"ql:q:q-recur": {"R": 90.0, "S": 180.0}},
    ),
    Example(
        "C11: an interval of 0 makes as many as are wanted",
        "pop 105 q worker 3",
        after=[RECURRING, "recur.update 100 R interval 0"],
        # the update moves the next run from 100 to 90
        reply=jids("R-3", "R-2", "R-1"),
        holds={"ql:q:q-recur": {"R": 90.0}, "ql:r:R": {"count": "3"}},
    ),
    Example(
        "C11: an interval below zero goes back in time",
        "pop 105 q worker 2",
        after=[RECURRING, "recur.update 100 R interval -1"],
        reply=jids("R-2", "R-1"),
        holds={"ql:q:q-recur": {"R": 87.0}},
    ),
    Example(
        "queue.lua: check_recurring, a job moved to another queue by update",
        "pop 105 p worker 2",
        after=[RECURRING, "recur.update 100 R queue p"],
        reply=[Like(jid="R-1", queue="p")],
    ),
)
def test_pop_makes_children_of_recurring_jobs(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "queue.lua: peek",
        "peek 110 q 1",
        after=WAITING,
        reply=[Like(jid="J", state="waiting", worker="", history=[Like(when=100, what="put")])],
        changes={},
        messages=[],
    ),
    Example("queue.lua: peek, nothing there", "peek 110 q 9", reply={}, changes={}),
    Example("queue.lua: peek, 0", "peek 110 q 0", after=WAITING, reply={}, changes={}),
    Example("queue.lua: peek, -1", "peek 110 q -1", after=WAITING, reply=jids("J")),
    Example(
        "queue.lua: peek, a paused queue shows its jobs",
        "peek 110 q 9",
        after=[*WAITING, "pause 105 q"],
        reply=jids("J", "K"),
    ),
    Example(
        "C8: peek promotes what is due",
        "peek 110 q 9",
        after=["put 100 me q J klass {} 10"],
        reply=[Like(jid="J", state="waiting")],
        changes={
            "ql:j:J": {"state": "waiting"},
            "ql:q:q-scheduled": None,
            "ql:q:q-work": {"J": score(0, 110)},
        },
    ),
    Example(
        "C8: peek makes children",
        "peek 105 q 9",
        after=[RECURRING],
        reply=[Like(jid="R-1", state="waiting", history=[Like(when=100, what="put", q="q")])],
        changes={
            "ql:j:R-1": {
                "jid": "R-1",
                "klass": "klass",
                "data": "{}",
                "priority": "0",
                "tags": "{}",
                "state": "waiting",
                "worker": "",
                "expires": "0",
                "queue": "q",
                "retries": "0",
                "remaining": "0",
                "time": stamp(100),
                "spawned_from_jid": "R",
            },
            "ql:j:R-1-history": [[100, "put", {"q": "q"}]],
            "ql:q:q-recur": {"R": 110.0},
            "ql:q:q-work": {"R-1": score(0, 100)},
            "ql:r:R": {"count": "1"},
        },
    ),
    Example(
        "C8: peek shows expired locks first, and leaves them",
        "peek 200 q 2",
        after=[
            *WAITING,
            "put 102 me q L klass {} 0 priority 9",
            "pop 110 q worker 1",
            "pop 111 q worker 1",
        ],
        reply=[Like(jid="L", state="running"), Like(jid="J", state="running")],
        changes={},
    ),
    Example(
        "C8: fewer expired locks than wanted",
        "peek 170 q 2",
        after=[*WAITING, "pop 110 q worker 1"],
        reply=[Like(jid="J", state="running"), Like(jid="K", state="waiting")],
    ),
    Example(
        "C8: peek shows a job that stands in two places twice",
        "peek 200 q 9",
        after=[
            RECURRING,
            "pop 100 q worker 1",
            "unrecur 101 R",
            "recur 102 q R klass {} interval 1000 0",
            "peek 103 q 1",
        ],
        reply=jids("R-1", "R-1"),
    ),
)
def test_peek(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "C8: an expired lock and a work entry of one jid: handed out twice, statistics count both",
        "pop 200 q other 9",
        after=[
            "config.set 90 grace-period 0",
            "recur 100 q R klass {} interval 1000 0 retries 2",
            "pop 100 q worker 1",
            "unrecur 110 R",
            # a second R-1 in work, beside the first one's lock
            "recur 110 q R klass {} interval 1000 0 retries 2",
            "peek 110 q 1",
        ],
        reply=[Like(jid="R-1", remaining=1), Like(jid="R-1", remaining=1)],
        holds={
            "ql:j:R-1-history": [
                [100, "put", {"q": "q"}],
                [100, "popped", {"worker": "worker"}],
                [110, "put", {"q": "q"}],
                [200, "timed-out"],
                [200, "popped", {"worker": "other"}],
                [200, "popped", {"worker": "other"}],
            ],
            "ql:q:q-work": None,
            "ql:q:q-locks": {"R-1": 260.0},
            # 0; 90 and then 0, since the first copy has set the time
            "ql:s:wait:0:q": {"total": "3", "s0": "2", "m1": "1", "mean": "30", "vk": "5400"},
        },
    ),
    Example(
        "C8: one that has failed for good is taken out of work too",
        "pop 200 q other 9",
        after=[
            "config.set 90 grace-period 0",
            "recur 100 q R klass {} interval 1000 0 retries 0",
            "pop 100 q worker 1",
            "unrecur 110 R",
            "recur 110 q R klass {} interval 1000 0 retries 0",
            "peek 110 q 1",
        ],
        reply={},
        holds={
            "ql:j:R-1": {"state": "failed"},
            "ql:q:q-work": None,
            "ql:q:q-locks": None,
            "ql:f:failed-retries-q": ["R-1"],
        },
    ),
    Example(
        "queue.lua: invalidate_locks, one that has failed is taken out of scheduled too",
        "pop 200 q other 9",
        after=[
            "config.set 90 grace-period 0",
            "put 95 me q R-1 klass {} 50",
            "recur 100 q R klass {} interval 1000 0 retries 0",
            "pop 100 q worker 1",
            "put 110 me q J klass {} 10",
        ],
        reply=jids("J"),
        holds={"ql:j:R-1": {"state": "failed"}, "ql:q:q-scheduled": None, "ql:q:q-work": None},
    ),
    *(
        Example(
            "queue.lua: invalidate_locks, one that has failed makes room for the next in scheduled",
            f"pop 200 q other {count}",
            after=[
                "config.set 90 grace-period 0",
                "put 95 me q R-1 klass {} 50",
                "recur 100 q R klass {} interval 1000 0 retries 0",
                "pop 100 q worker 1",
                # in scheduled at 145 since 95, and locked until 160
                "put 110 me q J klass {} 40",
                "put 110 me q K klass {} 45",
                "put 110 me q L klass {} 200",
            ],
            reply=jids("K", "J")[2 - count :],
            holds={"ql:j:R-1": {"state": "failed"}, "ql:q:q-scheduled": left},
        )
        for count, left in ((1, {"K": 155.0, "L": 310.0}), (2, {"L": 310.0}))
    ),
    Example(
        "C8: one that has failed makes room for the next in work",
        "pop 200 q other 1",
        after=[
            "config.set 90 grace-period 0",
            "recur 100 q R klass {} interval 1000 0 retries 0 priority 1",
            "pop 100 q worker 1",
            "unrecur 110 R",
            "recur 110 q R klass {} interval 1000 0 retries 0 priority 1",
            "peek 110 q 1",
            "put 120 me q J klass {} 0",
        ],
        reply=jids("J"),
    ),
    Example(
        "C8: one whose worker is told keeps its place in work, though it has failed elsewhere before",
        "pop 200 q other 1",
        after=[
            "config.set 90 grace-period 0",
            "put 90 me p R-1 klass {} 0 retries 0",
            "recur 100 q R klass {} interval 1000 0 priority 1",
            # R-1 stands in the work of both queues, and now belongs to q
            "peek 100 q 1",
            "pop 100 p worker 1",
            "heartbeat 100 R-1 worker",
            # so does its lock; in p its retries are exhausted
            "pop 170 p other 1",
            "config.set 180 grace-period 10",
            "put 190 me q J klass {} 0",
        ],
        reply=[Like(jid="R-1", state="running")],
        holds={"ql:q:q-work": {"J": score(0, 190)}, "ql:q:q-locks": {"R-1": 260.0}},
    ),
    Example(
        "C8: a promoted job that stands in work already changes its place there",
        "pop 200 q worker 1",
        after=[
            "recur 100 q R klass {} interval 1000 0",
            "put 100 me q R-1 klass {} 50",
            "peek 100 q 1",
            # in scheduled at 150 and in work since 100
            "put 110 me q J klass {} 0",
        ],
        reply=jids("J"),
        holds={"ql:q:q-work": {"R-1": score(0, 200)}, "ql:q:q-scheduled": None},
    ),
)
def test_a_job_that_stands_in_two_places(core: Target, example: Example) -> None:
    example.check(core)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 30])
def test_pops_of_any_size_give_the_same_order(core: Target, count: int) -> None:
    for number in range(20):
        run(core, f"put {100 + number} me q J{number:02} klass {{}} 0 priority {number % 4}")
    order = sorted(range(20), key=lambda number: (-(number % 4), number))
    popped: list[str] = []
    while jobs := json.loads(run(core, f"pop 200 q worker {count}")):
        popped += [job["jid"] for job in jobs]
    assert popped == [f"J{number:02}" for number in order]
