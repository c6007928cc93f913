# SPDX-License-Identifier: MIT
"""A clock that tests move."""

from __future__ import annotations

import math

from pyqless.client import checks
from pyqless.client.checks import Span

__all__ = ["Clock"]


class Clock:
    """
    A clock that stands still until it is moved: ``Client("memory://", clock=clock)``.

    Args:
        now: where it stands, Unix time in seconds.
    """

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = checks.number("now", now)

    def __call__(self) -> float:
        """The moment, Unix time in seconds."""
        return self.now

    def __repr__(self) -> str:
        return f"<Clock at {self.now:.3f}>"

    def move(self, seconds: Span) -> None:
        """Move it on: seconds, or a timedelta."""
        self.now += checks.span("seconds", seconds, least=-math.inf)
