# SPDX-License-Identifier: MIT
"""What is told of several jobs at once, or of one that failed."""

from __future__ import annotations

from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

__all__ = ["Failure", "HistoryEntry", "JobPage", "JobState", "TrackedJobs"]

J = TypeVar("J")

#: what a job can be
JobState: TypeAlias = Literal[
    "waiting", "running", "stalled", "scheduled", "depends", "failed", "complete"
]


class HistoryEntry(dict[str, Any]):
    """
    Something that has happened to a job: a dict, as it stands in its history.

    What is usual in one has a name and a type, too; what ``Job.log`` and other clients add stands beside it.
    """

    __slots__ = ()

    @property
    def when(self) -> float:
        """Unix time, seconds; 0 where somebody has written none."""
        when = self.get("when")
        return when if isinstance(when, int | float) else 0.0

    @property
    def what(self) -> str:
        """What has happened: ``put``, ``popped``, ``done``, ``failed``, ..., or what was logged."""
        return str(self.get("what", ""))

    @property
    def queue_name(self) -> str | None:
        """The queue that it was put into; None where that is not what has happened."""
        return self.get("q")

    @property
    def worker_name(self) -> str | None:
        """The worker that was given it, or had it; None where none is named."""
        return self.get("worker")

    @property
    def group(self) -> str | None:
        """The kind of failure; None where it is none."""
        return self.get("group")


class Failure(NamedTuple):
    """How a job failed last."""

    #: the kind of failure, under which failed jobs are found
    group: str
    message: str
    #: Unix time, seconds
    when: float
    #: the worker that had the job, or an empty text
    worker: str


class JobPage(NamedTuple, Generic[J]):
    """A page of a longer list of jobs."""

    #: how many jobs the whole list has
    total: int
    jobs: list[J]


class TrackedJobs(NamedTuple, Generic[J]):
    """All that is tracked."""

    jobs: list[J]
    #: jids whose jobs are there no more
    expired: list[str]
