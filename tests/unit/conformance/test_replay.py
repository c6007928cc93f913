# SPDX-License-Identifier: MIT
"""Whatever a trace expects and does not get is found, and told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pyqless.conformance import Op, Target, Trace, record_trace, replay_trace
from pyqless.conformance.replay import replay

CALLS = [
    ("put", "100", "w", "q", "j1", "K", "{}", "0"),
    ("pop", "101", "q", "w"),
    ("pop", "102", "q", "w", "1"),
    ("length", "103", "q"),
]


def tampered(index: int, change: Callable[[Op], Op]) -> Trace:
    """Record a trace, and change an op of it."""
    with Target("memory://") as target:
        ops = record_trace(target, CALLS, seed=7).ops
    return Trace(7, [change(op) if at == index else op for at, op in enumerate(ops)])


def without_a_key(op: Op) -> Op:
    return replace(op, delta={key: op.delta[key] for key in op.delta if key != "ql:queues"})


@pytest.mark.parametrize(
    ("index", "change", "what"),
    [
        (0, lambda op: replace(op, reply="j2"), "reply"),
        (0, lambda op: replace(op, messages=[]), "messages"),
        (0, without_a_key, "key ql:queues"),
        (0, lambda op: Op(op.call, error="no"), "reply instead of an error"),
        (1, lambda op: replace(op, error=f"{op.error}!"), "error"),
        (1, lambda op: Op(op.call), "error instead of a reply"),
        (3, lambda op: replace(op, reply="1"), "reply"),
        (3, lambda op: replace(op, delta={"ql:queues": None}), "key ql:queues"),
    ],
)
def test_the_first_difference_is_found(index: int, change: Callable[[Op], Op], what: str) -> None:
    with Target("memory://") as target:
        difference = replay_trace(target, tampered(index, change))
    assert difference is not None
    assert (difference.index, difference.call) == (index, CALLS[index])
    assert difference.findings[0].what == what


def test_the_same_is_the_same_time_and_again() -> None:
    trace = tampered(0, lambda op: op)
    with Target("memory://") as target:
        assert replay_trace(target, trace) is None
        assert replay_trace(target, trace) is None


def test_the_report_says_what_was_expected_and_what_came(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_text(tampered(0, lambda op: op).to_line())
    bad.write_text(tampered(3, lambda op: replace(op, reply=2)).to_line())
    lines: list[str] = []
    assert replay([good, bad], "memory://", report=lines.append) == 1
    assert lines == [
        f"{bad}, trace 7, call 3: 'length' '103' 'q'\n  reply\n    expected 2\n    got      1",
        "8 calls in 2 traces, 1 of them different",
    ]


def test_no_difference_is_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "good.jsonl"
    path.write_text(tampered(0, lambda op: op).to_line())
    assert replay([path], "memory://") == 0
    assert capsys.readouterr().out == "4 calls in 1 trace, none of them different\n"
