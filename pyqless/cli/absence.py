# SPDX-License-Identifier: MIT
"""Stores that go away while a command follows them, and come back."""

from __future__ import annotations

import time
from collections.abc import Callable

from pyqless.cli.printing import note
from pyqless.errors import StorageError
from pyqless.worker.waiting import Backoff, is_refusal

__all__ = ["Absence"]


class Absence:
    """
    The time that a store is away, told on stderr when it begins and when it is over.

    Args:
        pause: waits so many seconds.
    """

    def __init__(self, pause: Callable[[float], object] = time.sleep) -> None:
        self._backoff = Backoff(cap=5.0)
        self._pause = pause
        self._lasts = False

    def wait(self, error: StorageError) -> None:
        """
        Wait before the store is tried again.

        Raises:
            StorageError: the one that is given, if the store is there and does not let us in.
        """
        if is_refusal(error):
            raise error
        if not self._lasts:
            note(f"the store is away, and is tried again: {error}")
        self._lasts = True
        self._pause(self._backoff.next())

    def end(self) -> None:
        """Go on, since all is well."""
        if self._lasts:
            note("the store is back")
        self._lasts = False
        self._backoff.reset()
