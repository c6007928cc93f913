# SPDX-License-Identifier: MIT
"""What a worker does with a job that it has in hand, for the client that blocks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

from pyqless.client.checks import Span
from pyqless.client.references import AnyJob
from pyqless.client.requests import jobs as requests
from pyqless.client.views import JobView

if TYPE_CHECKING:
    from pyqless.client.sync.client import Client

__all__ = ["Work"]


class Work(JobView["Client"]):
    """What a job lets its worker do."""

    __slots__ = ()

    client: Client

    def complete(
        self,
        next_queue: str | None = None,
        *,
        delay: Span = 0,
        depends: Iterable[str | AnyJob] | None = None,
    ) -> str:
        """
        Complete the job, or let it go on in another queue.

        Args:
            next_queue: where it goes on.
            delay: seconds, or a timedelta, to wait before it may run there.
            depends: jobs, or their jids, that must be complete before it may run there.

        Returns:
            str: its state now: ``complete``, or ``waiting``, ``scheduled`` or ``depends``.

        Raises:
            JobNotFound, NotRunning, JobLost: the lock is not, or no longer, held; the work is another's.
            InvalidArgument: an argument, or what the data has become, is no good.
        """
        return self._noted(
            self.client.storage.run(requests.complete(self, next_queue, delay, depends))
        )

    def complete_and_pop(
        self,
        next_queue: str | None = None,
        *,
        delay: Span = 0,
        depends: Iterable[str | AnyJob] | None = None,
        source: str | None = None,
    ) -> Self | None:
        """
        Complete the job and take the next one in hand, in one transaction: the turn of a worker's own loop.

        It is what ``complete`` and then ``Queue.pop`` do; where one of them fails, neither is done. What has become of
        this job is told by ``state``.

        Args:
            next_queue, delay, depends: where the job goes on, see ``complete``.
            source: the queue that the next job is taken from; this job's own unless given.

        Returns:
            Job: the next one, for the same worker, or None where there is nothing to do.

        Raises:
            JobNotFound, NotRunning, JobLost: the lock is not, or no longer, held; the work is another's.
            InvalidArgument: an argument, or what the data has become, is no good.
        """
        request = requests.complete_and_pop(self, next_queue, delay, depends, source)
        jobs = self._noted(self.client.storage.run(request)).jobs
        return next((type(self)(self.client, seen, seen.worker) for seen in jobs), None)

    def fail(self, group: str, message: str) -> None:
        """
        Fail the job: it rests until somebody unfails, requeues or cancels it.

        Args:
            group: the kind of failure.
            message: what went wrong.

        Raises:
            JobNotFound, NotRunning, JobLost: the lock is not, or no longer, held.
        """
        self._noted(self.client.storage.run(requests.fail(self, group, message)))

    def retry(
        self, delay: Span = 0, *, group: str | None = None, message: str | None = None
    ) -> int:
        """
        Give the job back to be tried again; it fails if no retry remains.

        Args:
            delay: seconds, or a timedelta, to wait before it may run again.
            group: with ``message``, what went wrong this time.

        Returns:
            int: how many retries remain; below 0: it has failed.

        Raises:
            JobNotFound, NotRunning, JobLost: the lock is not, or no longer, held.
        """
        return self._noted(self.client.storage.run(requests.retry(self, delay, group, message)))

    def heartbeat(self) -> float:
        """
        Keep the job: renew its lock, and save its data if that has changed.

        Returns:
            float: Unix time at which the lock now expires, seconds.

        Raises:
            JobNotFound, NotRunning, JobLost: the lock is not, or no longer, held: stop the work.
        """
        return self._noted(self.client.storage.run(requests.heartbeat(self)))
