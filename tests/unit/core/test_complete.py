# SPDX-License-Identifier: MIT
"""complete, by examples: for good, with a next queue, and what it does to old jobs and to dependents."""

from __future__ import annotations

from pyqless.conformance import Target
from tests.unit.core.examples import Example, Like, score, stamp, table

PUT = "put 100 me q J klass {} 0"
POP = "pop 110 q worker 1"
RUNNING = (PUT, POP)
#: what the history of a running job holds
PUT_AND_POPPED = [[100, "put", {"q": "q"}], [110, "popped", {"worker": "worker"}]]
#: a job waits for itself, and is then overwritten by a child of the same jid, which runs
SELF_WAITING = (
    "put 100 me q R-1 klass {} 0",
    """put 101 me q R-1 klass {} 0 depends '["R-1"]'""",
    "recur 110 q R klass {} interval 1000 0",
    "pop 120 q worker 1",
)


@table(
    Example(
        "job.lua: complete",
        "complete 120 J worker q '[1, 2]'",
        after=RUNNING,
        reply="complete",
        changes={
            "ql:completed": {"J": 120.0},
            "ql:j:J": {
                "data": "[1, 2]",
                "state": "complete",
                "worker": "",
                "failure": "{}",
                "queue": "",
                "expires": "0",
                "time": stamp(120),
            },
            "ql:j:J-history": [*PUT_AND_POPPED, [120, "done"]],
            "ql:q:q-locks": None,
            "ql:s:run:0:q": {"total": "1", "mean": "10", "vk": "0", "s10": "1"},
            "ql:w:worker:jobs": None,
        },
        messages=[("ql:log", {"jid": "J", "event": "completed", "queue": "q"})],
    ),
    Example(
        "job.lua: complete, tracked",
        "complete 120 J worker q {}",
        after=[*RUNNING, "track 115 track J"],
        messages=[
            ("ql:completed", "J"),
            ("ql:log", {"jid": "J", "event": "completed", "queue": "q"}),
        ],
    ),
    Example(
        "job.lua: complete, remaining is set to retries",
        "complete 140 J worker q {}",
        after=[*RUNNING, "retry 120 J q worker", "pop 130 q worker 1"],
        changes={
            "ql:completed": {"J": 140.0},
            "ql:j:J": Like(remaining="5", state="complete"),
            "ql:j:J-history": [
                *PUT_AND_POPPED,
                [130, "popped", {"worker": "worker"}],
                [140, "done"],
            ],
            "ql:q:q-locks": None,
            "ql:s:run:0:q": {"total": "1", "mean": "10", "vk": "0", "s10": "1"},
            "ql:w:worker:jobs": None,
        },
    ),
    Example(
        "C6: unknown options and a last one without a value are ignored",
        "complete 120 J worker q {} unknown x next",
        after=RUNNING,
        reply="complete",
    ),
    Example(
        "job.lua: complete, a job that came into the queue in two places leaves work too",
        "complete 120 R-1 worker q {}",
        after=[
            "recur 100 q R klass {} interval 1000 0",
            "pop 100 q worker 1",
            "unrecur 101 R",
            "recur 102 q R klass {} interval 1000 0",
            "peek 103 q 1",
            "put 104 me q K klass {} 0",
            # the same worker, by the other place
            "pop 105 q worker 1",
        ],
        holds={"ql:q:q-work": {"K": score(0, 104)}, "ql:q:q-locks": None},
    ),
)
def test_complete(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "job.lua: complete, no job",
        "complete 120 J worker q {}",
        error="Complete(): Job J does not exist",
    ),
    Example(
        "C6: that the job does not exist is told before depends that are no list",
        "complete 120 J worker q {} next p depends 17",
        error="Complete(): Job J does not exist",
    ),
    Example(
        "job.lua: complete, not running",
        "complete 120 J worker q {}",
        after=[PUT],
        error="Complete(): Job J is not currently running: waiting",
    ),
    Example(
        "job.lua: complete, complete already",
        "complete 130 J worker q {}",
        after=[*RUNNING, "complete 120 J worker q {}"],
        error="Complete(): Job J is not currently running: complete",
    ),
    Example(
        "job.lua: complete, another worker",
        "complete 120 J other q {}",
        after=RUNNING,
        error="Complete(): Job J has been handed out to another worker: worker",
    ),
    Example(
        "job.lua: complete, another queue",
        "complete 120 J worker p {}",
        after=RUNNING,
        error="Complete(): Job J running in another queue: q",
    ),
    Example(
        "job.lua: complete, the lock has expired but nobody else has the job",
        "complete 1000 J worker q {}",
        after=RUNNING,
        reply="complete",
    ),
)
def test_complete_wants_the_lock(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "job.lua: complete, next",
        "complete 120 J worker q '[1]' next p",
        after=RUNNING,
        reply="waiting",
        changes={
            "ql:j:J": {
                "data": "[1]",
                "state": "waiting",
                "worker": "",
                "failure": "{}",
                "queue": "p",
                "expires": "0",
                "time": stamp(120),
            },
            "ql:j:J-history": [*PUT_AND_POPPED, [120, "done"], [120, "put", {"q": "p"}]],
            "ql:q:q-locks": None,
            "ql:q:p-work": {"J": score(0, 120)},
            "ql:queues": {"q": 100.0, "p": 120.0},
            "ql:s:run:0:q": {"total": "1", "mean": "10", "vk": "0", "s10": "1"},
            "ql:w:worker:jobs": None,
        },
        messages=[("ql:log", {"jid": "J", "event": "advanced", "queue": "q", "to": "p"})],
    ),
    Example(
        "C9: tracked: completed is told, put is not",
        "complete 120 J worker q {} next p",
        after=[*RUNNING, "track 115 track J"],
        messages=[
            ("ql:completed", "J"),
            ("ql:log", {"jid": "J", "event": "advanced", "queue": "q", "to": "p"}),
        ],
    ),
    Example(
        "job.lua: complete, next is the same queue, priority is kept, remaining is retries",
        "complete 140 J worker q {} next q",
        after=[
            "put 100 me q J klass {} 0 priority 3 retries 2",
            POP,
            "retry 120 J q worker",
            "pop 130 q worker 1",
        ],
        reply="waiting",
        holds={
            "ql:j:J": {"remaining": "2"},
            "ql:q:q-work": {"J": score(3, 140)},
            "ql:queues": {"q": 100.0},
        },
    ),
    Example(
        "C1: next may be an empty text",
        "complete 120 J worker q {} next ''",
        after=RUNNING,
        reply="waiting",
        holds={"ql:j:J": {"queue": ""}, "ql:q:-work": {"J": score(0, 120)}},
    ),
    Example(
        "C9: with a delay the reply says scheduled, the state waiting",
        "complete 120 J worker q {} next p delay 10",
        after=RUNNING,
        reply="scheduled",
        holds={
            "ql:j:J": {"state": "waiting", "queue": "p"},
            "ql:q:p-scheduled": {"J": 130.0},
            "ql:q:p-work": None,
        },
    ),
    *(
        Example(
            "job.lua: complete, a delay of 0 or less is none",
            f"complete 120 J worker q {{}} next p delay {delay}",
            after=RUNNING,
            reply="waiting",
            holds={"ql:q:p-scheduled": None, "ql:q:p-work": {"J": score(0, 120)}},
        )
        for delay in (0, -5)
    ),
    *(
        Example(
            "C9: an empty list of dependencies counts as none",
            f"complete 120 J worker q {{}} next p delay 10 depends {depends}",
            after=RUNNING,
            reply="scheduled",
        )
        for depends in ("[]", "{}", """'{"a": "b"}'""")
    ),
    Example(
        "job.lua: complete, depends",
        """complete 120 J worker q {} next p depends '["K"]'""",
        after=[*RUNNING, "put 115 me q K klass {} 0"],
        reply="depends",
        holds={
            "ql:j:J": {"state": "depends", "queue": "p", "scheduled": None},
            "ql:j:J-dependencies": ["K"],
            "ql:j:K-dependents": ["J"],
            "ql:q:p-depends": {"J": 120.0},
            "ql:q:p-work": None,
        },
    ),
    Example(
        "job.lua: complete, depends with a delay",
        """complete 120 J worker q {} next p delay 10.5 depends '["K"]'""",
        after=[*RUNNING, "put 115 me q K klass {} 0"],
        reply="depends",
        holds={
            "ql:j:J": {"state": "depends", "scheduled": "130.5"},
            "ql:q:p-depends": {"J": 120.0},
            "ql:q:p-scheduled": None,
        },
    ),
    Example(
        "C9: when all are done the delay is dropped",
        """complete 120 J worker q {} next p delay 10 depends '["none"]'""",
        after=RUNNING,
        reply="waiting",
        holds={"ql:q:p-scheduled": None, "ql:q:p-work": {"J": score(0, 120)}},
    ),
    Example(
        "C12: a job can depend on itself",
        """complete 120 J worker q {} next p depends '["J"]'""",
        after=RUNNING,
        reply="depends",
        holds={"ql:j:J-dependencies": ["J"], "ql:j:J-dependents": ["J"]},
    ),
    Example(
        "C7: numbers become text",
        "complete 120 J worker q {} next p depends '[1]'",
        after=[*RUNNING, "put 115 me q 1 klass {} 0"],
        reply="depends",
        holds={"ql:j:J-dependencies": ["1"], "ql:j:1-dependents": ["J"]},
    ),
    Example(
        "C9: who waits for the job goes on waiting",
        "complete 120 J worker q {} next p",
        after=[*RUNNING, """put 115 me q K klass {} 0 depends '["J"]'"""],
        holds={
            "ql:j:J-dependents": ["K"],
            "ql:j:K-dependencies": ["J"],
            "ql:j:K": {"state": "depends"},
        },
    ),
)
def test_complete_with_a_next_queue(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "job.lua: complete, the last one that a job waited for",
        "complete 120 J worker q {}",
        after=[*RUNNING, """put 115 me p K klass {} 0 priority 3 depends '["J"]'"""],
        changes={
            "ql:completed": {"J": 120.0},
            "ql:j:J": Like(state="complete"),
            "ql:j:J-dependents": None,
            "ql:j:J-history": [*PUT_AND_POPPED, [120, "done"]],
            "ql:j:K": {"state": "waiting"},
            "ql:j:K-dependencies": None,
            "ql:q:q-locks": None,
            "ql:q:p-depends": None,
            "ql:q:p-work": {"K": score(3, 120)},
            "ql:s:run:0:q": {"total": "1", "mean": "10", "vk": "0", "s10": "1"},
            "ql:w:worker:jobs": None,
        },
        messages=[("ql:log", {"jid": "J", "event": "completed", "queue": "q"})],
    ),
    Example(
        "job.lua: complete, the waiting one was put with a delay",
        "complete 120 J worker q {}",
        after=[*RUNNING, """put 115 me p K klass {} 100.5 depends '["J"]'"""],
        holds={
            "ql:j:K": {"state": "scheduled", "scheduled": None},
            "ql:q:p-depends": None,
            "ql:q:p-scheduled": {"K": 215.5},
            "ql:q:p-work": None,
        },
    ),
    Example(
        "job.lua: complete, one of two that a job waited for",
        "complete 120 J worker q {}",
        after=[
            *RUNNING,
            "put 115 me q L klass {} 0",
            """put 116 me p K klass {} 0 depends '["J", "L"]'""",
        ],
        holds={
            "ql:j:K": {"state": "depends"},
            "ql:j:K-dependencies": ["L"],
            "ql:j:J-dependents": None,
            "ql:q:p-depends": {"K": 116.0},
        },
    ),
    Example(
        "job.lua: complete, several wait for it",
        "complete 120 J worker q {}",
        after=[
            *RUNNING,
            """put 115 me p K klass {} 0 depends '["J"]'""",
            """put 116 me q L klass {} 0 depends '["J"]'""",
        ],
        holds={
            "ql:q:p-work": {"K": score(0, 120)},
            "ql:q:q-work": {"L": score(0, 120)},
            "ql:q:p-depends": None,
            "ql:q:q-depends": None,
        },
    ),
    Example(
        "job.lua: complete, a job that waits for itself while it runs is let go into the queue ''",
        "complete 130 R-1 worker q {}",
        after=SELF_WAITING,
        reply="complete",
        holds={
            "ql:completed": {"R-1": 130.0},
            "ql:j:R-1": {"state": "waiting", "queue": ""},
            "ql:j:R-1-dependencies": None,
            "ql:j:R-1-dependents": None,
            "ql:q:-work": {"R-1": score(0, 130)},
        },
    ),
    Example(
        "job.lua: complete, a job that waits for itself and is deleted at once",
        "complete 130 R-1 worker q {}",
        after=[*SELF_WAITING, "config.set 125 jobs-history 0"],
        reply="complete",
        holds={
            "ql:completed": None,
            "ql:j:R-1": None,
            "ql:j:R-1-dependencies": None,
            "ql:j:R-1-dependents": None,
            "ql:q:-work": None,
        },
    ),
)
def test_complete_lets_go_what_waited(core: Target, example: Example) -> None:
    example.check(core)


