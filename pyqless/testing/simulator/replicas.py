# SPDX-License-Identifier: MIT
"""Copies of a store, each some way behind it; when it fails, the foremost takes its place."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable

__all__ = ["Replicas"]


class Replicas:
    """
    What copies of a store have of its journal.

    Args:
        number: how many there are.
        time: what time it is, Unix time in seconds.
        delay: draws how long it takes until one has an entry, seconds.
    """

    def __init__(self, number: int, time: Callable[[], float], delay: Callable[[], float]) -> None:
        #: for each copy, when it has each entry; they arrive in order
        self._arrivals: list[list[float]] = [[] for _ in range(number)]
        self._time = time
        self._delay = delay

    def follow(self) -> None:
        """Send them the next entry."""
        for arrivals in self._arrivals:
            arrivals.append(max(*arrivals[-1:], self._time() + self._delay(), 0.0))

    def having(self, length: int, moment: float) -> int:
        """How many have the first entries of the journal by a moment."""
        return sum(bisect_right(arrivals, moment) >= length for arrivals in self._arrivals)

    def wait(self, length: int, wanted: int, timeout: float) -> float:
        """How long it takes until as many as are wanted have the first entries, or it is too long; seconds."""
        arrivals = sorted(each[length - 1] if length else 0.0 for each in self._arrivals)
        if wanted > len(arrivals):
            return timeout
        return min(max(arrivals[wanted - 1] - self._time(), 0.0), timeout)

    def cut(self, length: int) -> None:
        """Forget all but the first entries, as the store has."""
        for arrivals in self._arrivals:
            del arrivals[length:]

    def fail_over(self) -> int:
        """Let the foremost take the store's place, and all others follow it; gives how many entries it has."""
        now = self._time()
        length = max((bisect_right(arrivals, now) for arrivals in self._arrivals), default=0)
        self._arrivals = [[now] * length for _ in self._arrivals]
        return length

    def left_behind(self) -> Replicas:
        """What they look like to a store that they follow no more: they have what they have, and get nothing else."""
        now = self._time()
        others = Replicas(0, self._time, lambda: math.inf)
        others._arrivals = [
            [moment if moment <= now else math.inf for moment in arrivals]
            for arrivals in self._arrivals
        ]
        return others
