# SPDX-License-Identifier: MIT
"""A sequence of calls is made as small as it can be, and no smaller."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pyqless.conformance.protocol import Call
from pyqless.conformance.shrink import shrink

NOISE: list[Call] = [("peek", str(moment), "gamma", "10") for moment in range(40)]
PUT: Call = ("put", "1400000123.25", "w2", "beta", "j7", "my.mod.Klass", '{"n":1}', "60", "x", "y")
POP: Call = ("pop", "1400009999.5", "beta", "w3", "10")

Shows = Callable[[list[Call]], bool]


def has(*names: str) -> Shows:
    """Ask for calls of these names, in this order."""

    def shows(calls: list[Call]) -> bool:
        found = iter(call[0] for call in calls if call)
        return all(name in found for name in names)

    return shows


@pytest.mark.parametrize(
    "calls",
    [
        [*NOISE, PUT, *NOISE, POP, *NOISE],
        [PUT, POP],
        [PUT, *NOISE, PUT, POP, PUT, POP],
        [POP, *NOISE, PUT, POP],
    ],
)
def test_only_what_is_needed_stays(calls: list[Call]) -> None:
    assert shrink(calls, has("put", "pop")) == [("put",), ("pop",)]


def test_options_go_in_pairs() -> None:
    def shows(calls: list[Call]) -> bool:
        return any(len(call) % 2 == 0 and call[-1] == "z" for call in calls)

    assert shrink([("put", "a", "b", "c", "d", "z")], shows) == [("put", "z")]


def test_words_become_plainer() -> None:
    def shows(calls: list[Call]) -> bool:
        return [len(call) for call in calls] == [len(PUT), len(POP)] and calls[0][4] == "j7"

    [put, pop] = shrink([PUT, POP], shows)
    assert put == ("put", "0", "0", "0", "j7", "0", "0", "0", "0", "0")
    assert pop == ("pop", "0", "0", "0", "0")


def test_what_cannot_be_smaller_stays_as_it_is() -> None:
    calls = [PUT, POP]
    assert shrink(calls, lambda fewer: fewer == calls) == calls


def test_each_trial_shows_less_than_the_one_that_it_came_from() -> None:
    trials: list[list[Call]] = []

    def shows(calls: list[Call]) -> bool:
        trials.append(calls)
        return has("put")(calls)

    shrink([PUT, POP], shows)
    sizes = [sum(len(word) + 1 for call in calls for word in call) for calls in trials]
    assert max(sizes) < sum(len(word) + 1 for call in (PUT, POP) for word in call)
