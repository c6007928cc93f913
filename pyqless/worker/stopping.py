# SPDX-License-Identifier: MIT
"""Why a job is stopped, and what stops it."""

from __future__ import annotations

from enum import StrEnum

from pyqless.client import checks
from pyqless.client.checks import Span

__all__ = ["GIVEN_BACK", "JobStopped", "Retry", "StopReason", "TimeLimitExceeded"]


class StopReason(StrEnum):
    """Why a job is stopped before its end."""

    #: another worker has it, or may have: what it gives is refused
    LOST = "lost"
    #: it is there no more
    CANCELED = "canceled"
    #: it ran for longer than it may
    TIME_LIMIT = "time limit"
    #: the worker was told to drop what it has in hand
    DROPPED = "dropped"
    #: the worker stops
    STOPPING = "stopping"


#: The reasons for which the job itself is not to blame, and goes back unharmed
GIVEN_BACK = frozenset({StopReason.DROPPED, StopReason.STOPPING})


class JobStopped(BaseException):
    """
    The job is to end here; no ``Exception``, so that code which catches those does not swallow it.

    Attributes:
        reason: why.
    """

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


class TimeLimitExceeded(Exception):
    """The job has run for longer than it may."""


class Retry(Exception):
    """
    Raised by a job, or for it by a middleware: give it back, to be tried again.

    Args:
        delay: seconds, or a timedelta, to wait before that.
        group: the kind of failure, if there was one; shown until the job comes through.
        message: what went wrong; the exception that this one was raised from, unless given.
    """

    def __init__(
        self, delay: Span = 0.0, *, group: str | None = None, message: str | None = None
    ) -> None:
        super().__init__(message or "to be tried again")
        # checked once the job is given back: Python makes an exception that was pickled of its message first
        self.delay: float = checks.seconds(delay)
        self.group = group
        self.message = message
