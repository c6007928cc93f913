# SPDX-License-Identifier: MIT
"""Jobs, for the client that blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, overload

from pyqless.client.checks import Span
from pyqless.client.naming import own_names
from pyqless.client.progress import Progress, progress
from pyqless.client.references import AnyJob
from pyqless.client.requests import jobs as requests
from pyqless.client.requests import looking
from pyqless.client.requests.walking import Walk
from pyqless.client.sync.batches import JobBatches
from pyqless.client.sync.job import Job, walk
from pyqless.client.sync.listening import until_ended
from pyqless.client.views import JobPage, TrackedJobs
from pyqless.client.views.part import Part
from pyqless.core.explaining import Explanation
from pyqless.core.sweeping import Swept
from pyqless.core.tags import Tagged

if TYPE_CHECKING:
    from pyqless.client.sync.client import Client

__all__ = ["Jobs"]


@own_names
class Jobs(JobBatches, Part):
    """
    The jobs; ``jobs[jid]`` is one of them, or raises ``JobNotFound``; ``jid in jobs`` tells whether it is there.

    Wherever a job's jid is asked for, here and as what a job depends on, the job itself will do, and its jid counts.
    """

    client: Client

    def __getitem__(self, jid: str | AnyJob) -> Job:
        return Job(self.client, self.client.storage.run(looking.find(jid)))

    def __contains__(self, jid: str | AnyJob) -> bool:
        return self.get(jid) is not None

    def get(self, jid: str | AnyJob) -> Job | None:
        """Look a job up; None where there is none."""
        seen = self.client.storage.run(looking.get(jid))
        return None if seen is None else Job(self.client, seen)

    def multiget(self, *jids: str | AnyJob) -> list[Job]:
        """Look several jobs up at one instant; those that are not there are left out."""
        return [Job(self.client, seen) for seen in self.client.storage.run(looking.multiget(jids))]

    def all(self, *, page: int = 100) -> Iterator[Job]:
        """
        Go through all jobs there are, a page at a time, while others come and go.

        First those of each queue, then those that have failed, then those that are complete.

        Args:
            page: how many are read at once.
        """
        return walk(self.client, Walk(None, (), page))

    def progress(self, jid: str | AnyJob) -> Progress | None:
        """
        How far a job in hand has come, as its code has told by ``job.progress``.

        Returns:
            Progress: a second or two old; None of a job that nobody has in hand, or that has told nothing.
        """
        return self.client.storage.run(progress(jid))

    def wait(
        self, jid: str | AnyJob, timeout: Span | None = None, *, interval: Span | None = None
    ) -> Job | None:
        """
        Wait until a job has come to its end: until it is complete or has failed.

        A job that goes on to another queue, waits to be tried again, or is put again meanwhile has not. Who waits listens
        on a connection of its own, and looks now and then, as some ends are told by nobody.

        Args:
            timeout: seconds, or a timedelta, to wait at most; None: for ever.
            interval: seconds, or a timedelta, after which it is looked at again though nothing was heard of it; 5 seconds
                unless given. Where the store lets nobody listen, it is looked at more often at first.

        Returns:
            Job: as it is at its end, see ``state``, ``result`` and ``failure``; None if that has not come in time.

        Raises:
            JobNotFound: there is no such job, or no more: it was cancelled, or completed jobs are not kept for so long.
            InvalidArgument: an argument is no good.
        """
        seen = until_ended(self.client.storage, jid, timeout, interval)
        return None if seen is None else Job(self.client, seen)

    def explain(self, jid: str | AnyJob) -> Explanation:
        """
        Say why a job is not running: paused, delayed until, waiting for, above a limit, locked by ...

        Raises:
            JobNotFound: there is no such job.
        """
        return self.client.storage.run(looking.explain(jid))

    def purge_failed(
        self, older_than: Span, group: str | None = None, *, dry_run: bool = False
    ) -> Swept:
        """
        Cancel jobs that failed long ago, in transactions of some 50 jobs; one for which others wait is kept.

        Args:
            older_than: seconds, or a timedelta, since they failed, at least.
            group: of which; of all groups unless given.
            dry_run: only tell what would be done.

        Returns:
            Swept: how many were cancelled, and the jids of those kept.
        """
        now = self.client.storage.clock()
        request = looking.purge_failed(older_than, group, now, dry_run=dry_run)
        return self.client.storage.run(request)

    def complete(self, offset: int = 0, count: int = 25) -> list[str]:
        """List the jids of completed jobs, the last one at the head."""
        return self.client.storage.run(looking.completed(offset, count))

    @overload
    def failed(self, group: None = None, offset: int = 0, count: int = 25) -> dict[str, int]: ...

    @overload
    def failed(self, group: str, offset: int = 0, count: int = 25) -> JobPage[Job]: ...

    @overload
    def failed(
        self, group: str | None, offset: int = 0, count: int = 25
    ) -> dict[str, int] | JobPage[Job]: ...

    def failed(
        self, group: str | None = None, offset: int = 0, count: int = 25
    ) -> dict[str, int] | JobPage[Job]:
        """
        Look at failed jobs.

        Args:
            group: of which the jobs are wanted, the last one that failed at the head.

        Returns:
            dict: how many jobs each group has; with ``group`` a page of its jobs.
        """
        if group is None:
            return self.client.storage.run(looking.groups(offset, count))
        page = self.client.storage.run(looking.failed(group, offset, count))
        return JobPage(page.total, [Job(self.client, seen) for seen in page.jobs])

    def tracked(self) -> TrackedJobs[Job]:
        """Give all jobs that are tracked, and the jids of those that are there no more."""
        found = self.client.storage.run(looking.tracked())
        return TrackedJobs([Job(self.client, seen) for seen in found.jobs], found.expired)

    def tagged(self, tag: str, offset: int = 0, count: int = 25) -> Tagged:
        """Tell how many jobs bear a tag, and list a page of their jids, the longest tagged at the head."""
        return self.client.storage.run(looking.tagged(tag, offset, count))

    def cancel(self, *jids: str | AnyJob) -> None:
        """
        Cancel jobs, all of them or none; it is no error if one is not there.

        More than 64 are cancelled in steps: where others interfere in the middle, some may be cancelled already.

        Raises:
            HasDependents: a job that is not named waits for one of them.
        """
        self.client.storage.run(requests.cancel(jids))
