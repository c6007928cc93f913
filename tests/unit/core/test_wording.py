# SPDX-License-Identifier: MIT
"""Numbers and moments in sentences for people."""

from __future__ import annotations

import math

import pytest

from pyqless.core.wording import counted, day_time, distance, listed


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 jobs go"), (1, "1 job goes"), (1234567, "1,234,567 jobs go")]
)
def test_one_is_one(number: int, text: str) -> None:
    assert counted(number, "job goes", "jobs go") == text


def test_several_have_an_s_unless_it_is_said_otherwise() -> None:
    assert [counted(number, "trace") for number in (0, 1, 2.0)] == [
        "0 traces",
        "1 trace",
        "2 traces",
    ]


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ("", ""),
        ("a", "a"),
        ("abcdefghij", "a, b, c, d, e, f, g, h, i, j"),
        ("abcdefghijk", "a, b, c, d, e, f, g, h, i, j and 1 more"),
        ("abcdefghij" * 200, "a, b, c, d, e, f, g, h, i, j and 1,990 more"),
    ],
    ids=[0, 1, 10, 11, 2000],
)
def test_of_many_names_some_are_told(names: str, text: str) -> None:
    assert listed([*names]) == text


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (0.0, "1970-01-01 00:00:00 UTC"),
        (951782400.9, "2000-02-29 00:00:00 UTC"),
        (1e15, "1e+15"),
        (math.inf, "inf"),
    ],
)
def test_a_moment_is_a_day_and_a_time(moment: float, text: str) -> None:
    assert day_time(moment) == text


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (100.0, "0 s ago"),
        (100.25, "in 0.25 s"),
        (97.5, "2.5 s ago"),
        (219.0, "in 119 s"),
        (-20.0, "2 min ago"),
        (100 + 7199.0, "in 120 min"),
        (100 - 7200.0, "2 h ago"),
        (100 + 2 * 86400.0, "in 2 days"),
        (100 + 36.5 * 86400, "in 36 days"),
    ],
)
def test_a_distance_is_in_a_unit_that_suits_it(moment: float, text: str) -> None:
    assert distance(moment, 100.0) == text
