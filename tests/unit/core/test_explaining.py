# SPDX-License-Identifier: MIT
"""Why a job is not running."""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest

from pyqless.conformance import Target
from pyqless.core import circles
from pyqless.core.explaining import Explanation, explain, summary_of
from pyqless.core.transaction import Transaction
from pyqless.errors import CorruptedJob, JobNotFound


@pytest.fixture
def core() -> Iterator[Target]:
    with Target("memory://") as target:
        yield target


def _explain(core: Target, jid: str, now: float = 100.0) -> Explanation:
    return core._storage.run(lambda tx: explain(tx, jid), now)


def _put(core: Target, jid: str, *options: str, delay: str = "0") -> None:
    core.call("put", "100", "w", "q", jid, "klass", "{}", delay, *options)


def test_a_job_waits_for_those_before_it(core: Target) -> None:
    _put(core, "A")
    _put(core, "B", "priority", "1")

    assert _explain(core, "A")[0:1] == ("waiting",)
    assert _explain(core, "A").ahead == 1
    assert _explain(core, "A").text == "it waits for a worker; 1 job goes before it"
    assert _explain(core, "B").ahead == 0
    assert _explain(core, "B").text == "it waits for a worker; no job goes before it"
    _put(core, "C", "priority", "2")
    assert _explain(core, "A").text == "it waits for a worker; 2 jobs go before it"


def test_a_paused_queue_is_named(core: Target) -> None:
    _put(core, "A")
    core.call("pause", "100", "q")

    assert _explain(core, "A").reason == "paused"
    assert "'q' is paused" in _explain(core, "A").text


def test_a_delay_has_an_end(core: Target) -> None:
    _put(core, "A", delay="50")

    assert (_explain(core, "A").reason, _explain(core, "A").until) == ("scheduled", 150.0)
    assert _explain(core, "A").text == "it is scheduled for 1970-01-01 00:02:30 UTC, in 50 s"
    assert _explain(core, "A", now=150.0).reason == "waiting"


def test_dependencies_are_named(core: Target) -> None:
    _put(core, "A")
    _put(core, "B", "depends", '["A"]')

    assert _explain(core, "B").depends == ("A",)
    assert _explain(core, "B").text == "it waits for A"
    assert _explain(core, "B").circle == ()


def _wait(core: Target, **waits: str) -> None:
    """Let jobs wait for others, however these wait in turn."""
    for jid in waits:
        _put(core, jid)
    for jid, others in waits.items():
        _put(core, jid, "depends", json.dumps(list(others)))


def test_jobs_that_wait_for_each_other_wait_for_ever(core: Target) -> None:
    _wait(core, A="B", B="CD", C="D", D="B")
    circle = _explain(core, "D").circle
    assert circle in (("D", "B"), ("D", "B", "C"))
    assert _explain(core, "D").text.startswith("it waits for B, for ever: D, B")
    assert _explain(core, "D").text.endswith(" wait for each other in a circle")

    # who only waits for such jobs does so in vain, too
    assert _explain(core, "A").depends == ("B",)
    assert "A" not in _explain(core, "A").circle
    assert set(_explain(core, "A").circle) >= {"B", "D"}


def test_a_job_that_waits_for_itself_waits_for_ever(core: Target) -> None:
    _wait(core, A="A")
    assert _explain(core, "A").text == "it waits for A, for ever: A waits for itself"
    assert _explain(core, "A").circle == ("A",)


def test_jobs_that_only_wait_together_are_no_circle(core: Target) -> None:
    _wait(core, D="BC", C="A", B="A")
    _put(core, "A")
    assert _explain(core, "D").circle == ()


def test_a_circle_is_not_looked_for_without_end(core: Target) -> None:
    chain = [f"J{number:02}" for number in range(24)]
    for jid in chain:
        _put(core, jid)
    for jid, other in zip(chain, [*chain[1:], chain[-1]], strict=True):
        _put(core, jid, "depends", json.dumps([other]))
    assert _explain(core, chain[0]).circle == ()
    assert _explain(core, chain[5]).circle == (chain[-1],)


def test_a_limit_is_named(core: Target) -> None:
    core.call("config.set", "100", "q-max-concurrency", "1")
    _put(core, "A")
    _put(core, "B")
    core.call("pop", "100", "q", "w", "1")

    assert _explain(core, "A").reason == "limit"
    assert _explain(core, "A").text == "queue 'q' runs 1 job, and may not run more than 1"


