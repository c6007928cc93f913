# SPDX-License-Identifier: MIT
"""recur, recur.get, recur.update, recur.tag, recur.untag and unrecur, by examples."""

from __future__ import annotations

import pytest

from pyqless.conformance import Target
from pyqless.core.transaction import Stale
from tests.unit.core.examples import Example, Like, table
from tests.unit.core.remembering import Store

RECUR = "recur 100 q R klass {} interval 10 5"


@table(
    Example(
        "queue.lua: recur",
        """recur 100 q R klass '{"a": 1}' interval 10 5""",
        reply="R",
        changes={
            "ql:r:R": {
                "jid": "R",
                "klass": "klass",
                "data": '{"a": 1}',
                "priority": "0",
                "tags": "{}",
                "state": "recur",
                "queue": "q",
                "type": "interval",
                "count": "0",
                "interval": "10",
                "retries": "0",
                "backlog": "0",
            },
            "ql:q:q-recur": {"R": 105.0},
            "ql:queues": {"q": 100.0},
        },
        messages=[],
    ),
    Example(
        "queue.lua: recur, all options; C2: numbers with 17 digits",
        """recur 100 q R klass {} interval 0.1 -5.5 """
        """priority 2.5 tags '["a", 1]' retries 3 backlog 0x10""",
        reply="R",
        holds={
            "ql:r:R": {
                "priority": "2.5",
                "tags": '["a",1]',
                "interval": "0.10000000000000001",
                "retries": "3",
                "backlog": "16",
            },
            "ql:q:q-recur": {"R": 94.5},
            "ql:tags": None,
        },
    ),
    Example(
        "C11: recur again: the same count, the next run anew, another queue",
        "recur 200 p R other '[1]' interval 20 1",
        after=[RECUR, "pop 106 q worker 1"],
        reply="R",
        holds={
            "ql:r:R": {
                "klass": "other",
                "data": "[1]",
                "queue": "p",
                "interval": "20",
                "count": "1",
            },
            "ql:q:q-recur": None,
            "ql:q:p-recur": {"R": 201.0},
            "ql:queues": {"q": 100.0, "p": 200.0},
        },
    ),
    Example(
        "queue.lua: recur, what is not given is usual again",
        "recur 200 q R klass {} interval 10 5",
        after=["recur 100 q R klass {} interval 10 5 priority 2 retries 3 backlog 4"],
        changes={
            "ql:r:R": {"priority": "0", "retries": "0", "backlog": "0"},
            "ql:q:q-recur": {"R": 205.0},
        },
    ),
    *(
        Example(
            "queue.lua: recur, any JSON is taken for tags",
            f"recur 100 q R klass {{}} interval 10 5 tags '{tags}'",
            reply="R",
            holds={"ql:r:R": {"tags": tags}},
        )
        for tags in ('{"a":"b"}', "null", "5", '"text"', "[true]")
    ),
    Example(
        "C6: unknown options are ignored",
        "recur 100 q R klass {} interval 10 5 unknown x",
        reply="R",
    ),
)
def test_recur(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "recurring.lua: data",
        "recur.get 110 R",
        after=[
            """recur 100 q R klass '{"a": 1}' interval 0.5 0 priority 2 tags '["a"]' retries 3""",
            "recur.update 101 R backlog 4",
        ],
        reply={
            "jid": "R",
            "klass": "klass",
            "state": "recur",
            "queue": "q",
            "priority": 2,
            "interval": 0.5,
            "retries": 3,
            "count": 0,
            "data": '{"a": 1}',
            "tags": ["a"],
            "backlog": 4,
        },
        changes={},
    ),
    Example(
        "recurring.lua: data, after a run",
        "recur.get 110 R",
        after=[RECUR, "pop 106 q worker 1"],
        reply=Like(count=1, tags={}),
    ),
    Example(
        "recurring.lua: data, tags are shown as they are",
        "recur.get 110 R",
        after=["""recur 100 q R klass {} interval 10 5 tags '{"a":"b"}'"""],
        reply=Like(tags={"a": "b"}),
    ),
    Example(
        "recurring.lua: data, tags that are null are shown as null",
        "recur.get 110 R",
        after=["recur 100 q R klass {} interval 10 5 tags null"],
        reply=Like(tags=None),
    ),
    Example("C5: no recurring job", "recur.get 110 R", reply=None, changes={}),
)
def test_recur_get(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "recurring.lua: update, priority",
        "recur.update 110 R priority 2.5",
        after=[RECUR],
        reply=1,
        changes={"ql:r:R": {"priority": "2.5"}},
        messages=[],
    ),
    Example(
        "recurring.lua: update, interval; C11: the next run is shifted by the difference",
        "recur.update 110 R interval 12.5",
        after=[RECUR],
        reply=1,
        changes={"ql:r:R": {"interval": "12.5"}, "ql:q:q-recur": {"R": 107.5}},
    ),
    *(
        Example(
            "C11: 0 and below zero are taken for an interval",
            f"recur.update 110 R interval {interval}",
            after=[RECUR],
            reply=1,
            changes={
                "ql:r:R": {"interval": str(interval)},
                "ql:q:q-recur": {"R": 95.0 + interval},
            },
        )
        for interval in (0, -10)
    ),
    Example(
        "recurring.lua: update, retries",
        "recur.update 110 R retries 3",
        after=[RECUR],
        changes={"ql:r:R": {"retries": "3"}},
    ),
    Example(
        "recurring.lua: update, data is kept as it is",
        """recur.update 110 R data '{"a": 1.0}'""",
        after=[RECUR],
        changes={"ql:r:R": {"data": '{"a": 1.0}'}},
    ),
    Example(
        "recurring.lua: update, klass",
        "recur.update 110 R klass ''",
        after=[RECUR],
        changes={"ql:r:R": {"klass": ""}},
    ),
    Example(
        "recurring.lua: update, backlog",
        "recur.update 110 R backlog -1.5",
        after=[RECUR],
        changes={"ql:r:R": {"backlog": "-1.5"}},
    ),
    Example(
        "recurring.lua: update, queue",
        "recur.update 110 R queue p",
        after=[RECUR],
        changes={
            "ql:r:R": {"queue": "p"},
            "ql:q:q-recur": None,
            "ql:q:p-recur": {"R": 105.0},
            "ql:queues": {"q": 100.0, "p": 110.0},
        },
    ),
    Example(
        "recurring.lua: update, the queue it is in already",
        "recur.update 110 R queue q",
        after=[RECUR],
        reply=1,
        changes={},
    ),
    Example(
        "C12: several pairs act one after another",
        "recur.update 110 R interval 20 interval 5 queue b interval 7",
        after=[RECUR],
        reply=1,
        changes={
            "ql:r:R": {"interval": "7", "queue": "b"},
            "ql:q:q-recur": None,
            "ql:q:b-recur": {"R": 102.0},
            "ql:queues": {"q": 100.0, "b": 110.0},
        },
    ),
    Example(
        "C12: to another queue and back",
        "recur.update 110 R queue p queue q priority 1",
        after=[RECUR],
        reply=1,
        changes={"ql:r:R": {"priority": "1"}, "ql:queues": {"q": 100.0, "p": 110.0}},
    ),
    Example(
        "recurring.lua: update, nothing", "recur.update 110 R", after=[RECUR], reply=1, changes={}
    ),
    Example(
        "recurring.lua: update, no recurring job",
        "recur.update 110 R priority high",
        error="Recur(): No recurring job R",
    ),
    Example(
        "recurring.lua: update, no value",
        "recur.update 110 R priority",
        after=[RECUR],
        error="No value provided for priority",
    ),
    *(
        Example(
            "recurring.lua: update, no number",
            f"recur.update 110 R {name} high",
            after=[RECUR],
            error=f'Recur(): Arg "{name}" must be a number: high',
        )
        for name in ("priority", "interval", "retries")
    ),
    Example(
        "recurring.lua: update, no number",
        "recur.update 110 R backlog high",
        after=[RECUR],
        error='Recur(): Arg "backlog" not a number: high',
    ),
    Example(
        "C3: false is no data",
        "recur.update 110 R data false",
        after=[RECUR],
        error='Recur(): Arg "data" is not JSON-encoded: false',
    ),
    *(
        Example(
            "C11: names that are unknown; nothing has changed",
            f"recur.update 110 R priority 1 {name} 5",
            after=[RECUR],
            error=f'Recur(): Unrecognized option "{name}"',
        )
        for name in ("count", "tags", "nope")
    ),
    Example(
        "C6: pair by pair, so that the first fault speaks",
        "recur.update 110 R priority high nope 5",
        after=[RECUR],
        error='Recur(): Arg "priority" must be a number: high',
    ),
)
def test_recur_update(core: Target, example: Example) -> None:
    example.check(core)