def done(jid: str, now: int, tags: str = "[]") -> list[str]:
    """The calls that complete a job at a moment."""
    return [
        f"put {now} me q {jid} klass {{}} 0 tags '{tags}'",
        f"pop {now} q worker 1",
        f"complete {now} {jid} worker q {{}}",
    ]


@table(
    Example(
        "job.lua: complete, jobs-history",
        "complete 220 J worker q {}",
        after=[
            "config.set 90 jobs-history 100",
            *done("A", 120, '["a", "b"]'),
            *done("B", 121, '["a"]'),
            "put 200 me q J klass {} 0",
            "pop 210 q worker 1",
        ],
        changes={
            "ql:completed": {"B": 121.0, "J": 220.0},
            "ql:j:A": None,
            "ql:j:A-history": None,
            "ql:j:J": Like(state="complete"),
            "ql:j:J-history": [
                [200, "put", {"q": "q"}],
                [210, "popped", {"worker": "worker"}],
                [220, "done"],
            ],
            "ql:q:q-locks": None,
            "ql:s:run:0:q": {
                "total": "3",
                "mean": "3.3333333333333335",
                "vk": "66.666666666666657",
                "s10": "1",
            },
            "ql:t:a": {"B": 121.0},
            "ql:t:b": None,
            "ql:tags": {"a": 1.0, "b": 0.0},
            "ql:w:worker:jobs": None,
        },
        messages=[("ql:log", {"jid": "J", "event": "completed", "queue": "q"})],
    ),
    Example(
        "job.lua: complete, jobs-history of 7 days when nothing is set",
        f"complete {120 + 604800} J worker q {{}}",
        after=[*done("A", 120), *done("B", 121), PUT, POP],
        holds={"ql:completed": {"B": 121.0, "J": 604920.0}, "ql:j:A": None},
    ),
    Example(
        "job.lua: complete, jobs-history-count",
        "complete 220 J worker q {}",
        after=[
            "config.set 90 jobs-history-count 2",
            *done("A", 120, '["a"]'),
            *done("B", 121),
            "put 200 me q J klass {} 0",
            "pop 210 q worker 1",
        ],
        holds={
            "ql:completed": {"B": 121.0, "J": 220.0},
            "ql:j:A": None,
            "ql:j:A-history": None,
            "ql:t:a": None,
            "ql:tags": {"a": 0.0},
        },
    ),
    *(
        Example(
            "C9: without a history the job itself goes at once",
            "complete 120 J worker q {}",
            after=[
                f"config.set 90 {setting}",
                "put 100 me q J klass {} 0 tags '[\"a\"]'",
                POP,
                """put 115 me q K klass {} 0 depends '["J"]'""",
            ],
            reply="complete",
            holds={
                "ql:completed": None,
                "ql:j:J": None,
                "ql:j:J-history": None,
                "ql:j:J-dependents": None,
                "ql:j:K": {"state": "waiting"},
                "ql:j:K-dependencies": None,
                "ql:t:a": None,
                "ql:tags": {"a": 0.0},
            },
            messages=[("ql:log", {"jid": "J", "event": "completed", "queue": "q"})],
        )
        for setting in ("jobs-history 0", "jobs-history -10", "jobs-history-count 0")
    ),
    Example(
        "C9: a count below zero: so many of the oldest go",
        "complete 220 J worker q {}",
        after=[
            *done("A", 120),
            *done("B", 121),
            *done("C", 122),
            *done("D", 123),
            "config.set 124 jobs-history-count -2",
            "put 200 me q J klass {} 0",
            "pop 210 q worker 1",
        ],
        holds={"ql:completed": {"C": 122.0, "D": 123.0, "J": 220.0}},
    ),
    Example(
        "C9: a fractional age",
        "complete 220.5 J worker q {}",
        after=[
            *done("A", 120),
            *done("B", 121),
            "config.set 124 jobs-history 100.5",
            "put 200 me q J klass {} 0",
            "pop 210 q worker 1",
        ],
        holds={"ql:completed": {"B": 121.0, "J": 220.5}},
    ),
    Example(
        "C9: many at once, by age",
        "complete 1220 J worker q {}",
        after=[
            *(call for number in range(250) for call in done(f"A{number}", 120)),
            *done("B", 200),
            "config.set 201 jobs-history 1100",
            "put 202 me q J klass {} 0",
            "pop 210 q worker 1",
        ],
        reply="complete",
        holds={"ql:completed": {"B": 200.0, "J": 1220.0}, "ql:j:A0": None, "ql:j:A249": None},
    ),
    Example(
        "C9: many at once, by number",
        "complete 1220 J worker q {}",
        after=[
            *(call for number in range(250) for call in done(f"A{number}", 120 + number)),
            "config.set 201 jobs-history-count 3",
            "put 202 me q J klass {} 0",
            "pop 210 q worker 1",
        ],
        reply="complete",
        holds={"ql:completed": {"A248": 368.0, "A249": 369.0, "J": 1220.0}, "ql:j:A247": None},
    ),
    Example(
        "C9: by age first, then by number",
        "complete 1220 J worker q {}",
        after=[
            *done("A", 120),
            *done("B", 1000),
            *done("C", 1001),
            "config.set 1002 jobs-history-count 2",
            "config.set 1002 jobs-history 1000",
            "put 1003 me q J klass {} 0",
            "pop 1010 q worker 1",
        ],
        holds={"ql:completed": {"C": 1001.0, "J": 1220.0}},
    ),
    Example(
        "C8: a moment below zero is never too old, but counts",
        "complete 1220 J worker q {}",
        after=[
            *done("A", -120),
            *done("B", 100),
            *done("C", 1000),
            "config.set 1002 jobs-history 1000",
            "put 1003 me q J klass {} 0",
            "pop 1010 q worker 1",
        ],
        holds={"ql:completed": {"A": -120.0, "C": 1000.0, "J": 1220.0}},
    ),
    Example(
        "C8: a moment below zero is never too old, but counts: more than are looked at at once",
        "complete 1220 J worker q {}",
        after=[
            *(call for number in range(5) for call in done(f"A{number}", -120)),
            *done("B", 100),
            *done("C", 1000),
            "config.set 1002 jobs-history 1000",
            "config.set 1002 jobs-history-count 6",
            "put 1003 me q J klass {} 0",
            "pop 1010 q worker 1",
        ],
        holds={
            "ql:completed": {
                "A1": -120.0,
                "A2": -120.0,
                "A3": -120.0,
                "A4": -120.0,
                "C": 1000.0,
                "J": 1220.0,
            },
        },
    ),
    Example(
        "C8: a moment below zero is never too old, but counts: more than a transaction looks at",
        "complete 1220 J worker q {}",
        after=[
            *(call for number in range(105) for call in done(f"A{number}", -120)),
            *done("B", 100),
            *done("C", 1000),
            "config.set 1002 jobs-history 1000",
            "put 1003 me q J klass {} 0",
            "pop 1010 q worker 1",
        ],
        holds={
            "ql:completed": dict.fromkeys([f"A{number}" for number in range(105)], -120.0)
            | {"C": 1000.0, "J": 1220.0},
        },
    ),
    Example(
        "C9: a clock that goes back: the job is older than the others",
        "complete 50 J worker q {}",
        after=[
            *done("A", 120),
            *done("B", 121),
            *done("C", 122),
            *done("D", 123),
            PUT,
            POP,
            "config.set 130 jobs-history-count 4",
        ],
        reply="complete",
        holds={
            "ql:completed": {"A": 120.0, "B": 121.0, "C": 122.0, "D": 123.0},
            "ql:j:J": None,
        },
    ),
    Example(
        "C9: a clock that goes back: the job is among the oldest",
        "complete 121 J worker q {}",
        after=[
            *done("A", 120),
            *done("B", 122),
            *done("C", 123),
            *done("D", 124),
            "put 100 me q J klass {} 0",
            "pop 110 q worker 1",
            "config.set 130 jobs-history-count 3",
        ],
        reply="complete",
        holds={
            "ql:completed": {"B": 122.0, "C": 123.0, "D": 124.0},
            "ql:j:J": None,
            "ql:j:A": None,
        },
    ),
    Example(
        "C9: a job that stands among the completed already",
        "complete 200 R-1 worker q {}",
        after=[
            "recur 100 q R klass {} interval 1000 0",
            "pop 100 q worker 1",
            "complete 101 R-1 worker q {}",
            "unrecur 102 R",
            # the next child overwrites the completed one, which stays where it is
            "recur 103 q R klass {} interval 1000 0",
            "pop 104 q worker 1",
            *done("A", 150),
            "config.set 160 jobs-history-count 1",
        ],
        holds={"ql:completed": {"R-1": 200.0}, "ql:j:A": None, "ql:j:R-1": {"state": "complete"}},
    ),
)
def test_complete_deletes_what_is_too_old(core: Target, example: Example) -> None:
    example.check(core)
