# SPDX-License-Identifier: MIT
"""In which order queues are looked at."""

from __future__ import annotations

from itertools import islice

import pytest

from pyqless.errors import InvalidArgument
from pyqless.worker import Ordered, RoundRobin, ShuffledRoundRobin
from pyqless.worker.reservers import expand

NAMES = ["a", "b", "c"]


def test_ordered_begins_with_the_first_each_time() -> None:
    reserver = Ordered()
    assert [*islice(reserver.order(NAMES), 2)] == ["a", "b"]
    assert [*reserver.order(NAMES)] == NAMES


def test_round_robin_goes_on_after_the_last_queue_that_was_tried() -> None:
    reserver = RoundRobin()
    assert [*islice(reserver.order(NAMES), 2)] == ["a", "b"]
    assert [*reserver.order(NAMES)] == ["c", "a", "b"]
    assert [*reserver.order(NAMES)] == ["c", "a", "b"]
    assert [*reserver.order(["x", "y"])] == ["x", "y"]


def test_shuffled_draws_once_for_the_same_queues() -> None:
    drawn = []

    def reverse(names: list[str]) -> None:
        drawn.append(list(names))
        names.reverse()

    reserver = ShuffledRoundRobin(reverse)
    assert [*islice(reserver.order(NAMES), 1)] == ["c"]
    assert [*reserver.order(NAMES)] == ["b", "a", "c"]
    assert [*reserver.order(["d", "e"])] == ["e", "d"]
    assert len(drawn) == 2


@pytest.mark.parametrize(
    ("names", "queues"),
    [
        (["b", "a", "b"], ["b", "a"]),
        (["*"], ["a1", "a2", "b1"]),
        (["b1", "*"], ["b1", "a1", "a2"]),
        (["a*", "unknown"], ["a1", "a2", "unknown"]),
        (["*", "!a*"], ["b1"]),
        (["*", "!a*", "a2"], ["b1", "a2"]),
        (["!a1", "a1"], ["a1"]),
        (["[ab]*"], []),
        (["a?*"], []),
    ],
)
def test_patterns(names: list[str], queues: list[str]) -> None:
    assert expand(names, ["b1", "a2", "a1"]) == queues


def test_no_name_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="queues must name one at least"):
        expand([], [])
