# SPDX-License-Identifier: MIT
"""Two cores side by side: what is found, what is let pass, and where a sequence ends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pyqless.conformance import InternalError, SideBySide, Target
from pyqless.conformance.protocol import Call
from pyqless.core.replies import Reply

PUT: Call = ("put", "100", "w", "q", "j1", "K", "{}", "0")
POP: Call = ("pop", "101", "q", "w", "1")
LENGTH: Call = ("length", "102", "q")


class Reference(Target):
    """These rules, but for what a test changes."""

    #: what Lua says of a call
    breaks: dict[Call, str]
    wrong: str | None

    def __init__(self) -> None:
        super().__init__("memory://")
        self.breaks = {}
        self.wrong = None

    def call(self, *words: str) -> Reply:
        if words in self.breaks:
            raise InternalError(self.breaks[words])
        reply = super().call(*words)
        return "wrong" if words[0] == self.wrong else reply


@pytest.fixture
def reference() -> Iterator[Reference]:
    with Reference() as core:
        yield core


@pytest.fixture
def pair(reference: Reference) -> Iterator[SideBySide]:
    with Target("memory://") as target:
        yield SideBySide(reference, target)


def test_what_is_the_same_has_no_difference(pair: SideBySide) -> None:
    calls, difference = pair.explore(3, 200)
    assert difference is None
    assert len(calls) == 200
    assert pair.difference(calls) is None
    assert pair.calls == 400
    assert pair.breakdowns == 0


def test_a_seed_gives_the_same_calls_every_time(pair: SideBySide) -> None:
    assert pair.explore(3, 100) == pair.explore(3, 100)


def test_a_difference_ends_the_sequence_and_is_made_small(
    pair: SideBySide, reference: Reference
) -> None:
    reference.wrong = "length"
    calls, difference = pair.explore(3, 1000)
    assert difference is not None
    assert calls[-1] == difference.call
    assert difference.call[0] == "length"
    [smallest] = pair.smallest(calls)
    assert smallest == ("length", "0", "0")


def test_where_the_reference_breaks_down_a_refusal_is_right(
    pair: SideBySide, reference: Reference
) -> None:
    bad: Call = ("pop", "101", "q", "w")
    reference.breaks = {bad: "bad argument #1"}
    assert pair.difference([PUT, bad, LENGTH]) is None
    assert (pair.calls, pair.breakdowns) == (3, 1)


def test_where_the_reference_breaks_down_an_answer_is_wrong(
    pair: SideBySide, reference: Reference
) -> None:
    reference.breaks = {POP: "bad argument #1"}
    difference = pair.difference([PUT, POP, LENGTH])
    assert difference is not None
    assert (difference.index, difference.findings[0].what) == (1, "reply instead of an error")


@pytest.mark.parametrize(
    "said",
    [
        "attempt to index local 'dict' (a number value)",
        "attempt to perform arithmetic on local 'failed' (a boolean value)",
    ],
)
def test_where_an_answer_is_known_to_be_ours_the_two_part(
    pair: SideBySide, reference: Reference, said: str
) -> None:
    reference.breaks = {POP: said}
    assert pair.difference([PUT, POP, LENGTH]) is None
    assert pair.calls == 2


def test_where_damage_is_passed_over_and_reported_the_two_part(
    pair: SideBySide, reference: Reference
) -> None:
    # retry puts the job into the queue that it is told, and cancel takes it out of its own
    calls = [PUT, POP, ("retry", "102", "j1", "p", "w", "0"), ("cancel", "103", "j1")]
    gone: Call = ("pop", "104", "p", "w", "1")
    reference.breaks = {gone: "bad argument #1 to 'unpack'"}
    assert pair.difference([*calls, gone, LENGTH]) is None
    assert pair.calls == 5
