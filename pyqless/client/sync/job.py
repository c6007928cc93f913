# SPDX-License-Identifier: MIT
"""A job, for the client that blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Unpack

from pyqless.client.checks import Span
from pyqless.client.naming import own_names
from pyqless.client.options import PutOptions
from pyqless.client.references import AnyJob
from pyqless.client.requests import jobs as requests
from pyqless.client.requests import looking
from pyqless.client.requests.walking import Walk
from pyqless.client.sync.listening import until_ended
from pyqless.client.sync.marks import Marks
from pyqless.client.sync.work import Work
from pyqless.core.explaining import Explanation

if TYPE_CHECKING:
    from pyqless.client.sync.client import Client

__all__ = ["Job", "walk"]


def walk(client: Client, steps: Walk) -> Iterator[Job]:
    """Go through jobs, a page at a time."""
    while (request := steps.request()) is not None:
        for seen in steps.take(client.storage.run(request)):
            yield Job(client, seen)


@own_names
class Job(Work, Marks):
    """A job, to work on and to look at."""

    __slots__ = ()

    @classmethod
    def build(
        cls,
        klass: str | type,
        data: Any = None,
        *,
        queue: str = "test",
        worker_name: str = "test",
        **options: Unpack[PutOptions],
    ) -> Job:
        """
        Make a job for a test, in a store in memory of its own, in hand as if just popped.

        Its data goes through JSON, as in production, and its calls work: ``job.client`` has the store.

        Args:
            options: of ``Queue.put``; a job with a delay or dependencies is not in hand.
        """
        from pyqless.client.sync.client import Client  # noqa: PLC0415 - each needs the other

        client = Client("memory://", worker_name=worker_name)
        jid = client.queues[queue].put(klass, data, **options)
        return client.queues[queue].pop() or client.jobs[jid]

    # -- whatever its state -------------------------------------------------------------------

    def timeout(self) -> None:
        """
        Take the job from its worker at once, whoever that is; it is the next to be popped.

        Raises:
            JobNotFound, NotRunning: nobody has it in hand.
        """
        self._noted(self.client.storage.run(requests.timeout(self)))

    def requeue(
        self,
        queue: str | None = None,
        *,
        delay: Span | None = None,
        priority: float | None = None,
        tags: Iterable[str] | None = None,
        retries: int | None = None,
        depends: Iterable[str | AnyJob] | None = None,
    ) -> None:
        """
        Put the job into a queue, whatever its state; a worker that has it in hand loses it.

        Args:
            queue: its own unless given.
            delay: seconds, or a timedelta, to wait before it may run.
            priority: as it is unless given; so with tags, retries and depends.

        Raises:
            JobNotFound: it is there no more.
            InvalidArgument: an argument is no good.
        """
        self._noted(
            self.client.storage.run(
                requests.requeue(
                    self,
                    queue,
                    delay=delay,
                    priority=priority,
                    tags=tags,
                    retries=retries,
                    depends=depends,
                )
            )
        )

    #: what other clients call it
    move = requeue

    def cancel(self) -> None:
        """
        Delete the job, unless it is complete.

        Raises:
            HasDependents: other jobs wait for it; ``Jobs.cancel`` cancels all of them together.
        """
        self.client.storage.run(requests.cancel([self.jid]))

    def depend(self, *jids: str | AnyJob) -> None:
        """
        Let the job, which waits for others, wait for these too.

        Raises:
            NotDepending: it waits for none.
        """
        self.client.storage.run(requests.depend(self, jids))

    def undepend(self, *jids: str | AnyJob, all: bool = False) -> None:  # noqa: A002 - as qless clients name it
        """
        Let the job no longer wait for these jobs, or for any.

        Args:
            all: for any.

        Raises:
            NotDepending: it waits for none.
        """
        self.client.storage.run(requests.undepend(self, jids, everything=all))

    def set_priority(self, priority: float) -> None:
        """
        Change the priority; a waiting job then goes ahead of those of the same priority.

        Raises:
            JobNotFound: it is there no more.
        """
        self._prioritized(self.client.storage.run(requests.set_priority(self, priority)))

    @property
    def priority(self) -> float:
        """The greater goes first; to assign one is to set it in the store."""
        return super().priority

    @priority.setter
    def priority(self, priority: float) -> None:
        self.set_priority(priority)

    # -- a look at it -------------------------------------------------------------------------

    def explain(self) -> Explanation:
        """
        Say why the job is not running: paused, delayed until, waiting for, above a limit, locked by ...

        Raises:
            JobNotFound: it is there no more.
        """
        return self.client.storage.run(looking.explain(self.jid))

    def wait(self, timeout: Span | None = None, *, interval: Span | None = None) -> bool:
        """
        Wait until the job has come to its end: until it is complete or has failed; see ``Jobs.wait``.

        Then the job is seen as it is, as with ``refresh``.

        Args:
            timeout: seconds, or a timedelta, to wait at most; None: for ever.
            interval: seconds, or a timedelta, after which it is looked at again though nothing was heard of it; 5 seconds
                unless given.

        Returns:
            bool: whether it has come to its end in time.

        Raises:
            JobNotFound: it is there no more; it was cancelled, say.
            InvalidArgument: an argument is no good.
        """
        seen = until_ended(self.client.storage, self.jid, timeout, interval)
        if seen is not None:
            self._see(seen)
        return seen is not None

    def refresh(self) -> None:
        """
        Look at the job again; data that was changed here and not sent is lost.

        Raises:
            JobNotFound: it is there no more.
        """
        self._see(self.client.storage.run(looking.find(self.jid)))