def test_a_lock_has_an_owner_and_an_end(core: Target) -> None:
    _put(core, "A")
    core.call("pop", "100", "q", "ann", "1")

    assert _explain(core, "A").until == 160.0
    assert _explain(core, "A").text == (
        "it is running: locked by 'ann' until 1970-01-01 00:02:40 UTC, in 60 s"
    )
    late = _explain(core, "A", now=161.0)
    assert late.reason == "stalled"
    assert "'ann' expired at 1970-01-01 00:02:40 UTC, 1 s ago;" in late.text


def test_what_is_over_is_over(core: Target) -> None:
    _put(core, "A")
    core.call("pop", "100", "q", "w", "1")
    core.call(
        "fail", "100", "A", "w", "group", 'Traceback ...\n  File "a", line 5\nValueError: no\n'
    )
    explained = _explain(core, "A")
    assert explained.reason == "failed"
    assert explained.text == "it failed as 'group': ValueError: no"

    core.call("unfail", "100", "q", "group")
    core.call("pop", "100", "q", "w", "1")
    core.call("complete", "100", "A", "w", "q", "{}")
    assert _explain(core, "A").reason == "complete"


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("no such thing", "no such thing"),
        ("no such thing\nat all\n", "no such thing"),
        ('Traceback ...\n  File "a", line 1\n    x()\nValueError: a\n  b', "ValueError: a"),
        ('Traceback ...\n  File "a", line 1\nValueError: a\nb\n', "ValueError: a"),
        ('X: 1\nDuring ...\n  File "a"\n    y()\n    ^^^\nY: 2', "Y: 2"),
        ('Traceback ...\n  File "a", line 1\n    cut', "Traceback ..."),
        ('Traceback ...\n  File "a", line 1\n    x()\n\nValueError: a\n  b\nc', "ValueError: a"),
        ("ValueError: a\n  b\nc", "ValueError: a"),
        (" \n", ""),
        ('  File "a", line 2\n    x = =\n        ^\nSyntaxError: bad', "SyntaxError: bad"),
        ('  File "a", line 2\n    cut', 'File "a", line 2'),
        ("\n  no such thing\n", "no such thing"),
    ],
)
def test_a_message_in_a_line(message: str, shown: str) -> None:
    assert summary_of(message) == shown


def test_a_group_of_exceptions_in_a_line() -> None:
    def fail() -> None:
        raise ValueError("inner")

    try:
        try:
            fail()
        except ValueError as error:
            raise ExceptionGroup("two\nlines", [error, KeyError(1)]) from error
    except ExceptionGroup as group:
        message = "".join(traceback.format_exception(group))
    assert summary_of(message) == "ExceptionGroup: two"


def test_a_failure_of_several_lines_is_told_by_the_first(core: Target) -> None:
    _put(core, "A")
    core.call("pop", "100", "q", "w", "1")
    core.call("fail", "100", "A", "w", "group", "the card was refused\nby the bank\n")
    assert _explain(core, "A").text == "it failed as 'group': the card was refused"


@pytest.mark.parametrize("failure", ["[]", "{}", '"text"', None])
def test_a_failure_that_is_not_told_is_a_failure(core: Target, failure: str | None) -> None:
    fields = {"state": "failed"} | ({} if failure is None else {"failure": failure})
    core._storage.run(_written("A", fields))
    assert _explain(core, "A").text == "it failed as '': "


@pytest.mark.parametrize("failure", ['{"group":[]}', '{"message":null}', "{"])
def test_a_failure_that_makes_no_sense_is_named(core: Target, failure: str) -> None:
    core._storage.run(_written("A", {"state": "failed", "failure": failure}))
    with pytest.raises(CorruptedJob) as caught:
        _explain(core, "A")
    assert caught.value.argument == "failure"


def test_nor_among_any_number_of_jobs(core: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    _wait(core, A="BCD", B="B", C="C", D="D")
    monkeypatch.setattr(circles, "_JOBS", 2)
    assert _explain(core, "A").circle == ("B",)
    monkeypatch.setattr(circles, "_JOBS", 1)
    assert _explain(core, "A").circle == ()


def _written(jid: str, fields: dict[str, str]) -> Any:
    def begin(tx: Transaction) -> Any:
        tx.hset(tx.keys.job(jid), *chain.from_iterable(fields.items()))
        return
        yield

    return begin


def test_an_unknown_job_cannot_be_explained(core: Target) -> None:
    with pytest.raises(JobNotFound):
        _explain(core, "A")
