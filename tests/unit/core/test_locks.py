# SPDX-License-Identifier: MIT
"""heartbeat, timeout, and what pop does to locks that have expired, by examples."""

from __future__ import annotations

from pyqless.conformance import Target
from tests.unit.core.examples import Example, Like, stamp, table

PUT = "put 100 me q J klass {} 0"
POP = "pop 110 q worker 1"
RUNNING = (PUT, POP)
PUT_AND_POPPED = [[100, "put", {"q": "q"}], [110, "popped", {"worker": "worker"}]]
LOCK_LOST = {"jid": "J", "event": "lock_lost", "worker": "worker"}


@table(
    Example(
        "job.lua: heartbeat",
        "heartbeat 120.5 J worker",
        after=RUNNING,
        reply=180,
        changes={
            "ql:j:J": {"expires": "180.5"},
            "ql:q:q-locks": {"J": 180.5},
            "ql:w:worker:jobs": {"J": 180.5},
            "ql:workers": {"worker": 120.5},
        },
        messages=[],
    ),
    Example(
        "job.lua: heartbeat, data is written anew",
        "heartbeat 120 J worker '{\"a\": 1.0}'",
        after=RUNNING,
        holds={"ql:j:J": {"data": '{"a":1}'}},
    ),
    Example(
        "C3: false means that no data is given",
        "heartbeat 120 J worker false",
        after=["put 100 me q J klass '[1]' 0", POP],
        reply=180,
        holds={"ql:j:J": {"data": "[1]"}},
    ),
    Example(
        "job.lua: heartbeat, the setting of all queues",
        "heartbeat 120 J worker",
        after=[*RUNNING, "config.set 115 heartbeat 10"],
        reply=130,
    ),
    Example(
        "C14: the setting of the job's queue goes first, and may be below zero",
        "heartbeat 120 J worker",
        after=[*RUNNING, "config.set 115 heartbeat 10", "config.set 115 q-heartbeat -20.5"],
        reply=99,
        holds={"ql:q:q-locks": {"J": 99.5}},
    ),
    Example(
        "C2: an integer reply is cut toward zero",
        "heartbeat 120 J worker",
        after=[*RUNNING, "config.set 115 heartbeat -120.5"],
        reply=0,
        holds={"ql:j:J": {"expires": "-0.5"}},
    ),
    Example(
        "C8: the notice of the grace period stays",
        "heartbeat 175 J worker",
        after=[*RUNNING, "pop 171 q other 1"],
        reply=235,
        holds={"ql:j:J": {"grace": "1"}},
    ),
    Example(
        "job.lua: heartbeat, the worker comes back",
        "heartbeat 120 J worker",
        after=[*RUNNING, "worker.deregister 115 worker"],
        holds={"ql:workers": {"worker": 120.0}},
    ),
    Example(
        "job.lua: heartbeat, no job",
        "heartbeat 120 J worker",
        error="Heartbeat(): Job J does not exist",
    ),
    Example(
        "job.lua: heartbeat, not running",
        "heartbeat 120 J worker",
        after=[PUT],
        error="Heartbeat(): Job J not currently running: waiting",
    ),
    Example(
        "job.lua: heartbeat, another worker",
        "heartbeat 120 J other",
        after=RUNNING,
        error="Heartbeat(): Job J given out to another worker: worker",
    ),
    Example(
        "C6: a worker without a name never holds a lock",
        "heartbeat 120 J ''",
        after=[PUT, "pop 110 q '' 1"],
        error="Heartbeat(): Job J given out to another worker: ",
    ),
)
def test_heartbeat(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "job.lua: timeout",
        "timeout 120 J",
        after=RUNNING,
        reply=None,
        changes={
            "ql:j:J": {"state": "stalled", "expires": "0"},
            "ql:j:J-history": [*PUT_AND_POPPED, [120, "timed-out"]],
            "ql:q:q-locks": None,
            "ql:q:q-work": {"J": float("inf")},
        },
        messages=[("ql:w:worker", LOCK_LOST), ("ql:log", LOCK_LOST)],
    ),
    Example(
        "C8: a job that was timed out goes first",
        "pop 130 q worker 1",
        after=[*RUNNING, "put 115 me q K klass {} 0 priority 9", "timeout 120 J"],
        reply=[Like(jid="J", remaining=5, state="running")],
    ),
    Example(
        "job.lua: timeout, several",
        "timeout 120 J K",
        after=[PUT, "put 101 me q K klass {} 0", "pop 110 q worker 2"],
        reply=None,
        holds={"ql:j:J": {"state": "stalled"}, "ql:j:K": {"state": "stalled"}},
    ),
    Example("api.lua: timeout, none", "timeout 120", after=RUNNING, reply=None, changes={}),
    Example("job.lua: timeout, no job", "timeout 120 J", error="Timeout(): Job J does not exist"),
    Example(
        "job.lua: timeout, not running",
        "timeout 120 J",
        after=[PUT],
        error="Timeout(): Job J not running",
    ),
    Example(
        "C12: a job named twice is not running the second time, so nothing changes",
        "timeout 120 J J",
        after=RUNNING,
        error="Timeout(): Job J not running",
    ),
    Example(
        "job.lua: timeout, one of several is not there",
        "timeout 120 J K",
        after=RUNNING,
        error="Timeout(): Job K does not exist",
    ),
)
def test_timeout(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "queue.lua: invalidate_locks, the first time: a notice, and the grace period",
        "pop 170 q other 1",
        after=[*RUNNING, "track 115 track J"],
        reply={},
        changes={
            "ql:j:J": {"grace": "1"},
            "ql:j:J-history": [*PUT_AND_POPPED, [170, "timed-out"]],
            "ql:q:q-locks": {"J": 180.0},
            "ql:s:stats:0:q": {"retries": "1"},
            "ql:w:worker:jobs": None,
            "ql:workers": {"worker": 110.0, "other": 170.0},
        },
        messages=[("ql:stalled", "J"), ("ql:w:worker", LOCK_LOST), ("ql:log", LOCK_LOST)],
    ),
    Example(
        "queue.lua: invalidate_locks, a lock that holds yet",
        "pop 169.9 q other 1",
        after=RUNNING,
        reply={},
        changes={"ql:workers": {"worker": 110.0, "other": 169.9}},
    ),
    Example(
        "queue.lua: invalidate_locks, the second time: handed to another",
        "pop 180 q other 1",
        after=[*RUNNING, "pop 170 q other 1"],
        reply=[Like(jid="J", worker="other", remaining=4, expires=240)],
        changes={
            "ql:j:J": {
                "grace": None,
                "worker": "other",
                "remaining": "4",
                "expires": "240",
                "time": stamp(180),
            },
            "ql:j:J-history": [
                *PUT_AND_POPPED,
                [170, "timed-out"],
                [180, "popped", {"worker": "other"}],
            ],
            "ql:q:q-locks": {"J": 240.0},
            "ql:s:wait:0:q": {
                "total": "2",
                "mean": "40",
                "vk": "1800",
                "m1": "1",
            },
            "ql:w:other:jobs": {"J": 240.0},
            "ql:workers": {"worker": 110.0, "other": 180.0},
        },
        messages=[],
    ),
    Example(
        "queue.lua: invalidate_locks, the worker itself may take the job again",
        "pop 180 q worker 1",
        after=[*RUNNING, "pop 170 q worker 1"],
        reply=[Like(jid="J", worker="worker", remaining=4)],
    ),
    Example(
        "C8: heartbeat in between saves the lock, but not the next notice",
        "pop 240 q other 1",
        after=[*RUNNING, "pop 170 q other 1", "heartbeat 175 J worker"],
        reply=[Like(jid="J", worker="other")],
        messages=[],
    ),
    *(
        Example(
            "queue.lua: invalidate_locks, without a grace period both at once",
            "pop 170 q other 1",
            after=[*RUNNING, f"config.set 111 grace-period {period}"],
            reply=[Like(jid="J", worker="other", remaining=4)],
            holds={
                "ql:j:J": {"grace": None},
                "ql:j:J-history": [
                    *PUT_AND_POPPED,
                    [170, "timed-out"],
                    [170, "popped", {"worker": "other"}],
                ],
                "ql:q:q-locks": {"J": 230.0},
                "ql:s:stats:0:q": {"retries": "1"},
                "ql:w:worker:jobs": None,
                "ql:w:other:jobs": {"J": 230.0},
            },
            messages=[("ql:w:worker", LOCK_LOST), ("ql:log", LOCK_LOST)],
        )
        for period in (0, -5)
    ),
    Example(
        "queue.lua: invalidate_locks, the grace period is switched off after the notice",
        "pop 180 q other 1",
        after=[*RUNNING, "pop 170 q other 1", "config.set 171 grace-period 0"],
        reply=[Like(jid="J", worker="other", remaining=4)],
        holds={"ql:s:stats:0:q": {"retries": "2"}, "ql:j:J": {"grace": None}},
        messages=[("ql:w:worker", LOCK_LOST), ("ql:log", LOCK_LOST)],
    ),
    Example(
        "C8: what is only noticed leaves the rest of the count to what waits",
        "pop 170 q other 1",
        after=[*RUNNING, "put 115 me q K klass {} 0"],
        reply=[Like(jid="K")],
    ),
    Example(
        "C8: at most count expired locks are looked at",
        "pop 170 q other 1",
        after=[PUT, POP, "put 111 me q K klass {} 0", "pop 110 q worker 1"],
        reply={},
        holds={"ql:q:q-locks": {"K": 170.0, "J": 180.0}, "ql:j:K": {"grace": None}},
    ),
    Example(
        "C8: a lock with a moment below zero can expire",
        "pop 100 q other 1",
        after=["config.set 90 q-heartbeat -200", "config.set 90 grace-period 0", PUT, POP],
        reply=[Like(jid="J", worker="other", expires=-100)],
    ),
    Example(
        "queue.lua: invalidate_locks, retries exhausted",
        "pop 180.75 q other 1",
        after=[
            "put 100 me q J klass {} 0 retries 0",
            POP,
            "track 115 track J",
            "pop 170 q other 1",
        ],
        reply={},
        changes={
            "ql:f:failed-retries-q": ["J"],
            "ql:failures": ["failed-retries-q"],
            "ql:j:J": {
                "grace": None,
                "state": "failed",
                "worker": "",
                "expires": "",
                "remaining": "-1",
                "failure": {
                    "group": "failed-retries-q",
                    "message": 'Job exhausted retries in queue "q"',
                    "when": 180.75,
                    "worker": "",
                },
            },
            "ql:j:J-history": [
                *PUT_AND_POPPED,
                [170, "timed-out"],
                [180, "failed", {"group": "failed-retries-q"}],
            ],
            "ql:q:q-locks": None,
            "ql:s:stats:0:q": {"failures": "1", "failed": "1"},
            "ql:workers": {"worker": 110.0, "other": 180.75},
        },
        messages=[
            ("ql:failed", "J"),
            (
                "ql:log",
                {
                    "jid": "J",
                    "event": "failed",
                    "group": "failed-retries-q",
                    "worker": "worker",
                    "message": 'Job exhausted retries in queue "q"',
                },
            ),
        ],
    ),
    Example(
        "queue.lua: invalidate_locks, retries exhausted without a grace period",
        "pop 170 q other 1",
        after=[
            "config.set 90 grace-period 0",
            "put 100 me q J klass {} 0 retries 0",
            POP,
            "put 115 me q K klass {} 0",
        ],
        reply=[Like(jid="K")],
        holds={
            "ql:j:J": {"state": "failed", "grace": None},
            "ql:q:q-locks": {"K": 230.0},
            "ql:s:stats:0:q": {"retries": "1", "failures": "1", "failed": "1"},
        },
        messages=[
            ("ql:w:worker", LOCK_LOST),
            ("ql:log", LOCK_LOST),
            ("ql:log", Like(event="failed", worker="worker")),
        ],
    ),
)
def test_pop_deals_with_expired_locks(core: Target, example: Example) -> None:
    example.check(core)
