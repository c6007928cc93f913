# SPDX-License-Identifier: MIT
"""
What a worker has been told to do.

Orders come from signal handlers, other threads and the parent process. So they only set plain attributes,
under no lock: a handler may interrupt its own thread anywhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import IntEnum

__all__ = ["Control", "Phase"]


class Phase(IntEnum):
    """How far a worker is from its end; it never goes back."""

    RUNNING = 0
    #: finish what is in hand, for as long as that takes
    FINISHING = 1
    #: finish what is in hand, within the grace time
    STOPPING = 2
    #: end at once
    ENDING = 3


class Control:
    """
    The orders that a worker has been given.

    Args:
        grace: seconds that jobs are given after ``stop``.
        monotonic: a clock that never goes back, seconds.
    """

    def __init__(
        self, grace: float = 10.0, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self.grace = grace
        self.phase = Phase.RUNNING
        self.is_paused = False
        #: how often the worker was told to drop what it has in hand; and to load code anew
        self.drops = 0
        self.reloads = 0
        #: how often stacks were asked for
        self.dumps = 0
        self._monotonic = monotonic
        self._end: float | None = None

    def stop(self) -> None:
        """Take no more jobs; those in hand are told, and given the grace time. A second time: end at once."""
        if self.phase < Phase.STOPPING:
            self._end = self._monotonic() + self.grace
            self.phase = Phase.STOPPING
        else:
            self.phase = Phase.ENDING

    def finish(self) -> None:
        """Take no more jobs, and finish those in hand."""
        self.phase = max(self.phase, Phase.FINISHING)

    def drop(self) -> None:
        """Drop the jobs in hand, and go on with others."""
        self.drops += 1

    def pause(self) -> None:
        """Take no jobs for now; those in hand go on."""
        self.is_paused = True

    def dump(self) -> None:
        """Take jobs no more for now, and show what everybody is doing."""
        self.dumps += 1
        self.pause()

    def resume(self) -> None:
        """Take jobs again."""
        self.is_paused = False

    def reload(self) -> None:
        """Load the code of jobs anew, once those in hand are done."""
        self.reloads += 1

    @property
    def takes_jobs(self) -> bool:
        """Whether jobs are to be taken."""
        return self.phase is Phase.RUNNING and not self.is_paused

    @property
    def is_running(self) -> bool:
        """Whether the worker is to go on."""
        return self.phase is Phase.RUNNING

    @property
    def is_stopping(self) -> bool:
        """Whether the jobs in hand are to come to an end."""
        return self.phase >= Phase.STOPPING

    @property
    def is_over(self) -> bool:
        """Whether jobs have had their time: the worker ends at once, whatever is in hand."""
        if self._end is not None and self._monotonic() >= self._end:
            self.phase = Phase.ENDING
        return self.phase is Phase.ENDING
