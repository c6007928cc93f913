# SPDX-License-Identifier: MIT
"""tag, by examples."""

from __future__ import annotations

from pyqless.conformance import Target
from tests.unit.core.examples import Example, table

TAGGED = """put 100 me q J klass {} 0 tags '["a", "b"]'"""


@table(
    Example(
        "base.lua: tag add",
        "tag 110 add J c d",
        after=[TAGGED],
        reply='["a","b","c","d"]',
        changes={
            "ql:j:J": {"tags": '["a","b","c","d"]'},
            "ql:t:c": {"J": 110.0},
            "ql:t:d": {"J": 110.0},
            "ql:tags": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0},
        },
        messages=[],
    ),
    Example(
        "C10: a tag that is there already counts again",
        "tag 110 add J a",
        after=[TAGGED],
        reply='["a","b"]',
        changes={"ql:t:a": {"J": 110.0}, "ql:tags": {"a": 2.0, "b": 1.0}},
    ),
    Example(
        "base.lua: tag add, one named twice is added once and counts twice",
        "tag 110 add J c c",
        after=[TAGGED],
        reply='["a","b","c"]',
        holds={"ql:tags": {"a": 1.0, "b": 1.0, "c": 2.0}},
    ),
    Example(
        "base.lua: tag add, to an object",
        "tag 110 add J b c",
        after=["""put 100 me q J klass {} 0 tags '{"a": "b"}'"""],
        reply={"a": "b", "1": "b", "2": "c"},
        holds={"ql:j:J": {"tags": {"a": "b", "1": "b", "2": "c"}}, "ql:tags": {"b": 1.0, "c": 1.0}},
    ),
    Example(
        "base.lua: tag add, nothing, to an object",
        "tag 110 add J",
        after=["""put 100 me q J klass {} 0 tags '{"a": "b"}'"""],
        reply={"a": "b"},
        changes={},
    ),
    Example(
        "base.lua: tag add, to none",
        "tag 110 add J ''",
        after=["put 100 me q J klass {} 0"],
        reply='[""]',
        holds={"ql:t:": {"J": 110.0}, "ql:tags": {"": 1.0}},
    ),
    Example(
        "base.lua: tag add, nothing", "tag 110 add J", after=[TAGGED], reply='["a","b"]', changes={}
    ),
    Example("base.lua: tag add, no job", "tag 110 add J a", error="Tag(): Job J does not exist"),
)
def test_tag_add(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "base.lua: tag remove",
        "tag 110 remove J a",
        after=[TAGGED],
        reply='["b"]',
        changes={
            "ql:j:J": {"tags": '["b"]'},
            "ql:t:a": None,
            "ql:tags": {"a": 0.0, "b": 1.0},
        },
        messages=[],
    ),
    Example(
        "base.lua: tag remove, all",
        "tag 110 remove J a b",
        after=[TAGGED],
        reply="{}",
        holds={"ql:j:J": {"tags": "{}"}},
    ),
    Example(
        "C10: absent ones are uncounted too, repeated ones repeatedly",
        "tag 110 remove J nope a a",
        after=[TAGGED],
        reply='["b"]',
        holds={"ql:tags": {"a": -1.0, "b": 1.0, "nope": -1.0}},
    ),
    Example(
        "base.lua: tag remove, every occurrence of a tag",
        "tag 110 remove J a",
        after=["""put 100 me q J klass {} 0 tags '["a", "b", "a"]'"""],
        reply='["b"]',
        holds={"ql:tags": {"a": 1.0, "b": 1.0}},
    ),
    Example(
        "base.lua: tag remove, nothing is left of an object",
        "tag 110 remove J x",
        after=["""put 100 me q J klass {} 0 tags '{"a": "b"}'"""],
        reply="{}",
    ),
    Example(
        "base.lua: tag remove, a number is no text",
        "tag 110 remove J 1",
        after=["""put 100 me q J klass {} 0 tags '[1, "1"]'"""],
        reply="[1]",
    ),
    Example(
        "base.lua: tag remove, no job",
        "tag 110 remove J a",
        error="Tag(): Job J does not exist",
    ),
)
def test_tag_remove(core: Target, example: Example) -> None:
    example.check(core)


MANY = [f"put {100 + n} me q J{n:02} klass {{}} 0 tags '[\"a\"]'" for n in range(30)]


@table(
    Example(
        "base.lua: tag get, in the order in which they came to bear it",
        "tag 200 get a",
        after=MANY,
        reply={"total": 30, "jobs": [f"J{n:02}" for n in range(25)]},
        changes={},
    ),
    Example(
        "base.lua: tag get, a page",
        "tag 200 get a 28 25",
        after=MANY,
        reply={"total": 30, "jobs": ["J28", "J29"]},
    ),
    Example(
        "base.lua: tag get, an offset from the end",
        "tag 200 get a -3 2",
        after=MANY,
        reply={"total": 30, "jobs": ["J27", "J28"]},
    ),
    Example("base.lua: tag get, unknown", "tag 200 get b", reply={"total": 0, "jobs": {}}),
)
def test_tag_get(core: Target, example: Example) -> None:
    example.check(core)


#: a three times, b twice, c once
COUNTED = (
    """put 100 me q J klass {} 0 tags '["a", "b", "c"]'""",
    """put 101 me q K klass {} 0 tags '["a", "b"]'""",
    """put 102 me q L klass {} 0 tags '["a"]'""",
)


@table(
    Example(
        "C10: those with two or more, the most frequent first",
        "tag 200 top",
        after=COUNTED,
        reply='["a","b"]',
        changes={},
    ),
    Example("base.lua: tag top, an offset", "tag 200 top 1", after=COUNTED, reply='["b"]'),
    Example("base.lua: tag top, a count", "tag 200 top 0 1", after=COUNTED, reply='["a"]'),
    Example(
        "C13: a count below zero means all", "tag 200 top 0 -1", after=COUNTED, reply='["a","b"]'
    ),
    Example("C13: an offset below zero gives none", "tag 200 top -1", after=COUNTED, reply="{}"),
    Example("base.lua: tag top, none", "tag 200 top", reply="{}"),
    Example(
        "base.lua: tag top, of equal ones the last in the order of bytes first",
        "tag 200 top",
        after=[*COUNTED, "tag 110 add L b"],
        reply='["b","a"]',
    ),
)
def test_tag_top(core: Target, example: Example) -> None:
    example.check(core)
