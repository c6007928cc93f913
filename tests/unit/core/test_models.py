# SPDX-License-Identifier: MIT
"""Jobs and recurring jobs as rules return them, and the careful reading of fields beneath."""

from __future__ import annotations

from typing import Any

import pytest

from pyqless.core.fields import Fields, names_of
from pyqless.core.models import Job, RecurringJob
from pyqless.errors import CorruptedJob

FIELDS = {
    "jid": "J",
    "klass": "klass",
    "state": "running",
    "queue": "q",
    "worker": "worker",
    "priority": "2.5",
    "expires": "160.5",
    "retries": "5",
    "remaining": "4.5",
    "data": '{"a": 1}',
    "tags": '["a",1]',
    "failure": '{"group":"g"}',
    "spawned_from_jid": "R",
}


def job(**fields: str) -> Job:
    entries = ['[100,"put",{"q":"q"}]', '[110,"popped",{"worker":"worker"}]']
    return Job({**FIELDS, **fields}, entries, {"c", "b"}, {"e", "d"}, tracked=True)


def test_a_job() -> None:
    """job.lua: data."""
    seen = job()
    assert (seen.jid, seen.klass, seen.state, seen.queue) == ("J", "klass", "running", "q")
    assert (seen.worker, seen.expires, seen.tracked) == ("worker", 160.5, True)
    assert (seen.priority, seen.retries, seen.remaining) == (2.5, 5, 4)
    assert (seen.data, seen.tags, seen.failure) == ('{"a": 1}', ["a", 1], {"group": "g"})
    assert seen.history == [
        {"when": 100, "what": "put", "q": "q"},
        {"when": 110, "what": "popped", "worker": "worker"},
    ]
    assert (seen.dependents, seen.dependencies) == (["b", "c"], ["d", "e"])
    assert seen.spawned_from_jid == "R"
    assert repr(seen) == "<Job J: klass, running in 'q'>"
    seen.check()


def test_a_job_of_which_little_is_known() -> None:
    """job.lua: data; what is missing is false or has a value of its own."""
    seen = Job({"jid": "J", "remaining": "0", "tags": "{}"}, [], [], [], tracked=False)
    seen.check()
    assert (seen.klass, seen.state, seen.queue, seen.data) == (None, None, None, None)
    assert (seen.worker, seen.expires, seen.failure) == ("", 0, {})
    assert (seen.priority, seen.retries, seen.spawned_from_jid) == (None, None, None)
    assert (seen.tags, seen.history, seen.tracked) == ({}, [], False)


@pytest.mark.parametrize("expires", ["", "never"])
def test_a_job_without_a_lock(expires: str) -> None:
    assert job(expires=expires).expires == 0


def test_a_recurring_job() -> None:
    """recurring.lua: data."""
    seen = RecurringJob(
        {
            "jid": "R",
            "klass": "klass",
            "state": "recur",
            "queue": "q",
            "data": "{}",
            "priority": "1",
            "retries": "2",
            "tags": '["a"]',
            "interval": "0.5",
            "count": "3",
            "backlog": "4",
        }
    )
    assert (seen.jid, seen.klass, seen.state, seen.queue) == ("R", "klass", "recur", "q")
    assert (seen.interval, seen.count, seen.backlog) == (0.5, 3, 4)
    assert (seen.priority, seen.retries, seen.data, seen.tags) == (1, 2, "{}", ["a"])
    assert repr(seen) == "<RecurringJob R: klass every 0.5 s in 'q'>"
    assert RecurringJob({"jid": "R"}).backlog == 0


# -- fields -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "number"), [("5", 5), ("-1.5", -1.5), ("0x10", 16), (" 1e2 ", 100)]
)
def test_a_field_that_is_a_number(text: str, number: float) -> None:
    assert Fields.of("J", {"field": text}).number("field") == number


@pytest.mark.parametrize("text", ["", "x", "inf", "-inf", "nan", "1e400", None])
def test_a_field_that_is_no_number(text: str | None) -> None:
    fields = Fields.of("J", {} if text is None else {"field": text})
    with pytest.raises(CorruptedJob) as caught:
        fields.number("field")
    assert (caught.value.argument, caught.value.value) == ("field", text)
    if text is not None:
        with pytest.raises(CorruptedJob):
            fields.number("field", 1.0)


def test_a_field_that_may_be_missing() -> None:
    fields = Fields.of("J", {})
    assert fields.number("field", 1.5) == 1.5
    assert fields.whole("field") == 0
    assert fields.json("field", "[]") == []
    with pytest.raises(CorruptedJob):
        fields.text("field")
    with pytest.raises(CorruptedJob):
        fields.json("field")


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("-5", -5), (str(2**63 - 2), 2**63 - 2)])
def test_a_field_that_can_be_counted(text: str, number: int) -> None:
    assert Fields.of("J", {"field": text}).whole("field") == number


@pytest.mark.parametrize(
    "text", ["", "1.5", " 1", "+1", "01", "1e2", str(2**63 - 1), str(-(2**63))]
)
def test_a_field_that_cannot_be_counted(text: str) -> None:
    """The next count must have a place in 64 bits, too."""
    with pytest.raises(CorruptedJob):
        Fields.of("J", {"field": text}).whole("field")


@pytest.mark.parametrize(
    ("text", "kept", "names"),
    [
        ('["a",1]', ["a", 1.0], ["a", 1.0]),
        ("{}", {}, []),
        ('{"a":"b"}', {"a": "b"}, []),
    ],
)
def test_tags(text: str, kept: Any, names: list[str | float]) -> None:
    fields = Fields.of("J", {"tags": text})
    assert fields.kept_tags() == kept
    assert fields.tag_list() == names
    assert names_of(kept) == names


@pytest.mark.parametrize("text", ["null", "5", '"a"', "[true]", "[[]]", "["])
def test_tags_that_make_no_sense(text: str) -> None:
    with pytest.raises(CorruptedJob) as caught:
        Fields.of("J", {"tags": text}).tag_list()
    assert caught.value.argument == "tags"
