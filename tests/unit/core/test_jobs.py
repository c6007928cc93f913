# SPDX-License-Identifier: MIT
"""get, multiget and priority, by examples."""

from __future__ import annotations

from pyqless.conformance import Target
from tests.unit.core.examples import Example, Like, score, table

PUT = "put 100 me q J klass {} 0"


@table(
    Example(
        "job.lua: data",
        "get 200 J",
        after=["""put 100.5 me q J klass '{"a": 1}' 0 priority 2.5 tags '["a"]' retries 3"""],
        reply={
            "jid": "J",
            "klass": "klass",
            "state": "waiting",
            "queue": "q",
            "worker": "",
            "tracked": False,
            "priority": 2.5,
            "expires": 0,
            "retries": 3,
            "remaining": 3,
            "data": '{"a": 1}',
            "tags": ["a"],
            "history": [{"when": 100, "what": "put", "q": "q"}],
            "failure": {},
            "spawned_from_jid": False,
            "dependents": {},
            "dependencies": {},
        },
        changes={},
        messages=[],
    ),
    Example(
        "job.lua: data, a failed job: its field expires is empty",
        "get 200 J",
        after=[PUT, "pop 110 q worker 1", "fail 120 J worker group message"],
        reply=Like(
            state="failed",
            worker="",
            expires=0,
            failure={"group": "group", "message": "message", "when": 120, "worker": "worker"},
        ),
    ),
    Example(
        "job.lua: data, dependents and dependencies",
        "get 200 J",
        after=[
            "put 90 me q P klass {} 0",
            """put 100 me q J klass {} 0 depends '["P"]'""",
            """put 110 me q K klass {} 0 depends '["J"]'""",
        ],
        reply=Like(state="depends", dependencies=["P"], dependents=["K"]),
    ),
    Example(
        "job.lua: data, tracked",
        "get 200 J",
        after=[PUT, "track 110 track J"],
        reply=Like(tracked=True),
    ),
    Example(
        "job.lua: data, remaining is floored",
        "get 200 J",
        after=["put 100 me q J klass {} 0 retries 1.5"],
        reply=Like(retries=1.5, remaining=1),
        holds={"ql:j:J": {"remaining": "1.5"}},
    ),
    Example(
        "job.lua: data, tags are shown as they are",
        "get 200 J",
        after=["""put 100 me q J klass {} 0 tags '{"a":"b"}'"""],
        reply=Like(tags={"a": "b"}),
    ),
    Example("C5: no job", "get 200 J", reply=None, changes={}),
)
def test_get(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example("api.lua: multiget, none", "multiget 200", reply={}, changes={}),
    Example(
        "C5: those that there are, in the order given, as often as given",
        "multiget 200 K nope J K",
        after=[PUT, "put 101 me q K klass {} 0"],
        reply=[Like(jid="K"), Like(jid="J"), Like(jid="K")],
        changes={},
    ),
    Example("api.lua: multiget, none is there", "multiget 200 nope", reply={}),
)
def test_multiget(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "C10: the score becomes exactly the priority",
        "priority 200 J 3",
        after=[PUT],
        reply=3,
        changes={"ql:j:J": {"priority": "3"}, "ql:q:q-work": {"J": 3.0}},
        messages=[],
    ),
    *(
        Example(
            "C2: an integer reply is cut toward zero",
            f"priority 200 J {priority}",
            after=[PUT],
            reply=reply,
            holds={"ql:j:J": {"priority": text}, "ql:q:q-work": {"J": float(priority)}},
        )
        for priority, text, reply in [
            ("3.5", "3.5", 3),
            ("-0.5", "-0.5", 0),
            ("-3.5", "-3.5", -3),
            ("1e300", "1.0000000000000001e+300", -(2**63)),
        ]
    ),
    Example(
        "job.lua: priority, a job that is not waiting",
        "priority 200 J 3",
        after=[PUT, "pop 110 q worker 1"],
        reply=3,
        changes={"ql:j:J": {"priority": "3"}},
    ),
    Example(
        "job.lua: priority, a complete job, which is in no queue",
        "priority 200 J 3",
        after=[PUT, "pop 110 q worker 1", "complete 120 J worker q {}"],
        reply=3,
        changes={"ql:j:J": {"priority": "3"}},
    ),
    Example(
        "C8: a timed-out job loses its place in front",
        "priority 200 J 3",
        after=[PUT, "pop 110 q worker 1", "timeout 120 J"],
        holds={"ql:q:q-work": {"J": 3.0}},
    ),
    Example(
        "C8: a job whose priority is set goes ahead of its peers",
        "pop 200 q worker 1",
        after=[PUT, "put 101 me q K klass {} 0", "priority 110 K 0"],
        reply=[Like(jid="K")],
        holds={"ql:q:q-work": {"J": score(0, 100)}},
    ),
    Example(
        "job.lua: priority, a delayed job has it when it is promoted",
        "peek 200 q 1",
        after=["put 100 me q J klass {} 50", "priority 110 J 3"],
        reply=[Like(jid="J", priority=3)],
        holds={"ql:q:q-work": {"J": score(3, 200)}},
    ),
    Example(
        "job.lua: priority, no job",
        "priority 200 J 3",
        error="Priority(): Job J does not exist",
    ),
)
def test_priority(core: Target, example: Example) -> None:
    example.check(core)
