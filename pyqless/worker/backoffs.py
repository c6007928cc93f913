# SPDX-License-Identifier: MIT
"""How long a job waits before it is tried again."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from pyqless.client import checks
from pyqless.client.checks import Span
from pyqless.worker.entering import called

__all__ = ["Backoff", "checked_backoff", "constant", "exponential", "linear"]


@dataclass(frozen=True, kw_only=True)
class Backoff:
    """
    How long a job waits before it is tried again.

    Args:
        first: before the first time, seconds.
        step: added for each further time, seconds.
        factor: multiplied by for each further time.
        cap: at most, seconds.
        jitter: a random part of this share of the wait is taken off, from 0 to 1.
        chance: from 0 to 1.

    Raises:
        InvalidArgument: one of them is no number from 0 on.
    """

    first: float
    step: float = 0.0
    factor: float = 1.0
    cap: float = 3600.0
    jitter: float = 0.0
    chance: Callable[[], float] = field(default=random.random, repr=False)

    def __post_init__(self) -> None:
        for name in ("first", "step", "factor", "cap", "jitter"):
            checks.number(name, getattr(self, name), least=0)
        checks.function("chance", self.chance)

    def __call__(self, tries: int) -> float:
        """Seconds to wait once a job has been tried again so many times."""
        try:
            grown = self.first * self.factor**tries + self.step * tries
        except OverflowError:
            grown = self.cap
        return min(self.cap, grown) * (1 - min(1.0, self.jitter) * self.chance())


def constant(seconds: Span, *, jitter: float = 0.0) -> Backoff:
    """Wait equally long each time: seconds, or a timedelta."""
    return Backoff(first=checks.span("seconds", seconds), jitter=jitter)


def linear(seconds: Span, *, cap: Span = 3600.0, jitter: float = 0.0) -> Backoff:
    """Wait so much longer each time, up to a cap: seconds, or timedeltas."""
    step = checks.span("seconds", seconds)
    return Backoff(first=step, step=step, cap=checks.span("cap", cap), jitter=jitter)


def exponential(
    first: Span = 1.0, *, factor: float = 2.0, cap: Span = 3600.0, jitter: float = 0.5
) -> Backoff:
    """Wait so many times longer each time, and not all jobs equally long; the spans are seconds, or timedeltas."""
    begin, end = checks.span("first", first), checks.span("cap", cap)
    return Backoff(first=begin, factor=factor, cap=end, jitter=jitter)


#: each makes a backoff, and is none
_MAKERS: Final[tuple[object, ...]] = (constant, linear, exponential)


def checked_backoff(backoff: Callable[[int], Span]) -> Callable[[int], Span]:
    """
    Give back what says how long to wait.

    Raises:
        InvalidArgument: it cannot be called, or only makes what could.
    """
    if backoff in _MAKERS:
        checks.refuse("backoff", backoff, "is to be called first, as in backoff=constant(10)")
    return called("backoff", backoff)
