# SPDX-License-Identifier: MIT
"""cancel, by examples."""

from __future__ import annotations

from typing import Any

import pytest

from pyqless.conformance import Target
from tests.unit.core.examples import Example, run, score, table

PUT = "put 100 me q J klass {} 0"
POP = "pop 110 q worker 1"
RUNNING = (PUT, POP)
COMPLETE = (*RUNNING, "complete 120 J worker q {}")
FAILED = (*RUNNING, "fail 120 J worker group message")
PARENT_AND_CHILD = (PUT, """put 101 me q K klass {} 0 depends '["J"]'""")


def canceled(jid: str, worker: str = "") -> dict[str, Any]:
    """The message that tells of a job that was cancelled."""
    return {"jid": jid, "event": "canceled", "queue": "q", "worker": worker}


def unknown(jid: str) -> dict[str, Any]:
    """The message that tells of a job that was not there."""
    return {"jid": jid, "event": "canceled", "queue": False, "worker": False}


@table(
    Example(
        "base.lua: cancel, a waiting job",
        "cancel 200 J",
        after=["""put 100 me q J klass {} 0 tags '["a"]'"""],
        reply=["J"],
        changes={
            "ql:j:J": None,
            "ql:j:J-history": None,
            "ql:q:q-work": None,
            "ql:t:a": None,
            "ql:tags": {"a": 0.0},
        },
        messages=[("ql:log", canceled("J"))],
    ),
    Example(
        "base.lua: cancel, a running job; C10: the log, the worker, those who track it",
        "cancel 200 J",
        after=[*RUNNING, "track 115 track J"],
        reply=["J"],
        changes={
            "ql:j:J": None,
            "ql:j:J-history": None,
            "ql:q:q-locks": None,
            "ql:w:worker:jobs": None,
        },
        messages=[
            ("ql:log", canceled("J", worker="worker")),
            ("ql:w:worker", canceled("J", worker="worker")),
            ("ql:canceled", "J"),
        ],
    ),
    Example(
        "base.lua: cancel, a scheduled job",
        "cancel 200 J",
        after=["put 100 me q J klass {} 1000"],
        changes={"ql:j:J": None, "ql:j:J-history": None, "ql:q:q-scheduled": None},
    ),
    Example(
        "base.lua: cancel, a job that waits for others",
        "cancel 200 K",
        after=PARENT_AND_CHILD,
        changes={
            "ql:j:K": None,
            "ql:j:K-history": None,
            "ql:j:K-dependencies": None,
            "ql:j:J-dependents": None,
            "ql:q:q-depends": None,
        },
    ),
    Example(
        "C10: a complete job is left alone, and named in the reply",
        "cancel 200 J",
        after=COMPLETE,
        reply=["J"],
        changes={},
        messages=[],
    ),
    Example(
        "base.lua: cancel, a failed job",
        "cancel 200 J",
        after=FAILED,
        reply=["J"],
        changes={
            "ql:f:group": None,
            "ql:failures": None,
            "ql:j:J": None,
            "ql:j:J-history": None,
            "ql:s:stats:0:q": {"failed": "0"},
        },
    ),
    Example(
        "base.lua: cancel, failed is uncounted on the day of the failure",
        "cancel 200000 J",
        after=FAILED,
        holds={"ql:s:stats:0:q": {"failed": "0", "failures": "1"}, "ql:s:stats:172800:q": None},
    ),
    Example(
        "base.lua: cancel, a timed-out job: its worker is told",
        "cancel 200 J",
        after=[*RUNNING, "timeout 120 J"],
        changes={
            "ql:j:J": None,
            "ql:j:J-history": None,
            "ql:q:q-work": None,
            "ql:w:worker:jobs": None,
        },
        messages=[
            ("ql:log", canceled("J", worker="worker")),
            ("ql:w:worker", canceled("J", worker="worker")),
        ],
    ),
    Example(
        "base.lua: cancel, a job in a queue that its hash does not name",
        "cancel 200 J",
        after=[*RUNNING, "retry 120 J p worker"],
        holds={"ql:j:J": None, "ql:q:p-work": {"J": score(0, 120)}},
    ),
    Example(
        "C5: an unknown job is announced all the same",
        "cancel 200 nope",
        reply=["nope"],
        changes={},
        messages=[("ql:log", unknown("nope"))],
    ),
    Example("C5: none", "cancel 200", reply=[], changes={}, messages=[]),
    Example(
        "base.lua: cancel, a tag borne twice",
        "cancel 200 J",
        after=["""put 100 me q J klass {} 0 tags '["a", "a"]'"""],
        holds={"ql:tags": {"a": 0.0}},
    ),
)
def test_cancel(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "base.lua: cancel, another job waits for it",
        "cancel 200 J",
        after=PARENT_AND_CHILD,
        error="Cancel(): J is a dependency of K but is not mentioned to be canceled",
    ),
    Example(
        "base.lua: cancel, another job waits for one of several",
        "cancel 200 L J",
        after=[*PARENT_AND_CHILD, "put 102 me q L klass {} 0"],
        error="Cancel(): J is a dependency of K but is not mentioned to be canceled",
    ),
    *(
        Example(
            "C12: parent and child, in any order",
            f"cancel 200 {order}",
            after=PARENT_AND_CHILD,
            reply=order.split(),
            changes={
                "ql:j:J": None,
                "ql:j:J-history": None,
                "ql:j:J-dependents": None,
                "ql:j:K": None,
                "ql:j:K-history": None,
                "ql:j:K-dependencies": None,
                "ql:q:q-depends": None,
                "ql:q:q-work": None,
            },
            messages=[("ql:log", canceled(jid)) for jid in order.split()],
        )
        for order in ("J K", "K J")
    ),
    Example(
        "C12: a jid named twice is unknown the second time",
        "cancel 200 J J",
        after=RUNNING,
        reply=["J", "J"],
        messages=[
            ("ql:log", canceled("J", worker="worker")),
            ("ql:w:worker", canceled("J", worker="worker")),
            ("ql:log", unknown("J")),
        ],
    ),
    Example(
        "C12: two of one group",
        "cancel 200 J K",
        after=[
            PUT,
            "put 101 me q K klass {} 0",
            "pop 110 q worker 2",
            "fail 120 J worker group message",
            "fail 121 K worker group message",
        ],
        holds={"ql:f:group": None, "ql:failures": None, "ql:s:stats:0:q": {"failed": "0"}},
    ),
    Example(
        "C12: two of three of one group",
        "cancel 200 J L",
        after=[
            PUT,
            "put 101 me q K klass {} 0",
            "put 102 me q L klass {} 0",
            "pop 110 q worker 3",
            "fail 120 J worker group message",
            "fail 121 K worker group message",
            "fail 122 L worker group message",
        ],
        holds={
            "ql:f:group": ["K"],
            "ql:failures": ["group"],
            "ql:s:stats:0:q": {"failed": "1"},
        },
    ),
    Example(
        "base.lua: cancel, a job that waits for itself",
        "cancel 200 J",
        after=["""put 100 me q J klass {} 0 depends '["J"]'"""],
        reply=["J"],
        changes={
            "ql:j:J": None,
            "ql:j:J-history": None,
            "ql:j:J-dependencies": None,
            "ql:j:J-dependents": None,
            "ql:q:q-depends": None,
        },
    ),
)
def test_cancel_of_several(core: Target, example: Example) -> None:
    example.check(core)


def test_the_error_names_a_job_that_waits(core: Target) -> None:
    run(core, PUT)
    for jid in ("K", "L"):
        run(core, f"""put 101 me q {jid} klass {{}} 0 depends '["J"]'""")
    with pytest.raises(core.error) as caught:
        run(core, "cancel 200 J K")
    said = "Cancel(): J is a dependency of L but is not mentioned to be canceled"
    assert str(caught.value) == said
