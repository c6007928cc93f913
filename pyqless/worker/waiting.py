# SPDX-License-Identifier: MIT
"""How a worker waits for a store that is away, and in slices; it never turns in a busy loop."""

from __future__ import annotations

import logging
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Final

from redis import ResponseError

from pyqless.errors import (
    QlessError,
    StoreCorrupted,
    StoreRefused,
    StoreUnavailable,
    StoreUnsupported,
)

__all__ = ["SLICE", "Backoff", "Weather", "is_refusal"]

logger = logging.getLogger("pyqless.worker")

#: seconds after which a wait looks whether an order has come in
SLICE: Final = 0.25


def is_refusal(error: QlessError) -> bool:
    """
    Whether a store that has never served us will not do so, however often it is asked.

    A wrong password, too few rights, no such database, a file of another kind, of another user or without a directory: there
    is an answer, while a store that is away gives none.
    """
    if isinstance(error, StoreCorrupted):
        return error.argument == "path"  # of a file; anything else is damage in one place
    if isinstance(error, StoreUnavailable) and error.argument == "path":
        return not _can_be_used(str(error.value))  # if it can, others keep it locked
    has_answered = isinstance(error.__cause__, ResponseError)
    return has_answered or isinstance(error, StoreRefused | StoreUnsupported)


def _can_be_used(path: str) -> bool:
    return Path(path).is_file() and os.access(path, os.R_OK | os.W_OK)


class Backoff:
    """
    Pauses that grow: each twice the last at most, with jitter, up to a cap.

    Args:
        base: the first one at most, seconds.
        cap: any of them at most, seconds.
        chance: from 0 to 1.
    """

    def __init__(
        self, base: float = 0.1, cap: float = 10.0, chance: Callable[[], float] = random.random
    ) -> None:
        self._base = base
        self._cap = cap
        self._chance = chance
        self._tries = 0

    def next(self) -> float:
        """The next pause, seconds; never less than half of what it may be."""
        most = min(self._cap, self._base * 2.0 ** min(self._tries, 30))
        self._tries += 1
        return most * (0.5 + 0.5 * self._chance())

    def reset(self) -> None:
        """Begin anew, since all is well."""
        self._tries = 0

    @property
    def is_fresh(self) -> bool:
        """Whether nothing has gone wrong yet."""
        return self._tries == 0


class Weather:
    """Whether the store is there, as the last calls have shown."""

    def __init__(self) -> None:
        self._backoff = Backoff()
        self._has_served = False

    @property
    def is_unknown(self) -> bool:
        """Whether no call has come through yet."""
        return not self._has_served

    @property
    def is_fair(self) -> bool:
        """Whether the last call came through."""
        return self._backoff.is_fresh

    def clouds(self, error: QlessError) -> float:
        """
        A call did not come through: log that, the first time loudly, and give the seconds to wait.

        Raises:
            QlessError: the store refuses us, and has never done otherwise.
        """
        if not self._has_served and is_refusal(error):
            raise error
        log = logger.warning if self.is_fair else logger.debug
        log("no jobs for now, trying again: %s", error)
        return self._backoff.next()

    def clears(self) -> None:
        """A call came through."""
        self._has_served = True
        if not self.is_fair:
            logger.warning("the store is back")
            self._backoff.reset()
