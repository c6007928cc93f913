# SPDX-License-Identifier: MIT
"""Many calls at once, for the client that blocks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pyqless.client.checks import Span
from pyqless.client.new_jobs import NewJob
from pyqless.client.references import AnyJob
from pyqless.client.requests import batches as requests
from pyqless.client.sync.job import Job
from pyqless.errors import QlessError

if TYPE_CHECKING:
    from pyqless.client.sync.client import Client

__all__ = ["JobBatches", "PutBatches"]


class PutBatches:
    """What puts many jobs into a queue."""

    __slots__ = ()

    client: Client
    name: str

    def put_many(
        self,
        items: Iterable[NewJob | tuple[str | type, Any]],
        *,
        all_or_nothing: bool = False,
    ) -> list[str | QlessError]:
        """
        Put many jobs at one moment, as ``put`` does one after another; 100 go into a transaction.

        Args:
            items: the jobs, each a ``NewJob``, or just klass and data.
            all_or_nothing: put none if one cannot be put; then there must not be more than 100.

        Returns:
            list: in the order given the jid of each, or why it was not put.

        Raises:
            InvalidArgument: an item is no good, such as ``items[3].priority``; nothing was put.
            QlessError: with ``all_or_nothing``, why the first one was not put.
        """
        return self.client.storage.run(requests.put(self, items, all_or_nothing=all_or_nothing))


class JobBatches:
    """What does the same to many jobs."""

    client: Client

    def complete_many(
        self,
        jobs: Iterable[Job],
        next_queue: str | None = None,
        *,
        delay: Span = 0,
        depends: Iterable[str | AnyJob] | None = None,
        all_or_nothing: bool = False,
    ) -> list[str | QlessError]:
        """
        Complete many jobs at one moment, as ``Job.complete`` does one after another; 100 go into a transaction.

        Args:
            jobs: those in hand, of any queues.
            next_queue, delay, depends: where all of them go on, see ``Job.complete``.
            all_or_nothing: complete none if one cannot be completed; then there must not be more than 100.

        Returns:
            list: in the order given the state of each, or why it was not completed.

        Raises:
            InvalidArgument: an argument, or what a job's data has become, is no good; none was completed.
            QlessError: with ``all_or_nothing``, why the first one was not completed.
        """
        batch = requests.complete(jobs, next_queue, delay, depends, all_or_nothing=all_or_nothing)
        return requests.noted(batch, self.client.storage.run(batch.transition))

    def fail_many(
        self, jobs: Iterable[Job], group: str, message: str, *, all_or_nothing: bool = False
    ) -> list[str | QlessError]:
        """
        Fail many jobs at one moment, as ``Job.fail`` does one after another; 100 go into a transaction.

        Args:
            jobs: those in hand, of any queues.
            group, message: of all of them.
            all_or_nothing: fail none if one cannot be failed; then there must not be more than 100.

        Returns:
            list: in the order given the jid of each, or why it has not failed.

        Raises:
            InvalidArgument: an argument, or what a job's data has become, is no good; none has failed.
            QlessError: with ``all_or_nothing``, why the first one has not failed.
        """
        batch = requests.fail(jobs, group, message, all_or_nothing=all_or_nothing)
        return requests.noted(batch, self.client.storage.run(batch.transition))

    def heartbeat_many(
        self, jobs: Iterable[Job], *, all_or_nothing: bool = False
    ) -> list[float | QlessError]:
        """
        Keep many jobs at one moment, as ``Job.heartbeat`` does one after another; 100 go into a transaction.

        Args:
            jobs: those in hand, of any queues.
            all_or_nothing: keep none if one is lost; then there must not be more than 100.

        Returns:
            list: in the order given the Unix time at which the lock of each expires, or why it was not renewed.

        Raises:
            InvalidArgument: an argument, or what a job's data has become, is no good; no lock was renewed.
            QlessError: with ``all_or_nothing``, why the first lock was not renewed.
        """
        batch = requests.heartbeat(jobs, all_or_nothing=all_or_nothing)
        return requests.noted(batch, self.client.storage.run(batch.transition))

    def cancel_many(
        self, jobs: Iterable[str | AnyJob], *, all_or_nothing: bool = False
    ) -> list[str | QlessError]:
        """
        Cancel many jobs at one moment, one after another; 100 go into a transaction.

        A job that others wait for is cancelled only behind these; ``cancel`` takes them in any order.

        Args:
            jobs: jobs or jids; it is no error if one is not there.
            all_or_nothing: cancel none if one cannot be cancelled; then there must not be more than 100.

        Returns:
            list: in the order given the jid of each, or why it was not cancelled.

        Raises:
            InvalidArgument: an argument is no good; none was cancelled.
            QlessError: with ``all_or_nothing``, why the first one was not cancelled.
        """
        request = requests.cancel(jobs, all_or_nothing=all_or_nothing)
        return self.client.storage.run(request)
