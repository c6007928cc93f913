# SPDX-License-Identifier: MIT
"""fail, retry, unfail and failed, by examples."""

from __future__ import annotations

from pyqless.conformance import Target
from tests.unit.core.examples import Example, Like, score, table

PUT = "put 100 me q J klass {} 0"
POP = "pop 110 q worker 1"
RUNNING = (PUT, POP)
FAILED = (*RUNNING, "fail 120 J worker group message")
PUT_AND_POPPED = [[100, "put", {"q": "q"}], [110, "popped", {"worker": "worker"}]]


@table(
    Example(
        "job.lua: fail",
        "fail 120.75 J worker 'a group' 'a \"message\"'",
        after=RUNNING,
        reply="J",
        changes={
            "ql:f:a group": ["J"],
            "ql:failures": ["a group"],
            "ql:j:J": {
                "state": "failed",
                "worker": "",
                "expires": "",
                "failure": {
                    "group": "a group",
                    "message": 'a "message"',
                    "when": 120,
                    "worker": "worker",
                },
            },
            "ql:j:J-history": [
                *PUT_AND_POPPED,
                [120, "failed", {"worker": "worker", "group": "a group"}],
            ],
            "ql:q:q-locks": None,
            "ql:s:stats:0:q": {"failures": "1", "failed": "1"},
            "ql:w:worker:jobs": None,
        },
        messages=[
            (
                "ql:log",
                {
                    "jid": "J",
                    "event": "failed",
                    "worker": "worker",
                    "group": "a group",
                    "message": 'a "message"',
                },
            )
        ],
    ),
    Example(
        "C10: the log is told first, then those who track the job",
        "fail 120 J worker group message",
        after=[*RUNNING, "track 115 track J"],
        messages=[("ql:log", Like(event="failed")), ("ql:failed", "J")],
    ),
    Example(
        "C4: fail writes data anew",
        """fail 120 J worker group message '{"a": [1.0, "\\/"]}'""",
        after=RUNNING,
        holds={"ql:j:J": {"data": '{"a":[1,"\\/"]}'}},
    ),
    Example(
        "C3: false means that no data is given",
        "fail 120 J worker group message false",
        after=["put 100 me q J klass '[1]' 0", POP],
        holds={"ql:j:J": {"data": "[1]"}},
    ),
    Example(
        "C3: null is data",
        "fail 120 J worker group message null",
        after=RUNNING,
        holds={"ql:j:J": {"data": "null"}},
    ),
    Example(
        "C1: group and message may be empty",
        "fail 120 J worker '' ''",
        after=RUNNING,
        holds={"ql:f:": ["J"], "ql:failures": [""]},
    ),
    Example(
        "job.lua: fail, the newest stands first",
        "fail 130 J worker group message",
        after=["put 90 me q K klass {} 0", PUT, "pop 110 q worker 2", "fail 120 K worker group m"],
        holds={"ql:f:group": ["J", "K"], "ql:s:stats:0:q": {"failures": "2", "failed": "2"}},
    ),
    Example(
        "job.lua: fail, no job",
        "fail 120 J worker group message",
        error="Fail(): Job Jdoes not exist",
    ),
    Example(
        "job.lua: fail, not running",
        "fail 120 J worker group message",
        after=[PUT],
        error="Fail(): Job Jnot currently running: waiting",
    ),
    Example(
        "job.lua: fail, another worker",
        "fail 120 J other group message",
        after=RUNNING,
        error="Fail(): Job J running with another worker: worker",
    ),
)
def test_fail(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "job.lua: retry",
        "retry 120 J q worker",
        after=RUNNING,
        reply=4,
        changes={
            "ql:j:J": {"state": "waiting", "remaining": "4"},
            "ql:q:q-locks": None,
            "ql:q:q-work": {"J": score(0, 120)},
            "ql:w:worker:jobs": None,
        },
        messages=[],
    ),
    Example(
        "job.lua: retry, delay",
        "retry 120 J q worker 10.5",
        after=RUNNING,
        reply=4,
        changes={
            "ql:j:J": {"state": "scheduled", "remaining": "4"},
            "ql:q:q-locks": None,
            "ql:q:q-scheduled": {"J": 130.5},
            "ql:w:worker:jobs": None,
        },
    ),
    Example(
        "job.lua: retry, a delay below zero is none; the priority stays",
        "retry 120 J q worker -1",
        after=["put 100 me q J klass {} 0 priority 3", POP],
        holds={"ql:q:q-work": {"J": score(3, 120)}},
    ),
    Example(
        "C10: retry adds to the queue given, and leaves the hash's",
        "retry 120 J p worker",
        after=RUNNING,
        reply=4,
        changes={
            "ql:j:J": {"state": "waiting", "remaining": "4"},
            "ql:q:q-locks": None,
            "ql:q:p-work": {"J": score(0, 120)},
            "ql:w:worker:jobs": None,
        },
    ),
    Example(
        "C10: group and message are kept as the failure",
        "retry 120.75 J q worker 0 group message",
        after=RUNNING,
        reply=4,
        changes={
            "ql:j:J": {
                "state": "waiting",
                "remaining": "4",
                "failure": {
                    "group": "group",
                    "message": "message",
                    "when": 120,
                    "worker": "worker",
                },
            },
            "ql:q:q-locks": None,
            "ql:q:q-work": {"J": score(0, 120.75)},
            "ql:w:worker:jobs": None,
        },
        messages=[],
    ),
    Example(
        "C10: a group without a message is not kept",
        "retry 120 J q worker 0 group",
        after=RUNNING,
        reply=4,
        holds={"ql:j:J": {"failure": None}},
    ),
    Example(
        "job.lua: retry, the notice of the grace period is forgotten",
        "retry 175 J q worker",
        after=[*RUNNING, "pop 171 q other 1"],
        holds={"ql:j:J": {"grace": None, "worker": "worker", "remaining": "4"}},
    ),
    Example(
        "job.lua: retry, no job",
        "retry 120 J q worker",
        error="Retry(): Job J does not exist",
    ),
    Example(
        "job.lua: retry, not running",
        "retry 120 J q worker",
        after=[PUT],
        error="Retry(): Job J is not currently running: waiting",
    ),
    Example(
        "job.lua: retry, another worker",
        "retry 120 J q other",
        after=RUNNING,
        error="Retry(): Job J has been given to another worker: worker",
    ),
)
def test_retry(core: Target, example: Example) -> None:
    example.check(core)


