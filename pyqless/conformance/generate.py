# SPDX-License-Identifier: MIT
"""Calls drawn at random: what workers and their tools send, what they should not, and clocks that jump."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Final

from pyqless.conformance.calls import ARGUMENTS, WEIGHTS
from pyqless.conformance.draw import NASTY, Draw
from pyqless.conformance.protocol import Call
from pyqless.conformance.target import Target
from pyqless.core.replies import Reply

__all__ = ["Generator", "generate"]

#: Unix time at the beginning, around which days, whole numbers and fractions turn
STARTS: Final = (1400000000.0, 1400012345.678901, 1400025599.5, 1400260000.0, 1400112000.0)
#: seconds to the next call: mostly short, often past a heartbeat, sometimes days, now and then back
STEPS: Final = (
    *(0.0, 0.0, 0.0, 0.001, 0.25, 0.5, 1.0, 1.1234560, 2.0, 5.0, 7.75, 11.0, 15.0),
    *(0.001, 0.5, 1.0, 5.0, 11.0, 30.0, 61.0, 75.5, 130.0, 601.0),
)
JUMPS: Final = (3600.0, 5400.5, 90000.0, 260000.0, 700000.0, -0.5, -3.0, -20.0)
#: moments that are none, or odd; they do not move the clock
ODD_MOMENTS: Final = ("abc", "", "0", "-5", "0x10", " 1400000000.5 ", "1.4e9", "1e15")


class Generator:
    """
    Draws one call after the other.

    Args:
        seed: calls of one seed are the same, as long as the replies are.
    """

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311 -- it keeps no secret
        self._draw = Draw(self._random)
        self._now = self._random.choice(STARTS)
        self._names = list(WEIGHTS)
        self._weights = list(WEIGHTS.values())

    def next(self) -> Call:
        """Draw the next call."""
        [name] = self._random.choices(self._names, self._weights)
        self._now += self._random.choice(JUMPS if self._draw.chance(8) else STEPS)
        words = [name, self._moment(), *ARGUMENTS[name](self._draw, self._now)]
        return tuple(self._spoilt(words) if self._draw.chance(5) else words)

    def learn(self, call: Call, reply: Reply) -> None:
        """Take note of the jobs that a pop gave out, and of one that its worker has given back."""
        name = call[0] if call else ""
        if name == "pop" and isinstance(reply, str):
            self._draw.locks.update(
                {job["jid"]: (call[3], call[2]) for job in json.loads(reply) or ()}
            )
        elif name in ("complete", "fail", "retry", "timeout"):
            for jid in call[2:3]:
                self._draw.locks.pop(jid, None)

    def _moment(self) -> str:
        written = [repr(self._now), repr(self._now), f"{self._now:.3f}", f"{self._now:.0f}"]
        return self._random.choice(ODD_MOMENTS if self._draw.chance(0.7) else written)

    def _spoilt(self, words: list[str]) -> list[str]:
        """Leave something out, put something in, or put something else."""
        place = self._random.randrange(len(words))
        nasty = self._random.choice(NASTY)
        return self._random.choice(
            (
                words[:place],
                words[: place + 1],
                [*words[:place], nasty, *words[place + 1 :]],
                [*words[:place], nasty, *words[place + 1 :]],
                [*words[: place + 1], nasty, *words[place + 1 :]],
                [*words, *words[-2:]],
            )
        )


def generate(seed: int, length: int) -> Iterator[Call]:
    """
    Draw calls as they fit to the replies of these rules.

    Args:
        seed: names the sequence.
        length: how many.
    """
    generator = Generator(seed)
    with Target("memory://") as target:
        for _ in range(length):
            call = generator.next()
            yield call
            try:
                generator.learn(call, target.call(*call))
            except target.error:
                continue
