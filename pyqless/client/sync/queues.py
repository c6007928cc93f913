# SPDX-License-Identifier: MIT
"""Queues, for the client that blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from typing import TYPE_CHECKING, Any, overload

from pyqless.client import checks
from pyqless.client.requests import queues as requests
from pyqless.client.requests import settings
from pyqless.client.sync.jobs import Job
from pyqless.client.views import QueueView
from pyqless.core.queues import QueueCounts
from pyqless.core.statistics import Statistics

if TYPE_CHECKING:
    from pyqless.client.sync.client import Client

__all__ = ["Queue", "Queues"]


class Queues:
    """
    The queues.

    ``queues[name]`` is one of them, there from its first job on; iteration gives the counts of each.
    """

    def __init__(self, client: Client) -> None:
        self.client = client

    def __getitem__(self, name: str) -> Queue:
        return Queue(self.client, checks.name("name", name))

    def __iter__(self) -> Iterator[QueueCounts]:
        return iter(self.counts())

    def counts(self) -> list[QueueCounts]:
        """Count the jobs of each queue by state; the queues come in the order of their first job."""
        return self.client.storage.run(requests.all_counts())


class Queue(QueueView["Client"]):
    """
    A queue: jobs come out by priority, and among equals in the order in which they came in.

    Attributes:
        name: of the queue.
    """

    # -- jobs in and out ----------------------------------------------------------------------

    def put(
        self,
        klass: str | type,
        data: Any = None,
        *,
        jid: str | None = None,
        priority: float | None = None,
        tags: Iterable[str] | None = None,
        delay: float = 0,
        retries: int | None = None,
        depends: Iterable[str] | None = None,
    ) -> str:
        """
        Put a job into the queue; one that has the jid already is moved here and made anew.

        Where such a job is replaced, it keeps its priority, tags and retries unless they are given.

        Args:
            klass: what is to run: a class, or its name as the workers know it.
            data: what JSON can say.
            jid: a jid of your own, which makes the job unique; a random one unless given.
            priority: the greater goes first; 0 unless given.
            tags: by which the job is found.
            delay: seconds to wait before it may run.
            retries: how often it may be tried again after its lock expires or it is given back; 5
                unless given.
            depends: jids of jobs that must be complete first; those that are, or are not there, do
                not count.

        Returns:
            str: the jid.

        Raises:
            InvalidArgument: an argument is no good.
            DataTooLarge: the data is longer than the client allows.
        """
        return self.client.storage.run(
            requests.put(
                self,
                klass,
                data,
                jid=jid,
                priority=priority,
                tags=tags,
                delay=delay,
                retries=retries,
                depends=depends,
            )
        )

    def recur(
        self,
        klass: str | type,
        data: Any,
        interval: float,
        *,
        offset: float = 0,
        jid: str | None = None,
        priority: float = 0,
        tags: Iterable[str] = (),
        retries: int = 5,
        backlog: int = 0,
    ) -> str:
        """
        Make a job every so often, whenever somebody pops; a recurring job of the same jid is replaced.

        Args:
            klass: what is to run: a class, or its name as the workers know it.
            data: what JSON can say.
            interval: seconds from one run to the next, above 0.
            offset: seconds until the first run.
            jid: a jid of your own; a random one unless given. The jobs are called ``JID-1``, ``JID-2``, ...
            priority: of each job.
            tags: of each job.
            retries: of each job.
            backlog: how many overdue runs are caught up; 0: all.

        Returns:
            str: the jid of the recurring job.

        Raises:
            InvalidArgument: an argument is no good.
            DataTooLarge: the data is longer than the client allows.
        """
        return self.client.storage.run(
            requests.recur(
                self,
                klass,
                data,
                interval,
                offset=offset,
                jid=jid,
                priority=priority,
                tags=tags,
                retries=retries,
                backlog=backlog,
            )
        )

    @overload
    def pop(self) -> Job | None: ...

    @overload
    def pop(self, count: int) -> list[Job]: ...

    def pop(self, count: int | None = None) -> Job | list[Job] | None:
        """
        Take jobs in hand: each is locked for this client's worker name until it expires.

        Args:
            count: how many at most, 1 or more.

        Returns:
            Job: or None where there is nothing to do; with ``count`` a list, maybe empty.
        """
        seen = self.client.storage.run(requests.pop(self, count))
        jobs = [Job(self.client, job, job.worker) for job in seen]
        return jobs if count is not None else next(iter(jobs), None)

    @overload
    def peek(self) -> Job | None: ...

    @overload
    def peek(self, count: int) -> list[Job]: ...

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

    # -- settings -----------------------------------------------------------------------------

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

    @property
    def heartbeat(self) -> float | None:
        """For how many seconds a lock holds here; None where the setting ``heartbeat`` counts."""
        return self.client.storage.run(settings.get_number(self.heartbeat_setting))

    @heartbeat.setter
    def heartbeat(self, seconds: float) -> None:
        self.client.config.set(self.heartbeat_setting, seconds)

    @heartbeat.deleter
    def heartbeat(self) -> None:
        self.client.config.unset(self.heartbeat_setting)

    @property
    def max_concurrency(self) -> int | None:
        """How many jobs may run at once; 0 and None: any number."""
        return self.client.storage.run(settings.get_whole(self.max_concurrency_setting))

    @max_concurrency.setter
    def max_concurrency(self, jobs: int) -> None:
        self.client.config.set(self.max_concurrency_setting, jobs)

    @max_concurrency.deleter
    def max_concurrency(self) -> None:
        self.client.config.unset(self.max_concurrency_setting)