LAST_TRY = ("put 100 me q J klass {} 0 retries 0", POP, "track 115 track J")


@table(
    Example(
        "C10: retries exhausted: the standard message, with the moment as it is, and nobody's name",
        "retry 120.75 J q worker",
        after=LAST_TRY,
        reply=-1,
        changes={
            "ql:f:failed-retries-q": ["J"],
            "ql:failures": ["failed-retries-q"],
            "ql:j:J": {
                "state": "failed",
                "worker": "",
                "expires": "",
                "remaining": "-1",
                "failure": {
                    "group": "failed-retries-q",
                    "message": 'Job exhausted retries in queue "q"',
                    "when": 120.75,
                    "worker": "",
                },
            },
            "ql:j:J-history": [*PUT_AND_POPPED, [120, "failed", {"group": "failed-retries-q"}]],
            "ql:q:q-locks": None,
            "ql:s:stats:0:q": {"failures": "1", "failed": "1"},
            "ql:w:worker:jobs": None,
        },
        messages=[("ql:failed", "J")],
    ),
    Example(
        "C10: the group has the name of the queue given, the message that of the old one",
        "retry 120 J p worker 10",
        after=LAST_TRY,
        reply=-1,
        changes={
            "ql:f:failed-retries-p": ["J"],
            "ql:failures": ["failed-retries-p"],
            "ql:j:J": {
                "state": "failed",
                "worker": "",
                "expires": "",
                "remaining": "-1",
                "failure": Like(
                    group="failed-retries-p", message='Job exhausted retries in queue "q"'
                ),
            },
            "ql:j:J-history": [*PUT_AND_POPPED, [120, "failed", {"group": "failed-retries-p"}]],
            "ql:q:q-locks": None,
            "ql:s:stats:0:p": {"failures": "1", "failed": "1"},
            "ql:w:worker:jobs": None,
        },
    ),
    Example(
        "C10: group and message given: the moment is floored, and the worker named",
        "retry 120.75 J q worker 0 group message",
        after=LAST_TRY,
        reply=-1,
        holds={
            "ql:f:group": ["J"],
            "ql:failures": ["group"],
            "ql:j:J": {
                "failure": {
                    "group": "group",
                    "message": "message",
                    "when": 120,
                    "worker": "worker",
                }
            },
            "ql:j:J-history": [*PUT_AND_POPPED, [120, "failed", {"group": "group"}]],
        },
        messages=[("ql:failed", "J")],
    ),
    Example(
        "C10: a group alone: the standard message",
        "retry 120 J q worker 0 group",
        after=LAST_TRY,
        reply=-1,
        holds={
            "ql:f:group": ["J"],
            "ql:j:J": {
                "failure": {
                    "group": "group",
                    "message": 'Job exhausted retries in queue "q"',
                    "when": 120,
                    "worker": "",
                }
            },
        },
    ),
)
def test_retry_with_the_retries_exhausted(core: Target, example: Example) -> None:
    example.check(core)


def failures(*jids: str, queue: str = "q") -> list[str]:
    """The calls that let jobs fail one after another, from 120 on."""
    return [
        call
        for now, jid in enumerate(jids, 120)
        for call in (
            f"put 100 me {queue} {jid} klass {{}} 0",
            f"pop 110 {queue} worker 1",
            f"fail {now} {jid} worker group message",
        )
    ]


