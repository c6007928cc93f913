# SPDX-License-Identifier: MIT
"""How long one waits for others, and how not to get in their way."""

from __future__ import annotations

import random
import time
from typing import Final

__all__ = ["Patience"]

#: Seconds between two looks whether the lock is free: the longest at first, and at all.
#: A transaction takes a fraction of a millisecond. Who has waited long looks hardly less often than
#: who has just come, unlike with SQLite's own waiting, which lets latecomers pass.
_FIRST: Final = 0.0005
_LONGEST: Final = 0.004


class Patience:
    """
    What is left of the time that a call may wait.

    Args:
        timeout: seconds.
    """

    __slots__ = ("_end", "_span")

    def __init__(self, timeout: float) -> None:
        self._end = time.monotonic() + timeout
        self._span = _FIRST

    def left(self) -> float:
        """Seconds, never below 0."""
        return max(0.0, self._end - time.monotonic())

    def pause(self) -> bool:
        """Wait a random part of a slowly growing span; tell whether there was time for that."""
        if not self.left():
            return False
        time.sleep(random.uniform(self._span / 4, self._span))  # noqa: S311 - nothing secret
        self._span = min(self._span * 1.1, _LONGEST)
        return True
