# SPDX-License-Identifier: MIT
"""What counts as the same, and what does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pyqless.conformance import Comparison, Outcome, Snapshot

J = "ql:j:j1"


def outcome(
    reply: Any = None,
    *,
    error: str | None = None,
    internal: bool = False,
    messages: Any = (),
    state: Snapshot | None = None,
) -> Outcome:
    return Outcome(
        reply=reply, error=error, internal=internal, messages=list(messages), state=state or {}
    )


def what_differs(
    expected: Outcome,
    got: Outcome,
    *,
    call: str = "get 0 j1",
    before: Snapshot | None = None,
    numbers: bool = False,
) -> list[str]:
    comparison = Comparison(numbers=numbers)
    findings = comparison.findings(tuple(call.split()), before or {}, expected, got)
    return [finding.what for finding in findings]


def a_hash(**fields: str) -> Snapshot:
    return {J: {"type": "hash", "value": fields}}


def entry(key: str, kind: str, value: Any) -> Snapshot:
    return {key: {"type": kind, "value": value}}


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (None, None),
        ("waiting", "waiting"),
        (["j1", "j2"], ["j1", "j2"]),
        ('{"a":1,"b":[1,2]}', '{"b": [1, 2], "a": 1.0}'),
        ('{"dependents":["a","b"]}', '{"dependents":["b","a"]}'),
        ('[{"dependencies":["a","b"]}]', '[{"dependencies":["b","a"]}]'),
        ("{", "{"),
    ],
)
def test_replies_that_are_the_same(expected: Any, got: Any) -> None:
    assert what_differs(outcome(expected), outcome(got)) == []


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (None, ""),
        (1, "1"),
        ("waiting", "scheduled"),
        ("60", "60.0"),
        (["j1", "j2"], ["j2", "j1"]),
        ('{"a":1}', '{"a":2}'),
        ('{"a":1}', '{"a":true}'),
        ('{"a":null}', "{}"),
        ('{"tags":["a","b"]}', '{"tags":["b","a"]}'),
        ('{"dependents":["a","a"]}', '{"dependents":["a"]}'),
        ('{"data":"{\\"a\\":1}"}', '{"data":"{\\"a\\": 1}"}'),
        ("{", "{ "),
    ],
)
def test_replies_that_differ(expected: Any, got: Any) -> None:
    assert what_differs(outcome(expected), outcome(got)) == ["reply"]


def test_an_error_is_no_reply() -> None:
    assert what_differs(outcome("j1"), outcome(error="j1")) == ["error instead of a reply"]
    assert what_differs(outcome(error="j1"), outcome("j1")) == ["reply instead of an error"]


def test_an_error_is_compared_to_the_byte() -> None:
    assert what_differs(outcome(error="no"), outcome(error="no")) == []
    assert what_differs(outcome(error="no"), outcome(error="no ")) == ["error"]


@pytest.mark.parametrize("text", ["a\nb\0c", "a\rb", "a b"])
def test_an_error_is_compared_as_far_as_the_wire_carries_it(text: str) -> None:
    assert what_differs(outcome(error="a b"), outcome(error=text)) == []
    assert what_differs(outcome(error="a bc"), outcome(error=text)) == ["error"]


def test_bytes_that_are_no_text_are_compared_as_redis_py_shows_them_in_an_error() -> None:
    assert what_differs(outcome(error="caf\ufffd"), outcome(error="caf\udce9")) == []


def test_any_error_will_do_for_an_internal_one() -> None:
    broken = outcome(error="attempt to index", internal=True)
    assert what_differs(broken, outcome(error="data is not JSON")) == []
    assert what_differs(broken, outcome(None)) == ["reply instead of an error"]
    changed = outcome(error="data is not JSON", state=a_hash(a="1"))
    assert what_differs(broken, changed) == [f"key {J}"]


REFUSED = "Cancel(): {} is a dependency of {} but is not mentioned to be canceled"


@pytest.mark.parametrize(
    ("job", "dependent", "same"),
    [("j1", "j3", True), ("j1", "j4", True), ("j1", "j2", False), ("j2", "j3", False)],
)
def test_a_refused_cancel_may_name_any_dependent_that_the_call_does_not(
    job: str, dependent: str, *, same: bool
) -> None:
    before = entry(f"{J}-dependents", "set", ["j2", "j3", "j4"])
    differs = what_differs(
        outcome(error=REFUSED.format("j1", "j3"), state=before),
        outcome(error=REFUSED.format(job, dependent), state=before),
        call="cancel 0 j1 j2",
        before=before,
    )
    assert differs == ([] if same else ["error"])


def test_the_refusal_of_another_call_is_compared_to_the_byte() -> None:
    before = entry(f"{J}-dependents", "set", ["j2", "j3"])
    expected, got = (outcome(error=REFUSED.format("j1", jid)) for jid in ("j2", "j3"))
    assert "error" in what_differs(expected, got, call="fail 0 j1", before=before)


@pytest.mark.parametrize(
    ("expected", "got", "same"),
    [
        ([("c", "j1")], [("c", "j1")], True),
        ([("c", '{"a":1,"b":2}')], [("c", '{"b":2,"a":1}')], True),
        ([("c", "j1")], [("d", "j1")], False),
        ([("c", "j1"), ("c", "j2")], [("c", "j2"), ("c", "j1")], False),
        ([("c", "j1")], [], False),
    ],
)
def test_messages(expected: Any, got: Any, *, same: bool) -> None:
    differs = what_differs(outcome(messages=expected), outcome(messages=got))
    assert differs == ([] if same else ["messages"])


@pytest.mark.parametrize(
    ("key", "kind", "expected", "got"),
    [
        (J, "hash", {"failure": '{"a":1,"b":2}'}, {"failure": '{"b":2,"a":1}'}),
        (J, "hash", {"tags": '{"a":1,"b":2}'}, {"tags": '{"b":2,"a":1}'}),
        (f"{J}-history", "list", ['[1,"put",{"q":"a","p":1}]'], ['[1,"put",{"p":1,"q":"a"}]']),
        ("ql:q:q-work", "zset", [["j1", "1.5"]], [["j1", "1.5"]]),
        ("ql:q:q-work", "zset", [["j1", "-0.0"]], [["j1", "0.0"]]),
    ],
)
def test_what_is_stored_alike(key: str, kind: str, expected: Any, got: Any) -> None:
    one, other = entry(key, kind, expected), entry(key, kind, got)
    assert what_differs(outcome(state=one), outcome(state=other)) == []


@pytest.mark.parametrize(
    ("key", "kind", "expected", "got", "what"),
    [
        (J, "hash", {"data": '{"a":1,"b":2}'}, {"data": '{"b":2,"a":1}'}, "field data"),
        (J, "hash", {"tags": "[]"}, {"tags": "{}"}, "field tags"),
        (J, "hash", {"tags": '["a", "b"]'}, {"tags": '["a","b"]'}, "field tags"),
        (J, "hash", {"expires": "0.10000000000000001"}, {"expires": "0.1"}, "field expires"),
        (J, "hash", {"grace": "1"}, {}, "field grace"),
        (f"{J}-history", "list", ["[1]", "[2]"], ["[2]", "[1]"], None),
        ("ql:f:g", "list", ["[1]"], ["[1] "], None),
        ("ql:q:q-work", "zset", [["j1", "1.5"]], [["j1", "1.6"]], None),
        ("ql:failures", "set", ["g"], ["g", "h"], None),
    ],
)
def test_what_is_stored_differently(
    key: str, kind: str, expected: Any, got: Any, what: str | None
) -> None:
    one, other = entry(key, kind, expected), entry(key, kind, got)
    place = f"key {key}" if what is None else f"key {key}, {what}"
    assert what_differs(outcome(state=one), outcome(state=other)) == [place]


def test_a_key_that_is_missing_or_of_another_type() -> None:
    one = a_hash(a="1")
    assert what_differs(outcome(state=one), outcome()) == [f"key {J}"]
    assert what_differs(outcome(), outcome(state=one)) == [f"key {J}"]
    assert what_differs(outcome(state=one), outcome(state=entry(J, "set", ["a"]))) == [f"key {J}"]


# -- data that has been written anew ------------------------------------------------------------

RAW, ANEW, OURS = '{"b":2, "a":1}', '{"b":2,"a":1}', '{"a":1,"b":2}'


@pytest.mark.parametrize("call", ["heartbeat 0 j1 w {}", "fail 0 j1 w g m {}"])
def test_heartbeat_and_fail_write_data_in_any_order(call: str) -> None:
    comparison = Comparison()
    before, expected, got = (a_hash(data=data) for data in (RAW, ANEW, OURS))
    words = tuple(call.split())
    assert comparison.findings(words, before, outcome(state=expected), outcome(state=got)) == []
    # and so it stays, in what is shown as well, until the data is replaced
    shown = [
        outcome(json.dumps({"jid": "j1", "data": state[J]["value"]["data"]}), state=state)
        for state in (expected, got)
    ]
    assert comparison.findings(("get", "0", "j1"), expected, *shown) == []
    replaced = [outcome(state=a_hash(data=data)) for data in (RAW, OURS)]
    [finding] = comparison.findings(("complete", "0", "j1"), expected, *replaced)
    assert finding == (f"key {J}, field data", RAW, OURS)


@pytest.mark.parametrize(
    "call",
    ["heartbeat 0 j1 w", "heartbeat 0 j1 w false", "heartbeat 0 j2 w {}", "fail 0 j1 w g m", "put"],
)
def test_other_calls_do_not(call: str) -> None:
    expected, got = (outcome(state=a_hash(data=data)) for data in (ANEW, OURS))
    assert what_differs(expected, got, call=call) == [f"key {J}, field data"]


def test_a_refused_heartbeat_writes_nothing_anew() -> None:
    expected, got = (outcome(error="no", state=a_hash(data=data)) for data in (ANEW, OURS))
    assert what_differs(expected, got, call="heartbeat 0 j1 w {}") == [f"key {J}, field data"]


# -- servers that write numbers in their shortest form ------------------------------------------


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (a_hash(expires="0.1"), a_hash(expires="0.10000000000000001")),
        (a_hash(priority="0"), a_hash(priority="-0")),
        (
            entry("ql:tags", "zset", [["0.1", "1.0"]]),
            entry("ql:tags", "zset", [["0.10000000000000001", "1.0"]]),
        ),
    ],
)
def test_number_texts_are_compared_as_numbers_if_so_wished(
    expected: Snapshot, got: Snapshot
) -> None:
    assert what_differs(outcome(state=expected), outcome(state=got), numbers=True) == []
    assert what_differs(outcome(state=expected), outcome(state=got)) != []


def test_other_texts_and_other_numbers_differ_all_the_same() -> None:
    for expected, got in (("0.1", "0.2"), ("a", "b")):
        one, other = (outcome(state=a_hash(queue=text)) for text in (expected, got))
        assert what_differs(one, other, numbers=True) == [f"key {J}, field queue"]
