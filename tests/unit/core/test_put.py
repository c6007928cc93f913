# SPDX-License-Identifier: MIT
"""put and requeue, by examples."""

from __future__ import annotations

from pyqless.conformance import Target
from tests.unit.core.examples import Example, Like, score, stamp, table

#: jobs in every state, for put to take them out of it
PUT = "put 100 me q J klass {} 0"
RUNNING = (PUT, "pop 110 q worker 1")
FAILED = (*RUNNING, "fail 120 J worker group message")
COMPLETE = (*RUNNING, "complete 120 J worker q {}")
DEPENDING = ("put 90 me q P klass {} 0", """put 100 me q J klass {} 0 depends '["P"]'""")
RECURRING = ("recur 90 q R klass {} interval 10 0 retries 3", "pop 100 q worker 1")


@table(
    Example(
        "queue.lua: put",
        """put 100 me q J klass '{"a": 1}' 0""",
        reply="J",
        changes={
            "ql:j:J": {
                "jid": "J",
                "klass": "klass",
                "data": '{"a": 1}',
                "priority": "0",
                "tags": "{}",
                "state": "waiting",
                "worker": "",
                "expires": "0",
                "queue": "q",
                "retries": "5",
                "remaining": "5",
                "time": stamp(100),
            },
            "ql:j:J-history": [[100, "put", {"q": "q"}]],
            "ql:q:q-work": {"J": score(0, 100)},
            "ql:queues": {"q": 100.0},
        },
        messages=[("ql:log", {"jid": "J", "event": "put", "queue": "q"})],
    ),
    Example(
        "queue.lua: put, all options",
        """put 100 me q J klass {} 0 priority 2.5 tags '["a", "b"]' retries 1""",
        reply="J",
        holds={
            "ql:j:J": {
                "priority": "2.5",
                "tags": '["a","b"]',
                "retries": "1",
                "remaining": "1",
            },
            "ql:q:q-work": {"J": score(2.5, 100)},
            "ql:t:a": {"J": 100.0},
            "ql:t:b": {"J": 100.0},
            "ql:tags": {"a": 1.0, "b": 1.0},
        },
    ),
    Example(
        "C2: numbers become text with 17 digits, in the score they stay doubles",
        "put 100.5 me q J klass {} 0 priority 0.1 retries 1e1",
        holds={
            "ql:j:J": {
                "priority": "0.10000000000000001",
                "retries": "10",
                "remaining": "10",
                "time": "100.50000000000000000000",
            },
            "ql:j:J-history": [[100, "put", {"q": "q"}]],
            "ql:q:q-work": {"J": score(0.1, 100.5)},
        },
    ),
    Example(
        "queue.lua: put, delay",
        "put 100 me q J klass {} 10.5",
        holds={
            "ql:j:J": {"state": "scheduled", "expires": "0", "scheduled": None},
            "ql:q:q-scheduled": {"J": 110.5},
            "ql:q:q-work": None,
        },
    ),
    Example(
        "C7: a delay of 0 or less is none",
        "put 100 me q J klass {} -5",
        holds={"ql:j:J": {"state": "waiting"}, "ql:q:q-work": {"J": score(0, 100)}},
    ),
    Example(
        "C6: unknown options are ignored, of equal ones the last counts",
        "put 100 me q J klass {} 0 priority 1 unknown x priority 2",
        holds={"ql:j:J": {"priority": "2"}, "ql:q:q-work": {"J": score(2, 100)}},
    ),
    Example(
        "C1: numbers as C reads them",
        "put ' 0x64 ' me q J klass {} 0x0 priority +5. retries 0x10",
        holds={"ql:j:J": {"priority": "5", "retries": "16", "time": stamp(100)}},
    ),
    Example(
        "queue.lua: put, an object of tags names none, and is kept",
        """put 100 me q J klass {} 0 tags '{"a": "b"}'""",
        holds={"ql:j:J": {"tags": '{"a":"b"}'}, "ql:tags": None},
    ),
    Example(
        "queue.lua: put, an object of tags is kept when the job is put again",
        "put 200 me q J klass {} 0",
        after=["""put 100 me q J klass {} 0 tags '{"a": "b"}'"""],
        changes={
            "ql:j:J": {"time": stamp(200)},
            "ql:j:J-history": [[100, "put", {"q": "q"}], [200, "put", {"q": "q"}]],
            "ql:q:q-work": {"J": score(0, 200)},
        },
    ),
    Example(
        "C4: no tags",
        "put 100 me q J klass {} 0 tags {}",
        holds={"ql:j:J": {"tags": "{}"}},
    ),
    Example(
        "C7: a tag named twice counts twice and is stored twice",
        """put 100 me q J klass {} 0 tags '["a", "a"]'""",
        holds={
            "ql:j:J": {"tags": '["a","a"]'},
            "ql:t:a": {"J": 100.0},
            "ql:tags": {"a": 2.0},
        },
    ),
    Example(
        "C2: numbers as tags",
        "put 100 me q J klass {} 0 tags '[0.1]'",
        holds={
            "ql:j:J": {"tags": "[0.1]"},
            "ql:t:0.1": {"J": 100.0},
            "ql:tags": {"0.10000000000000001": 1.0},
        },
    ),
    Example(
        "queue.lua: put, an empty queue name and an empty jid are names",
        "put 100 '' '' '' '' '\"\"' 0",
        reply="",
        holds={"ql:j:": {"jid": "", "klass": "", "data": '""'}, "ql:q:-work": {"": -1e-08}},
    ),
    Example(
        "queue.lua: put, a known queue keeps the moment at which it was first seen",
        "put 200 me q K klass {} 0",
        after=[PUT],
        holds={"ql:queues": {"q": 100.0}},
    ),
    Example(
        "queue.lua: put, tracked",
        "put 200 me p J klass {} 0",
        after=[PUT, "track 150 track J"],
        messages=[("ql:log", {"jid": "J", "event": "put", "queue": "p"}), ("ql:put", "J")],
    ),
)
def test_put_makes_a_job(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "queue.lua: put, over a waiting job",
        "put 200 me p J other '[1]' 0",
        after=[PUT],
        changes={
            "ql:j:J": {"klass": "other", "data": "[1]", "queue": "p", "time": stamp(200)},
            "ql:j:J-history": [[100, "put", {"q": "q"}], [200, "put", {"q": "p"}]],
            "ql:q:q-work": None,
            "ql:q:p-work": {"J": score(0, 200)},
            "ql:queues": {"q": 100.0, "p": 200.0},
        },
    ),
    Example(
        "C7: what is not given is kept",
        "put 200 me q J klass {} 0",
        after=["""put 100 me q J klass {} 0 priority 3 tags '["a"]' retries 2"""],
        changes={
            "ql:j:J": {"time": stamp(200)},
            "ql:j:J-history": [[100, "put", {"q": "q"}], [200, "put", {"q": "q"}]],
            "ql:q:q-work": {"J": score(3, 200)},
            "ql:t:a": {"J": 200.0},
        },
    ),
    Example(
        "C7: old tags are taken off first, repeated ones repeatedly",
        """put 200 me q J klass {} 0 tags '["b"]'""",
        after=["""put 100 me q J klass {} 0 tags '["a", "a"]'"""],
        holds={
            "ql:j:J": {"tags": '["b"]'},
            "ql:t:a": None,
            "ql:t:b": {"J": 200.0},
            "ql:tags": {"a": 0.0, "b": 1.0},
        },
    ),
    Example(
        "queue.lua: put, over a running job, by another worker",
        "put 200 me q J klass {} 0",
        after=[*RUNNING, "track 150 track J"],
        changes={
            "ql:j:J": {"state": "waiting", "worker": "", "expires": "0", "time": stamp(200)},
            "ql:j:J-history": [
                [100, "put", {"q": "q"}],
                [110, "popped", {"worker": "worker"}],
                [200, "put", {"q": "q"}],
            ],
            "ql:q:q-locks": None,
            "ql:q:q-work": {"J": score(0, 200)},
            "ql:w:worker:jobs": None,
        },
        messages=[
            ("ql:log", {"jid": "J", "event": "put", "queue": "q"}),
            ("ql:w:worker", {"jid": "J", "event": "lock_lost", "worker": "worker"}),
            ("ql:log", {"jid": "J", "event": "lock_lost", "worker": "worker"}),
            ("ql:put", "J"),
        ],
    ),
    Example(
        "queue.lua: put, over a running job, by its worker",
        "put 200 worker q J klass {} 0",
        after=RUNNING,
        holds={"ql:j:J": {"worker": ""}, "ql:w:worker:jobs": None, "ql:q:q-locks": None},
        messages=[("ql:log", {"jid": "J", "event": "put", "queue": "q"})],
    ),
    Example(
        "C7: the old worker is named also after retry, which leaves it in the hash",
        "put 200 me q J klass {} 0",
        after=[*RUNNING, "retry 120 J q worker"],
        messages=[
            ("ql:log", {"jid": "J", "event": "put", "queue": "q"}),
            ("ql:w:worker", {"jid": "J", "event": "lock_lost", "worker": "worker"}),
            ("ql:log", {"jid": "J", "event": "lock_lost", "worker": "worker"}),
        ],
    ),
    Example(
        "queue.lua: put, over a scheduled job",
        "put 200 me q J klass {} 0",
        after=["put 100 me q J klass {} 1000"],
        changes={
            "ql:j:J": {"state": "waiting", "time": stamp(200)},
            "ql:j:J-history": [[100, "put", {"q": "q"}], [200, "put", {"q": "q"}]],
            "ql:q:q-scheduled": None,
            "ql:q:q-work": {"J": score(0, 200)},
        },
    ),
    Example(
        "queue.lua: put, over a complete job",
        "put 200 me q J klass {} 0",
        after=COMPLETE,
        holds={
            "ql:j:J": {"state": "waiting", "queue": "q", "failure": "{}"},
            "ql:completed": None,
            "ql:q:q-work": {"J": score(0, 200)},
        },
    ),
    Example(
        "queue.lua: put, over a failed job",
        "put 200 me q J klass {} 0",
        after=FAILED,
        changes={
            "ql:f:group": None,
            "ql:failures": None,
            "ql:j:J": {"state": "waiting", "expires": "0", "time": stamp(200)},
            "ql:j:J-history": [
                [100, "put", {"q": "q"}],
                [110, "popped", {"worker": "worker"}],
                [120, "failed", {"worker": "worker", "group": "group"}],
                [200, "put", {"q": "q"}],
            ],
            "ql:q:q-work": {"J": score(0, 200)},
            "ql:s:stats:0:q": {"failed": "0"},
        },
    ),
    Example(
        "C7: failed is uncounted on the day of the failure, but in the new queue",
        "put 100000 me p J klass {} 0",
        after=FAILED,
        holds={
            "ql:s:stats:0:q": {"failed": "1", "failures": "1"},
            "ql:s:stats:0:p": {"failed": "-1", "failures": None},
        },
    ),
    Example(
        "queue.lua: put, over one of several failed jobs of a group",
        "put 200 me q J klass {} 0",
        after=[
            "put 90 me q K klass {} 0",
            PUT,
            "pop 110 q worker 2",
            "fail 120 J worker group message",
            "fail 130 K worker group message",
        ],
        holds={"ql:f:group": ["K"], "ql:failures": ["group"]},
    ),
    Example(
        "queue.lua: put, over a failed job that stands twice in its group",
        "put 300 me q R-1 klass {} 0",
        after=[
            "recur 100 q R klass {} interval 1000 0",
            "pop 110 q worker 1",
            "fail 120 R-1 worker group message",
            # counts anew, so that the next child overwrites the first one
            "unrecur 130 R",
            "recur 140 q R klass {} interval 1000 0",
            "pop 150 q worker 1",
            "fail 160 R-1 worker group message",
        ],
        holds={"ql:f:group": None, "ql:failures": None},
    ),
    Example(
        "C7: a child of a recurring job stays one",
        "put 200 me q R-1 klass {} 0",
        after=RECURRING,
        holds={"ql:j:R-1": {"spawned_from_jid": "R", "retries": "3", "remaining": "3"}},
    ),
)
def test_put_moves_a_job_that_is_there(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "queue.lua: put, depends",
        """put 100 me q J klass {} 0 depends '["P"]'""",
        after=["put 90 me q P klass {} 0"],
        reply="J",
        changes={
            "ql:j:J": Like(state="depends", queue="q", remaining="5"),
            "ql:j:J-history": [[100, "put", {"q": "q"}]],
            "ql:j:J-dependencies": ["P"],
            "ql:j:P-dependents": ["J"],
            "ql:q:q-depends": {"J": 100.0},
        },
    ),
    Example(
        "queue.lua: put, depends with a delay",
        """put 100 me q J klass {} 10.5 depends '["P"]'""",
        after=["put 90 me q P klass {} 0"],
        holds={
            "ql:j:J": {"state": "depends", "scheduled": "110.5"},
            "ql:q:q-depends": {"J": 100.0},
            "ql:q:q-scheduled": None,
        },
    ),
    Example(
        "C7: jobs that are not there or complete are not waited for",
        """put 200 me q K klass {} 0 depends '["J", "none"]'""",
        after=COMPLETE,
        holds={
            "ql:j:K": {"state": "waiting"},
            "ql:j:K-dependencies": None,
            "ql:j:J-dependents": None,
            "ql:q:q-work": {"K": score(0, 200)},
        },
    ),
    Example(
        "C7: with nothing to wait for a delay counts",
        """put 100 me q J klass {} 10 depends '["none"]'""",
        holds={"ql:j:J": {"state": "scheduled"}, "ql:q:q-scheduled": {"J": 110.0}},
    ),
    Example(
        "C7: numbers become text",
        "put 100 me q J klass {} 0 depends '[1, 0.1]'",
        after=["put 90 me q 1 klass {} 0", "put 90 me q 0.1 klass {} 0"],
        holds={
            "ql:j:J-dependencies": ["0.10000000000000001", "1"],
            "ql:j:0.1-dependents": ["J"],
            "ql:j:1-dependents": ["J"],
        },
    ),
    Example(
        "C12: a job can depend on itself",
        """put 100 me q J klass {} 0 depends '["J"]'""",
        holds={
            "ql:j:J": {"state": "depends"},
            "ql:j:J-dependencies": ["J"],
            "ql:j:J-dependents": ["J"],
            "ql:q:q-depends": {"J": 100.0},
        },
    ),
    Example(
        "C12: a complete job that is put again can depend on itself",
        """put 200 me q J klass {} 0 depends '["J"]'""",
        after=COMPLETE,
        holds={"ql:j:J": {"state": "depends"}, "ql:j:J-dependencies": ["J"]},
    ),
    Example(
        "queue.lua: put, a list replaces what the job waited for",
        """put 200 me q J klass {} 0 depends '["Q"]'""",
        after=[*DEPENDING, "put 150 me q Q klass {} 0"],
        holds={
            "ql:j:J": {"state": "depends"},
            "ql:j:J-dependencies": ["Q"],
            "ql:j:P-dependents": None,
            "ql:j:Q-dependents": ["J"],
            "ql:q:q-depends": {"J": 200.0},
        },
    ),
    Example(
        "queue.lua: put, what is in the old list and in the new is left alone",
        """put 200 me q J klass {} 0 depends '["Q", "P"]'""",
        after=[*DEPENDING, "put 150 me q Q klass {} 0"],
        holds={
            "ql:j:J-dependencies": ["P", "Q"],
            "ql:j:P-dependents": ["J"],
            "ql:j:Q-dependents": ["J"],
        },
    ),
    Example(
        "C12: a list of jobs that are not there leaves the job free",
        """put 200 me q J klass {} 0 depends '["none"]'""",
        after=DEPENDING,
        holds={
            "ql:j:J": {"state": "waiting"},
            "ql:j:J-dependencies": None,
            "ql:j:P-dependents": None,
            "ql:q:q-depends": None,
            "ql:q:q-work": {"P": score(0, 90), "J": score(0, 200)},
        },
    ),
    *(
        Example(
            "C7: an empty list and an object leave what the job waits for",
            f"put 200 me p J klass {{}} 0 {depends}",
            after=DEPENDING,
            holds={
                "ql:j:J": {"state": "depends", "queue": "p"},
                "ql:j:J-dependencies": ["P"],
                "ql:j:P-dependents": ["J"],
                "ql:q:q-depends": None,
                "ql:q:p-depends": {"J": 200.0},
            },
        )
        for depends in ("", "depends []", "depends {}", """depends '{"a": "P"}'""")
    ),
    Example(
        "C7: a field scheduled of old stays",
        """put 200 me q J klass {} 0 depends '["P"]'""",
        after=[
            "put 90 me q P klass {} 0",
            """put 100 me q J klass {} 900 depends '["P"]'""",
        ],
        holds={"ql:j:J": {"state": "depends", "scheduled": "1000"}},
    ),
)
def test_put_lets_a_job_wait_for_others(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "api.lua: requeue",
        "requeue 200 me p J other {} 0 priority 2",
        after=[PUT],
        reply="J",
        changes={
            "ql:j:J": {"klass": "other", "queue": "p", "priority": "2", "time": stamp(200)},
            "ql:j:J-history": [[100, "put", {"q": "q"}], [200, "put", {"q": "p"}]],
            "ql:q:q-work": None,
            "ql:q:p-work": {"J": score(2, 200)},
            "ql:queues": {"q": 100.0, "p": 200.0},
        },
        messages=[("ql:log", {"jid": "J", "event": "put", "queue": "p"})],
    ),
    Example(
        "api.lua: requeue, depends",
        """requeue 200 me q J klass {} 0 depends '["P"]'""",
        after=["put 90 me q P klass {} 0", PUT],
        holds={"ql:j:J": {"state": "depends"}, "ql:j:P-dependents": ["J"]},
    ),
    Example(
        "api.lua: requeue, of a job that is not there",
        "requeue 200 me q J klass {} 0",
        error="Requeue(): Job J does not exist",
    ),
    Example(
        "C6: requeue looks for the job before it looks at what is put",
        "requeue 200 me q J klass {} soon",
        error="Requeue(): Job J does not exist",
    ),
    Example(
        "C6: requeue looks for the job before it looks at what is put",
        "requeue 200 me q J klass {} soon",
        after=[PUT],
        error='Put(): Arg "delay" not a number: soon',
    ),
)
def test_requeue(core: Target, example: Example) -> None:
    example.check(core)
