# SPDX-License-Identifier: MIT
"""log, the limit of a job's history, and histories of the old style, by examples."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pyqless.conformance import Target
from tests.unit.core.examples import Example, Like, content, damage, run, table

PUT = "put 100 me q J klass {} 0"
FIRST = [100, "put", {"q": "q"}]


@table(
    Example(
        "api.lua: log",
        "log 110.75 J message",
        after=[PUT],
        reply=None,
        changes={"ql:j:J-history": [FIRST, [110, "message"]]},
        messages=[],
    ),
    Example(
        "api.lua: log, data",
        """log 110 J message '{"a": [1.0, {}]}'""",
        after=[PUT],
        changes={"ql:j:J-history": [FIRST, '[110,"message",{"a":[1,{}]}]']},
    ),
    Example(
        "C4: a list of data comes back as an object",
        "get 200 J",
        after=[PUT, "log 110 J message '[5, 6]'"],
        reply=Like(history=[Like(what="put"), {"when": 110, "what": "message", "1": 5, "2": 6}]),
    ),
    Example(
        "C4: when and what are overwritten",
        "get 200 J",
        after=[PUT, """log 110 J message '{"when": 9, "what": 8, "a": 1}'"""],
        reply=Like(history=[Like(what="put"), {"when": 110, "what": "message", "a": 1}]),
    ),
    Example(
        "C10: data that is no table is stored",
        """log 110 J 'a "message"' '"text"'""",
        after=[PUT],
        reply=None,
        changes={"ql:j:J-history": [FIRST, [110, 'a "message"', "text"]]},
    ),
    Example("api.lua: log, no job", "log 110 J message", error="Log(): Job J does not exist"),
    Example(
        "C3: false is no data",
        "log 110 J message false",
        after=[PUT],
        error="Log(): Argument 'data' not cjson: false",
    ),
)
def test_log(core: Target, example: Example) -> None:
    example.check(core)


#: what the history holds after a put and the logs 2, 3, 4 and 5
LIMITS = [
    ("1", "15"),
    ("2", "12345"),
    ("3", "145"),
    ("4", "1345"),
    ("5", "12345"),
    ("100", "12345"),
    ("0", "12345"),
    ("-1", "12345"),
    ("-0.5", "12345"),
    ("0x3", "145"),
]


@pytest.mark.parametrize(("limit", "expected"), LIMITS)
def test_the_limit_of_a_history(core: Target, limit: str, expected: str) -> None:
    """job.lua: history, and C11."""
    run(core, f"config.set 90 max-job-history {limit}")
    run(core, PUT)
    for number in (2, 3, 4, 5):
        run(core, f"log 10{number} J {number}")
    assert what(core) == expected


def what(core: Target) -> str:
    """What the history of J holds, the put as 1."""
    entries = [json.loads(text) for text in content(core.snapshot(), "ql:j:J-history")]
    return "".join("1" if entry[1] == "put" else str(entry[1]) for entry in entries)


@pytest.mark.parametrize(
    ("limit", "expected"),
    # with 1 the core's LTRIM 1 -1 takes one only
    [("1", "134567"), ("3", "167"), ("5", "14567"), ("6", "134567")],
)
def test_a_limit_that_comes_later(core: Target, limit: str, expected: str) -> None:
    """job.lua: history, with more entries than the limit allows."""
    run(core, PUT)
    for number in (2, 3, 4, 5, 6):
        run(core, f"log 10{number} J {number}")
    run(core, f"config.set 110 max-job-history {limit}")
    run(core, "log 107 J 7")
    assert what(core) == expected


def test_a_history_has_100_entries_when_nothing_is_set(core: Target) -> None:
    run(core, PUT)
    for number in range(2, 110):
        run(core, f"log {100 + number} J {number}")
    entries = [json.loads(text) for text in content(core.snapshot(), "ql:j:J-history")]
    assert [entry[1] for entry in entries] == ["put", *(str(number) for number in range(11, 110))]


def test_complete_with_next_appends_twice(core: Target) -> None:
    """C9: two appends, two trims."""
    run(core, "config.set 90 max-job-history 3")
    for call in (PUT, "pop 110 q worker 1", "complete 120 J worker q {} next p"):
        run(core, call)
    entries = [json.loads(text) for text in content(core.snapshot(), "ql:j:J-history")]
    assert entries == [FIRST, [120, "done"], [120, "put", {"q": "p"}]]


# -- the old style ------------------------------------------------------------------------------

OLD: list[dict[str, Any]] = [
    {"q": "a", "put": 1.5, "popped": 2.5, "worker": "w", "failed": 3.5},
    {"q": "b", "put": 4, "popped": "5.5", "worker": "v", "done": 6.9},
    {"put": 7},
]
MOVED: list[Any] = [
    [1, "put", {"q": "a"}],
    [2, "popped", {"worker": "w"}],
    [3, "failed"],
    [4, "put", {"q": "b"}],
    [5, "popped", {"worker": "v"}],
    [6, "done"],
    [7, "put", {}],
]
SHOWN = [
    {"when": 1, "what": "put", "q": "a"},
    {"when": 2, "what": "popped", "worker": "w"},
    {"when": 3, "what": "failed"},
    {"when": 4, "what": "put", "q": "b"},
    {"when": 5, "what": "popped", "worker": "v"},
    {"when": 6, "what": "done"},
    {"when": 7, "what": "put"},
]


@pytest.fixture
def old(core: Target) -> Target:
    """Give a core with a waiting job whose history is of the old style."""
    run(core, PUT)
    damage(core, "DEL", "ql:j:J-history")
    damage(core, "HSET", "ql:j:J", "history", json.dumps(OLD))
    return core


def moved(core: Target) -> list[Any]:
    """The history of J, which the field holds no more."""
    snapshot = core.snapshot()
    assert "history" not in content(snapshot, "ql:j:J")
    return [json.loads(text) for text in content(snapshot, "ql:j:J-history")]


@pytest.mark.parametrize(
    "call", ["get 200 J", "multiget 200 J", "peek 200 q 1", "multiget 200 J J"]
)
def test_a_look_moves_an_old_history(old: Target, call: str) -> None:
    """job.lua: history; B0.8."""
    reply = json.loads(run(old, call))
    jobs = reply if isinstance(reply, list) else [reply]
    assert [job["history"] for job in jobs] == [SHOWN] * len(jobs)
    assert moved(old) == MOVED


def test_the_list_of_tracked_jobs_moves_an_old_history(old: Target) -> None:
    run(old, "track 150 track J")
    assert json.loads(run(old, "track 200"))["jobs"][0]["history"] == SHOWN
    assert moved(old) == MOVED


@pytest.mark.parametrize(
    ("call", "entry"),
    [
        ("pop 200 q worker 1", [200, "popped", {"worker": "worker"}]),
        ("put 200 me p J klass {} 0", [200, "put", {"q": "p"}]),
        ("log 200 J message", [200, "message"]),
    ],
)
def test_an_append_moves_an_old_history(old: Target, call: str, entry: list[Any]) -> None:
    run(old, call)
    assert moved(old) == [*MOVED, entry]


def test_unfail_moves_an_old_history(core: Target) -> None:
    for call in (PUT, "pop 110 q worker 1", "fail 120 J worker group message"):
        run(core, call)
    damage(core, "DEL", "ql:j:J-history")
    damage(core, "HSET", "ql:j:J", "history", json.dumps(OLD))
    assert run(core, "unfail 200 q group") == 1
    assert moved(core) == [*MOVED, [200, "put", {"q": "q"}]]


def test_an_old_history_goes_behind_what_the_list_holds(core: Target) -> None:
    run(core, PUT)
    damage(core, "HSET", "ql:j:J", "history", '[{"q":"a","put":5}]')
    run(core, "get 200 J")
    assert moved(core) == [FIRST, [5, "put", {"q": "a"}]]


def test_an_old_history_is_trimmed_by_an_append(old: Target) -> None:
    run(old, "config.set 150 max-job-history 3")
    run(old, "log 200 J message")
    assert moved(old) == [MOVED[0], MOVED[-1], [200, "message"]]


@pytest.mark.parametrize("history", ["[]", "{}"])
def test_an_empty_old_history_goes(core: Target, history: str) -> None:
    run(core, PUT)
    damage(core, "HSET", "ql:j:J", "history", history)
    run(core, "get 200 J")
    assert moved(core) == [FIRST]
