# SPDX-License-Identifier: MIT
"""The store's clock in the place of ours, which may be hours wrong, and may jump."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

__all__ = ["StoreClock", "clock_of"]

#: seconds after which the store is asked again
_VALID: Final = 60.0


class StoreClock:
    """
    Tells the store's time between the moments at which the store is asked for it.

    It runs on a clock that never goes back, and is right to half a round trip.

    Args:
        monotonic: that clock, seconds.
        ask: makes the store be asked, for a time that is wanted before the first call; our own clock serves without.
    """

    def __init__(self, monotonic: Callable[[], float], ask: Callable[[], object] | None) -> None:
        self._monotonic = monotonic
        self._ask = ask
        self._offset: float | None = None
        self._learnt_at = 0.0

    def __call__(self) -> float:
        """The moment, Unix time in seconds."""
        if self._offset is None and self._ask is not None:
            self._ask()
        return time.time() if self._offset is None else self._monotonic() + self._offset

    def is_due(self) -> bool:
        """Whether it is time to ask the store."""
        return self._offset is None or self._monotonic() - self._learnt_at > _VALID

    def learn(self, reply: Any, began: float) -> None:
        """
        Take the store's word.

        Args:
            reply: seconds and microseconds.
            began: when the store was asked, on the monotonic clock.
        """
        seconds, microseconds = map(int, reply)
        self._learnt_at = self._monotonic()
        self._offset = seconds + microseconds / 1e6 - (began + self._learnt_at) / 2


def clock_of(
    clock: Any, monotonic: Callable[[], float], ask: Callable[[], object] | None
) -> Callable[[], float]:
    """The clock that is meant: a function, or the store's for ``store``."""
    return StoreClock(monotonic, ask) if clock == "store" else clock
