# SPDX-License-Identifier: MIT
"""A clock for tests."""

from __future__ import annotations


class MovedClock:
    """A clock that stands still until it is moved; to be called as ``time.time`` is."""

    def __init__(self, now: float = 1_400_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += seconds
