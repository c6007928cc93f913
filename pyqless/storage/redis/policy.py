# SPDX-License-Identifier: MIT
"""How often a transaction is tried, and how long one waits in between."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, islice

from pyqless.errors import InvalidArgument

__all__ = ["Pauses", "Policy"]

#: seconds to wait before each further try; at its end it is time to give up
Pauses = Iterator[float]


@dataclass(frozen=True, slots=True)
class Policy:
    """
    When to give up, and how to keep out of each other's way.

    Raises:
        InvalidArgument: there would not be a single try.
    """

    #: tries at most
    attempts: int = 100
    #: seconds after which no further try begins
    deadline: float = 10.0
    #: the first pause is a random part of this, seconds; each further one of twice as much
    base: float = 0.001
    #: but of no more than this, seconds
    cap: float = 0.05
    #: a clock that never goes back, seconds
    monotonic: Callable[[], float] = time.monotonic
    #: chance, from 0 to 1
    chance: Callable[[], float] = random.random

    def __post_init__(self) -> None:
        if self.attempts < 1:
            text = f"attempts must be 1 at least, not {self.attempts!r}"
            raise InvalidArgument(text, argument="attempts", value=self.attempts)

    def pauses(self, began: float) -> Pauses:
        """
        The pauses before further tries, with full jitter.

        Args:
            began: when the first try did, on the monotonic clock.
        """
        return islice(self.patience(began), self.attempts - 1)

    def patience(self, began: float) -> Pauses:
        """As ``pauses``, however many tries it takes: for what had better be found out."""
        for attempt in count():
            if self.monotonic() >= began + self.deadline:
                return
            yield self.chance() * min(self.cap, self.base * 2 ** min(attempt, 30))
