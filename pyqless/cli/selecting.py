# SPDX-License-Identifier: MIT
"""Which jobs are meant: filters by queue, state, group, class, tag and age."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from itertools import count
from typing import Annotated, Final, NamedTuple, TypeAlias

import typer

from pyqless.cli.job_texts import changed_at
from pyqless.cli.known import require_group, require_queue
from pyqless.cli.options import either
from pyqless.cli.parsing import span_option
from pyqless.client import Client, Job
from pyqless.errors import CorruptedJob

__all__ = ["Age", "Group", "InQueue", "InState", "Klass", "Selection", "State", "Tag"]

#: how many jobs of a list are read at once
_PAGE: Final = 100


class State(StrEnum):
    """The states of jobs."""

    WAITING = "waiting"
    RUNNING = "running"
    STALLED = "stalled"
    SCHEDULED = "scheduled"
    DEPENDS = "depends"
    FAILED = "failed"
    COMPLETE = "complete"


InQueue: TypeAlias = Annotated[
    str | None, typer.Option("--queue", "-q", metavar="QUEUE", help="Only jobs of this queue.")
]
InState: TypeAlias = Annotated[
    State | None,
    typer.Option(
        "--state", "-s", metavar="STATE", help=f"Only jobs in this state: {either(State)}."
    ),
]
Group: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--group", "-g", metavar="GROUP", help="Only jobs that have failed with this group."
    ),
]
Klass: TypeAlias = Annotated[
    str | None, typer.Option("--class", "-k", metavar="CLASS", help="Only jobs of this class.")
]
Tag: TypeAlias = Annotated[
    str | None, typer.Option("--tag", "-t", metavar="TAG", help="Only jobs that bear this tag.")
]
Age: TypeAlias = Annotated[
    float | None,
    span_option("--older-than", about="Only jobs to which nothing has happened for so long"),
]


class Selection(NamedTuple):
    """The jobs that are meant: those that fit everything that is given."""

    queue: str | None = None
    state: State | None = None
    group: str | None = None
    klass: str | None = None
    tag: str | None = None
    older_than: float | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no filter is given."""
        return self == Selection()

    def jobs(self, client: Client) -> Iterator[Job]:
        """Go through them, by the shortest list that has them all."""
        clock = client.storage.clock
        return (job for job in self._candidates(client) if self.fits(job, clock()))

    def require_names(self, client: Client) -> None:
        """
        Go on if the store knows the queue and the group, where they are given.

        Raises:
            RequestError: it does not.
        """
        if self.queue is not None:
            require_queue(client, self.queue)
        if self.group is not None:
            require_group(client, self.group)

    def fits(self, job: Job, now: float) -> bool:
        """Whether a job is among them."""
        least = self.older_than
        try:
            return (
                self.queue in (None, job.queue_name)
                and self.state in (None, _state(job))
                and self.group in (None, job.failure and job.failure.group)
                and self.klass in (None, job.klass_name)
                and (self.tag is None or self.tag in job.tags)
                and (least is None or now - changed_at(job) >= least)
            )
        except CorruptedJob:
            # of a damaged job nobody can say whether it fits; it is met where all are asked for
            return self.is_empty

    def _candidates(self, client: Client) -> Iterator[Job]:
        jobs = client.jobs
        if self.group is not None:
            return _failed(client, self.group)
        if self.tag is not None:
            tag = self.tag
            return _listed(client, lambda offset: jobs.tagged(tag, offset, _PAGE).jids)
        if self.state is State.FAILED:
            return (job for group in jobs.failed() for job in _failed(client, group))
        if self.state is State.COMPLETE:
            return _listed(client, lambda offset: jobs.complete(offset, _PAGE))
        if self.queue is not None and self.state is not None:
            # a walk finds stalled jobs among the running ones
            state = State.RUNNING if self.state is State.STALLED else self.state
            return client.queues[self.queue].all(state)
        return client.jobs.all()


def _state(job: Job) -> str:
    """The state, where an expired lock counts although nobody has come across it yet."""
    return State.STALLED if job.state == State.RUNNING.value and job.ttl <= 0 else job.state


def _failed(client: Client, group: str) -> Iterator[Job]:
    for offset in count(step=_PAGE):
        page = client.jobs.failed(group, offset, _PAGE)
        yield from page.jobs
        if offset + _PAGE >= page.total:
            return


def _listed(client: Client, page: Callable[[int], list[str]]) -> Iterator[Job]:
    for offset in count(step=_PAGE):
        jids = page(offset)
        if not jids:
            return
        yield from client.jobs.multiget(*jids)
