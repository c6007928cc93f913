# SPDX-License-Identifier: MIT
"""Queues, for the client that blocks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING, overload

from pyqless.client import checks
from pyqless.client.checks import Span
from pyqless.client.naming import own_names
from pyqless.client.requests import queues as requests
from pyqless.client.sync.batches import PutBatches
from pyqless.client.sync.consuming import Consumer
from pyqless.client.sync.job import Job
from pyqless.client.sync.putting import Puts
from pyqless.client.sync.queue_settings import QueueSettings
from pyqless.client.sync.sweeps import Sweeps
from pyqless.client.views.part import Part
from pyqless.core.queues import QueueCounts
from pyqless.core.statistics import Statistics

if TYPE_CHECKING:
    from pyqless.client.sync.client import Client

__all__ = ["Queue", "Queues"]


class Queues(Part):
    """
    The queues.

    ``queues[name]`` is one of them, there from its first job on; iteration gives the counts of each.
    """

    client: Client

    def __getitem__(self, name: str) -> Queue:
        return Queue(self.client, checks.name("name", name))

    def __iter__(self) -> Iterator[QueueCounts]:
        return iter(self.counts())

    def counts(self) -> list[QueueCounts]:
        """Count the jobs of each queue by state; the queues come in the order of their first job."""
        return self.client.storage.run(requests.all_counts())


@own_names
class Queue(QueueSettings, Puts, PutBatches, Sweeps):
    """
    A queue: jobs come out by priority, and among equals in the order in which they came in.

    Attributes:
        name: of the queue.
    """

    __slots__ = ()

    # -- jobs in and out ----------------------------------------------------------------------

    @overload
    def pop(self, count: None = None, *, timeout: Span | None = None) -> Job | None: ...

    @overload
    def pop(self, count: int, *, timeout: Span | None = None) -> list[Job]: ...

    @overload
    def pop(self, count: int | None, *, timeout: Span | None = None) -> Job | list[Job] | None: ...

    def pop(
        self, count: int | None = None, *, timeout: Span | None = None
    ) -> Job | list[Job] | None:
        """
        Take jobs in hand: each is locked for this client's worker name until it expires.

        Args:
            count: how many at most, 1 or more.
            timeout: seconds, or a timedelta, to wait for a job at most; None: not at all; ``math.inf``: for ever. Who waits
                time and again, or for several queues, does so with ``Client.consumer``.

        Returns:
            Job: or None where there is nothing to do; with ``count`` a list, maybe empty.
        """
        with Consumer(self.client, [self.name], None) as consumer:
            jobs = consumer.pop(1 if count is None else count, timeout=timeout)
        return jobs if count is not None else next(iter(jobs), None)

    @overload
    def peek(self, count: None = None) -> Job | None: ...

    @overload
    def peek(self, count: int) -> list[Job]: ...

    @overload
    def peek(self, count: int | None) -> Job | list[Job] | None: ...

    def peek(self, count: int | None = None) -> Job | list[Job] | None:
        """
        Show what ``pop`` would give, without taking it in hand.

        Args:
            count: how many at most, 1 or more.

        Returns:
            Job: or None where there is nothing to do; with ``count`` a list, maybe empty.
        """
        seen = self.client.storage.run(requests.peek(self, count))
        jobs = [Job(self.client, job) for job in seen]
        return jobs if count is not None else next(iter(jobs), None)

    def unfail(self, group: str, count: int = 25) -> int:
        """
        Let the oldest failed jobs of a group wait here, with all their retries.

        Args:
            group: whichever queue they failed in.
            count: how many at most.

        Returns:
            int: how many there were.
        """
        return self.client.storage.run(requests.unfail(self, group, count))

    # -- a look at it -------------------------------------------------------------------------

    def counts(self) -> QueueCounts:
        """Count the jobs by state, and tell whether the queue is paused."""
        return self.client.storage.run(requests.counts(self))

    def stats(self, day: float | date | None = None) -> Statistics:
        """
        Tell how long jobs waited and ran on a day (UTC), and how many failed.

        Args:
            day: any moment of it (Unix time in seconds, or a datetime with a time zone) or its date;
                today unless given.
        """
        return self.client.storage.run(requests.stats(self, day))

    def length(self) -> int:
        """Count the jobs that wait, run or are delayed, as ``len`` does."""
        return self.client.storage.run(requests.length(self))

    def __len__(self) -> int:
        return self.length()

    def __bool__(self) -> bool:
        # else every ``if queue`` would ask the store
        return True

    def waiting(self, offset: int = 0, count: int = 25) -> list[str]:
        """List the jids that wait for a worker, the one that goes first at the head."""
        return self.client.storage.run(requests.jids(self, "waiting", offset, count))

    def running(self, offset: int = 0, count: int = 25) -> list[str]:
        """List the jids that are in hand, the lock that expires first at the head."""
        return self.client.storage.run(requests.jids(self, "running", offset, count))

    def stalled(self, offset: int = 0, count: int = 25) -> list[str]:
        """List the jids whose lock has expired, the longest expired at the head."""
        return self.client.storage.run(requests.jids(self, "stalled", offset, count))

    def scheduled(self, offset: int = 0, count: int = 25) -> list[str]:
        """List the jids that are delayed, the one due first at the head."""
        return self.client.storage.run(requests.jids(self, "scheduled", offset, count))

    def depends(self, offset: int = 0, count: int = 25) -> list[str]:
        """List the jids that wait for other jobs, the longest waiting at the head."""
        return self.client.storage.run(requests.jids(self, "depends", offset, count))

    def recurring(self, offset: int = 0, count: int = 25) -> list[str]:
        """List the jids of the recurring jobs, the one due first at the head."""
        return self.client.storage.run(requests.jids(self, "recurring", offset, count))

    # -- stopping and forgetting it -----------------------------------------------------------

    def pause(self) -> None:
        """Hand out nothing until ``unpause``; what is in hand goes on."""
        self.client.storage.run(requests.pause(self))

    def unpause(self) -> None:
        """Hand out jobs again."""
        self.client.storage.run(requests.unpause(self))

    def forget(self) -> None:
        """
        Strike the queue from the list of queues, until its next job.

        Raises:
            QueueNotEmpty: there are jobs in it.
        """
        self.client.storage.run(requests.forget(self))

    @property
    def paused(self) -> bool:
        """Whether it hands out nothing."""
        return self.counts().paused
