# SPDX-License-Identifier: MIT
"""
The heads of a queue's sets are read one after the other, and others come in between.

Each case holds a job that is ready all the while, first in one set and then in another: pop must see it, wherever
between two reads it moves, although nothing guards an answer that there is no (further) job.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import pytest

from pyqless.core.effects import Command
from tests.unit.storage.simulated import Bench

#: how many commands may precede the last head's read
POSITIONS: Final = range(12)


class Move(NamedTuple):
    """How a job comes to be ready, how others then move it, and its jid."""

    given: tuple[str, ...]
    move: str
    jid: str


MOVES: Final = {
    "a job whose lock has expired is taken from its worker": Move(
        ("config.set 0 grace-period 0", "put 1 me q J klass {} 0", "pop 2 q B 1"),
        "timeout 80 J",
        "J",
    ),
    "a job whose lock has expired is put anew": Move(
        ("config.set 0 grace-period 0", "put 1 me q J klass {} 0", "pop 2 q B 1"),
        "put 80 me q J klass {} 0",
        "J",
    ),
    "a delayed job is let join the others": Move(
        ("put 1 me q J klass {} 5",),
        "peek 80 q 1",
        "J",
    ),
    "a recurring job makes its run": Move(
        ("recur 1 q R klass {} interval 600 0",),
        "peek 80 q 1",
        "R-1",
    ),
}


class Mover:
    """Moves a job before a command of so many from the beginning."""

    def __init__(self, others: Bench, words: str, position: int) -> None:
        self._others, self._words, self._position = others, words, position
        self.has_moved = False

    def __call__(self, _: Command) -> None:
        self._position -= 1
        if self._position < 0 and not self.has_moved:
            self.has_moved = True
            assert not isinstance(self._others.call(self._words), Exception)


def told(bench: Bench, calls: Iterable[str]) -> None:
    for words in calls:
        assert not isinstance(bench.call(words), Exception), words


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("name", MOVES)
def test_a_job_that_is_ready_all_the_while_is_seen(name: str, position: int, count: int) -> None:
    case, bench = MOVES[name], Bench()
    others = Bench(others=bench)
    told(others, case.given)
    bench.server.before = mover = Mover(others, case.move, position)
    handed = bench.call(f"pop 90 q A {count}")
    assert mover.has_moved
    assert case.jid in handed


@pytest.mark.parametrize("position", POSITIONS)
def test_what_comes_meanwhile_is_there_for_the_next_pop(position: int) -> None:
    bench = Bench()
    bench.server.before = mover = Mover(Bench(others=bench), "put 80 me q J klass {} 0", position)
    first = bench.call("pop 90 q A 1")
    second = bench.call("pop 91 q A 1")
    assert mover.has_moved
    assert sorted([*first, *second]) == ["J"]


def test_to_find_nothing_meets_no_conflict() -> None:
    bench = Bench()
    others = Bench(others=bench)
    told(bench, ["pop 1 q A 1"])

    def put_and_pop(command: Command) -> None:
        if command[0] == "EXEC":
            bench.server.before = lambda _: None
            told(others, ["put 80 me q J klass {} 0", "pop 81 q B 1"])

    bench.server.before = put_and_pop
    told(bench, ["pop 90 q A 5"])
    assert bench.storage.metrics.conflicts == 0
