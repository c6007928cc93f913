# SPDX-License-Identifier: MIT
"""Time that moves from one event to the next, and the one source of chance."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from itertools import count

__all__ = ["Scheduler"]


class Scheduler:
    """
    What is to happen, and when.

    Args:
        seed: of all chance; the same seed gives the same run.
    """

    def __init__(self, seed: int) -> None:
        #: seconds since the run began
        self.now = 0.0
        self.chance = random.Random(seed)  # noqa: S311 - what is drawn must come again
        self._agenda: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()

    def after(self, seconds: float, act: Callable[[], None]) -> None:
        """Let something happen some seconds from now; what is due together, in the order of these calls."""
        heapq.heappush(self._agenda, (self.now + seconds, next(self._numbers), act))

    def run(self) -> None:
        """Let everything happen, until nothing is left to do."""
        while self._agenda:
            self.now, _, act = heapq.heappop(self._agenda)
            act()

    def about(self, seconds: float) -> float:
        """A time that is mostly shorter than some seconds, and now and then much longer."""
        return self.chance.expovariate(1 / seconds)

    def happens(self, probability: float) -> bool:
        """Whether what has a probability from 0 to 1 is the case."""
        return probability > 0 and self.chance.random() < probability