def test_recur_update_of_one_that_has_moved_meanwhile() -> None:
    """What is an error in one queue may be none in the next: the hash may be older than the place."""
    store = Store()
    store.call(RECUR)
    store.pretended = {("ZSCORE", "ql:q:q-recur", "R"): None, ("HGET", "ql:r:R", "queue"): "p"}
    with pytest.raises(Stale):
        store.call("recur.update 110 R queue other")


TAGGED = """recur 100 q R klass {} interval 10 5 tags '["a"]'"""


@table(
    Example(
        "recurring.lua: tag",
        "recur.tag 110 R b a c",
        after=[TAGGED],
        reply='["a","b","c"]',
        changes={"ql:r:R": {"tags": '["a","b","c"]'}},
        messages=[],
    ),
    Example(
        "C11: one named twice is added twice",
        "recur.tag 110 R b b",
        after=[TAGGED],
        reply='["a","b","b"]',
    ),
    Example(
        "recurring.lua: tag, to an object",
        "recur.tag 110 R b",
        after=["""recur 100 q R klass {} interval 10 5 tags '{"a": "b"}'"""],
        reply={"a": "b", "1": "b"},
    ),
    Example(
        "recurring.lua: tag, to what is no text",
        "recur.tag 110 R b",
        after=["""recur 100 q R klass {} interval 10 5 tags '[null,true,["a"]]'"""],
        reply='[null,true,["a"],"b"]',
    ),
    Example("recurring.lua: tag, none", "recur.tag 110 R", after=[RECUR], reply="{}", changes={}),
    Example(
        "recurring.lua: tag, no recurring job",
        "recur.tag 110 R a",
        error="Tag(): Job R does not exist",
    ),
)
def test_recur_tag(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "recurring.lua: untag",
        "recur.untag 120 R b nope",
        after=[TAGGED, "recur.tag 110 R b b c"],
        reply='["a","c"]',
        changes={"ql:r:R": {"tags": '["a","c"]'}},
    ),
    Example(
        "recurring.lua: untag, the last one",
        "recur.untag 120 R a",
        after=[TAGGED],
        reply="{}",
        changes={"ql:r:R": {"tags": "{}"}},
    ),
    Example(
        "recurring.lua: untag, what is no text stays",
        "recur.untag 120 R b a",
        after=["""recur 100 q R klass {} interval 10 5 tags '[null,"a",true]'"""],
        reply="[null,true]",
    ),
    Example("recurring.lua: untag, none", "recur.untag 120 R", after=[TAGGED], reply='["a"]'),
    Example(
        "recurring.lua: untag, no recurring job",
        "recur.untag 120 R a",
        error="Untag(): Job R does not exist",
    ),
)
def test_recur_untag(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "recurring.lua: unrecur",
        "unrecur 110 R",
        after=[RECUR],
        reply=1,
        changes={"ql:r:R": None, "ql:q:q-recur": None},
        messages=[],
    ),
    Example(
        "recurring.lua: unrecur, the children stay",
        "unrecur 110 R",
        after=[RECUR, "peek 106 q 1"],
        holds={"ql:j:R-1": {"state": "waiting"}, "ql:r:R": None},
    ),
    Example("C5: no recurring job", "unrecur 110 R", reply=1, changes={}),
)
def test_unrecur(core: Target, example: Example) -> None:
    example.check(core)
