# SPDX-License-Identifier: MIT
"""
What is read without a guard is looked at again under one: others act in between, and the call begins afresh.

``tests/integration/test_guards.py`` shows what each of the guards is for.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest

from pyqless.core.commands import call
from pyqless.core.effects import FollowedBy
from pyqless.core.keys import Keys
from pyqless.core.keyspace import Keyspace
from pyqless.core.transaction import Transaction
from tests.stepper import begin, run

PUT = "put 100 me q J klass {} 0"


class Case(NamedTuple):
    """A call, and what others do once it has read so many batches."""

    given: tuple[str, ...]
    words: str
    after: int
    meanwhile: tuple[str, ...]
    #: jids in the reply, or the reply; as if the call had come behind the others
    expected: Any


CASES = {
    "another pop takes the job that pop has seen": Case(
        (PUT, "put 101 me q K klass {} 0"),
        "pop 110 q worker 1",
        1,
        ("pop 110 q other 1",),
        ["K"],
    ),
    "the job that pop has seen goes elsewhere and comes back": Case(
        (PUT, "put 101 me q K klass {} 0"),
        "pop 110 q worker 1",
        1,
        ("put 105 me q J klass {} 0",),
        ["K"],
    ),
    "the lock that pop has seen expired is renewed": Case(
        ("config.set 90 grace-period 0", PUT, "pop 110 q other 1", "put 120 me q K klass {} 0"),
        "pop 170 q worker 1",
        1,
        ("heartbeat 165 J other",),
        ["K"],
    ),
    "the recurring job that pop has seen due makes its child": Case(
        ("recur 100 q R klass {} interval 10 0", PUT),
        "pop 101 q worker 1",
        1,
        ("pop 101 q other 1",),
        ["J"],
    ),
    "the delayed job that pop has seen due is promoted": Case(
        ("put 100 me q J klass {} 5", "put 106 me q K klass {} 0"),
        "pop 110 q worker 1",
        1,
        ("pop 111 q other 2",),
        [],
    ),
    "the delayed job that queues has seen due is cancelled": Case(
        ("put 100 me q J klass {} 5", "put 106 me q K klass {} 0"),
        "queues 110 q",
        2,
        ("cancel 107 J",),
        {"waiting": 1, "scheduled": 0},
    ),
    "the worker that workers has seen silent for long pops": Case(
        (PUT, "put 101 me other K klass {} 0", "pop 102 other worker 1"),
        "workers 100000 worker",
        1,
        ("pop 99999 q worker 1",),
        {"jobs": ["J"], "stalled": ["K"]},
    ),
    "the completed job that complete has seen too old is put again": Case(
        (
            "config.set 90 jobs-history-count 1",
            *(PUT, "pop 110 q worker 1", "complete 120 J worker q {}"),
            *("put 130 me q K klass {} 0", "pop 140 q worker 1"),
        ),
        "complete 150 K worker q {}",
        1,
        ("put 145 me q J klass {} 0",),
        "complete",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_others_act_in_between(name: str) -> None:
    case = CASES[name]
    keyspace = Keyspace()
    for words in case.given:
        run(keyspace, words)
    running = begin(keyspace, case.words)
    running.step(case.after)
    for words in case.meanwhile:
        run(keyspace, words)
    reply = running.finish()
    assert running.conflicts == 1
    if isinstance(case.expected, list):
        assert [job["jid"] for job in json.loads(reply) or []] == case.expected
    elif isinstance(case.expected, dict):
        assert case.expected.items() <= json.loads(reply).items()
    else:
        assert reply == case.expected


def test_the_job_that_was_put_again_stays() -> None:
    case = CASES["the completed job that complete has seen too old is put again"]
    keyspace = Keyspace()
    for words in case.given:
        run(keyspace, words)
    running = begin(keyspace, case.words)
    running.step(1)
    for words in case.meanwhile:
        run(keyspace, words)
    running.finish()
    assert keyspace.read(("HGET", "ql:j:J", "state")) == "waiting"
    assert keyspace.read(("ZRANGE", "ql:completed", 0, -1)) == ["K"]


def test_after_a_conflict_complete_leaves_old_jobs_to_a_later_transaction() -> None:
    keyspace = Keyspace()
    for words in CASES["the completed job that complete has seen too old is put again"].given:
        run(keyspace, words)
    tx = Transaction(150.0, Keys(), attempt=1, memory={})
    steps = call(["complete", "150", "K", "worker", "q", "{}"]).transition(tx)
    batch = next(steps)
    with pytest.raises(StopIteration) as end:
        steps.send([keyspace.read(read) for read in batch.reads])
    assert isinstance(end.value.value, FollowedBy)
    assert end.value.value.value == "complete"
    assert not [write for write in tx.writes if "J" in write]


@pytest.mark.parametrize(
    ("given", "count", "expected"), [((), 1, []), ((PUT,), 2, ["J"])], ids=["none", "too few"]
)
def test_a_job_that_comes_once_pop_has_looked_waits_for_the_next(
    given: tuple[str, ...], count: int, expected: list[str]
) -> None:
    keyspace = Keyspace()
    for words in given:
        run(keyspace, words)
    running = begin(keyspace, f"pop 110 q worker {count}")
    running.step(1)
    run(keyspace, "put 101 me q K klass {} 0")
    assert [job["jid"] for job in json.loads(running.finish()) or []] == expected
    assert running.conflicts == 0
    assert [job["jid"] for job in json.loads(run(keyspace, "pop 111 q worker 2"))] == ["K"]