@table(
    Example(
        "queue.lua: unfail",
        "unfail 200 p group",
        after=[
            "put 100 me q J klass {} 0 priority 3 retries 2",
            POP,
            "fail 120 J worker group message",
        ],
        reply=1,
        changes={
            "ql:f:group": None,
            "ql:failures": None,
            "ql:j:J": {"state": "waiting", "expires": "0", "queue": "p"},
            "ql:j:J-history": [
                *PUT_AND_POPPED,
                [120, "failed", {"worker": "worker", "group": "group"}],
                [200, "put", {"q": "p"}],
            ],
            "ql:q:p-work": {"J": score(3, 200)},
        },
        messages=[],
    ),
    Example(
        "C10: remaining is set to retries",
        "unfail 200 q group",
        after=["put 100 me q J klass {} 0 retries 0", POP, "retry 120 J q worker 0 group message"],
        holds={"ql:j:J": {"remaining": "0", "failure": Like(group="group")}},
    ),
    Example(
        "C10: the oldest failures first",
        "unfail 200 q group 2",
        after=failures("A", "B", "C"),
        reply=2,
        holds={
            "ql:f:group": ["C"],
            "ql:failures": ["group"],
            "ql:q:q-work": {"A": score(0, 200), "B": score(0, 200)},
        },
    ),
    Example(
        "C10: all but the newest",
        "unfail 200 q group -1",
        after=failures("A", "B", "C"),
        reply=2,
        holds={"ql:f:group": ["C"], "ql:failures": ["group"]},
    ),
    Example(
        "queue.lua: unfail, 25 when no count is given",
        "unfail 200 q group",
        after=failures(*(f"J{number:02}" for number in range(27))),
        reply=25,
        holds={"ql:f:group": ["J26", "J25"]},
    ),
    Example(
        "queue.lua: unfail, an unknown group",
        "unfail 200 q nope",
        after=FAILED,
        reply=0,
        changes={},
    ),
    Example(
        "C12: a list that holds a jid twice",
        "unfail 200 q group",
        after=[
            "recur 100 q R klass {} interval 1000 0",
            "pop 110 q worker 1",
            "fail 120 R-1 worker group message",
            "unrecur 130 R",
            "recur 140 q R klass {} interval 1000 0",
            "pop 150 q worker 1",
            "fail 160 R-1 worker group message",
        ],
        reply=2,
        holds={
            "ql:f:group": None,
            "ql:failures": None,
            "ql:j:R-1-history": [
                [100, "put", {"q": "q"}],
                [110, "popped", {"worker": "worker"}],
                [120, "failed", {"worker": "worker", "group": "group"}],
                [140, "put", {"q": "q"}],
                [150, "popped", {"worker": "worker"}],
                [160, "failed", {"worker": "worker", "group": "group"}],
                [200, "put", {"q": "q"}],
                [200, "put", {"q": "q"}],
            ],
            "ql:q:q-work": {"R-1": score(0, 200)},
        },
    ),
)
def test_unfail(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example("base.lua: failed, nothing has failed", "failed 200", reply={}),
    Example(
        "base.lua: failed, the groups",
        "failed 200",
        after=[*failures("A", "B"), PUT, POP, "fail 130 J worker other message"],
        reply={"group": 2, "other": 1},
        changes={},
    ),
    Example(
        "base.lua: failed, a group, the newest first",
        "failed 200 group",
        after=failures("A", "B", "C"),
        reply={"total": 3, "jobs": ["C", "B", "A"]},
        changes={},
    ),
    Example(
        "base.lua: failed, a page",
        "failed 200 group 1 1",
        after=failures("A", "B", "C"),
        reply={"total": 3, "jobs": ["B"]},
    ),
    Example(
        "base.lua: failed, a start from the end",
        "failed 200 group -2 2",
        after=failures("A", "B", "C"),
        # LRANGE -2 -1
        reply={"total": 3, "jobs": ["B", "A"]},
    ),
    Example(
        "base.lua: failed, a limit of 0 is LRANGE 0 -1",
        "failed 200 group 0 0",
        after=failures("A", "B", "C"),
        reply={"total": 3, "jobs": ["C", "B", "A"]},
    ),
    Example(
        "base.lua: failed, 25 when no limit is given",
        "failed 200 group 1",
        after=failures(*(f"J{number:02}" for number in range(30))),
        reply={"total": 30, "jobs": [f"J{number:02}" for number in range(28, 3, -1)]},
    ),
    Example(
        "base.lua: failed, an unknown group",
        "failed 200 nope",
        reply={"total": 0, "jobs": {}},
    ),
    Example("C1: a group may be an empty text", "failed 200 ''", reply={"total": 0, "jobs": {}}),
)
def test_failed(core: Target, example: Example) -> None:
    example.check(core)
