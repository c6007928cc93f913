# SPDX-License-Identifier: MIT
"""A job that is being run, as its worker sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pyqless.client.progress import Progress
from pyqless.client.views import JobView
from pyqless.worker.stopping import JobStopped, StopReason, TimeLimitExceeded

__all__ = ["Attempt"]


@dataclass(eq=False)
class Attempt:
    """
    One run of a job, from the moment it was popped on.

    Code in the job's thread and the heart that beats for it share one; each attribute is written by one of them.
    """

    jid: str
    klass: str
    queue: str
    #: in whose name the lock is held
    worker: str
    #: Unix time at which the lock expires, seconds
    expires: float
    #: Unix time at which the run began, seconds
    began: float
    #: Unix time at which the job is to be stopped, seconds
    deadline: float | None = None
    #: whether a job that is stopped there is tried again rather than failed
    retries_at_limit: bool = False
    progress: Progress | None = None
    #: whether its end is on the way to the store, so that a lock that is gone says nothing
    settling: bool = False
    #: why it is to end, once it is
    stopped: StopReason | None = field(default=None, init=False)
    #: whether nobody is to tell its end any more: it is left to its lock, since it may still be at work
    left: bool = field(default=False, init=False)
    #: stops it, where that can be done from outside
    on_stop: Callable[[StopReason], None] | None = field(default=None, init=False)
    #: told of a new deadline, of progress, and of the end
    on_change: Callable[[Attempt], None] | None = field(default=None, init=False)

    @classmethod
    def of(cls, job: JobView[Any], now: float) -> Attempt:
        """Begin to run a job that was popped."""
        return cls(
            job.jid, job.klass_name, job.queue_name, job.acting_worker, job.expires_at, began=now
        )

    @property
    def fields(self) -> dict[str, Any]:
        """What log records that are about it carry."""
        return {"jid": self.jid, "klass": self.klass, "queue": self.queue, "worker": self.worker}

    def stop(self, reason: StopReason) -> None:
        """Let the job end; the first reason counts, unless the job is lost after all."""
        is_worse = reason in (StopReason.LOST, StopReason.CANCELED)
        if self.stopped is not None and not (is_worse and self.holds):
            return
        self.stopped = reason
        if self.on_stop is not None:
            self.on_stop(reason)

    @property
    def holds(self) -> bool:
        """Whether the lock is held, as far as is known."""
        return self.stopped not in (StopReason.LOST, StopReason.CANCELED)

    def raise_if_stopped(self) -> None:
        """
        End the job here if it is to end.

        Raises:
            TimeLimitExceeded: it has run for too long.
            JobStopped: any other reason.
        """
        if self.stopped is StopReason.TIME_LIMIT:
            raise TimeLimitExceeded(f"the job ran for longer than {self.limit:g} s")
        if self.stopped is not None:
            raise JobStopped(self.stopped)

    @property
    def limit(self) -> float:
        """For how long it may run, seconds; 0 without a limit."""
        return 0.0 if self.deadline is None else self.deadline - self.began

    def limit_time(self, seconds: float, *, retries: bool = False) -> None:
        """Let it run for so long at most, counted from its beginning; a shorter limit stays."""
        deadline = self.began + seconds
        if self.deadline is None or deadline < self.deadline:
            self.deadline, self.retries_at_limit = deadline, retries
            self._changed()

    def report(self, progress: Progress) -> None:
        """Keep how far it has come."""
        self.progress = progress
        self._changed()

    def settle(self, *, begins: bool = True) -> None:
        """Take note that the job's end goes to the store, or has come to nothing."""
        self.settling = begins
        self._changed()

    def _changed(self) -> None:
        if self.on_change is not None:
            self.on_change(self)
