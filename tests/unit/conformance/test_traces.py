# SPDX-License-Identifier: MIT
"""Traces are written down and read again."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from pyqless.conformance import Op, Target, Trace, read_traces, record_trace, replay_trace
from pyqless.errors import InvalidArgument

PUT = ("put", "100", "w", "q", "j1", "K", "{}", "0")

CALLS = [
    PUT,
    ("pop", "101", "q", "w", "1"),
    ("fail", "102", "j1", "w", "g", "m", '{"a":1}'),
    ("get", "103", "nope"),
    ("pop", "104", "q", "w"),
    ("cancel", "105", "j1"),
]


@pytest.fixture
def trace() -> Trace:
    with Target("memory://") as target:
        return record_trace(target, CALLS, seed=7)


def test_a_trace_tells_what_each_call_did(trace: Trace) -> None:
    """job.lua and queue.lua: put, pop, fail, cancel."""
    assert trace.seed == 7
    assert [op.call for op in trace.ops] == CALLS
    put, _, _, get, refused, cancel = trace.ops
    assert put.reply == "j1"
    [(channel, data)] = put.messages
    assert (channel, json.loads(data)) == ("ql:log", {"jid": "j1", "event": "put", "queue": "q"})
    assert sorted(put.delta) == ["ql:j:j1", "ql:j:j1-history", "ql:q:q-work", "ql:queues"]
    assert get == Op(("get", "103", "nope"))
    assert refused.error == 'Pop(): Arg "count" missing or not a number: nil'
    assert (refused.messages, refused.delta) == ([], {})
    assert cancel.reply == ["j1"]
    assert cancel.delta["ql:j:j1"] is None


def test_recording_begins_with_an_empty_database(trace: Trace) -> None:
    with Target("memory://") as target:
        target.call("put", "1", "w", "left", "behind", "K", "{}", "0")
        assert record_trace(target, CALLS, seed=7) == trace


@pytest.mark.parametrize("name", ["some.jsonl", "some.jsonl.gz"])
def test_a_trace_comes_back_from_its_line(trace: Trace, tmp_path: Path, name: str) -> None:
    text = f"{trace.to_line()}\n" * 2
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    assert list(read_traces(path)) == [trace, trace]


def test_a_line_is_as_the_recorded_ones_are(trace: Trace) -> None:
    put, *_, refused, _ = json.loads(trace.to_line())["ops"]
    assert put.keys() == {"args", "reply", "pub", "delta"}
    assert refused == {
        "args": ["pop", "104", "q", "w"],
        "error": 'Pop(): Arg "count" missing or not a number: nil',
    }


def test_an_internal_error_comes_back_as_one() -> None:
    trace = Trace(1, [Op(("put", "1"), error="bad argument #1", internal=True)])
    read = json.loads(trace.to_line())["ops"][0]
    assert read == {"args": ["put", "1"], "error": "bad argument #1", "internal": True}
    assert Op.from_json(read) == trace.ops[0]
    with Target("memory://") as target:
        assert replay_trace(target, trace) is None


def test_text_that_is_no_utf8_comes_back(tmp_path: Path) -> None:
    trace = Trace(1, [Op(("get", "1", "caf\udce9"))])
    path = tmp_path / "some.jsonl"
    path.write_bytes(trace.to_line().encode("utf-8", "surrogateescape"))
    assert list(read_traces(path)) == [trace]


@pytest.mark.parametrize("line", ["{", "[]", '{"seed":1}', '{"seed":1,"ops":[{}]}', "17"])
def test_a_line_that_is_no_trace_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text('{"seed":1,"ops":[]}\n' + line)
    traces = read_traces(path)
    assert next(traces) == Trace(1, [])
    with pytest.raises(InvalidArgument, match=r"some\.jsonl, line 2 is no trace") as raised:
        next(traces)
    assert raised.value.argument == "file"
    assert raised.value.value == f"{path}, line 2"


@pytest.mark.parametrize("name", ["missing.jsonl", "missing.jsonl.gz", "plain.jsonl.gz"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "plain.jsonl.gz").write_text("{}")
    with pytest.raises(InvalidArgument, match=name) as raised:
        list(read_traces(tmp_path / name))
    assert raised.value.value == str(tmp_path / name)
