# SPDX-License-Identifier: MIT
"""What is told of several jobs at once, or of one that failed."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

__all__ = ["Failure", "JobPage", "TrackedJobs"]

J = TypeVar("J")


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
