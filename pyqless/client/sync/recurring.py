# SPDX-License-Identifier: MIT
"""Recurring jobs, for the client that blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyqless.client import checks
from pyqless.client.checks import Span
from pyqless.client.requests import recurring as requests
from pyqless.client.requests.recurring import UNCHANGED
from pyqless.client.views import RecurringJobView
from pyqless.client.views.part import Part

if TYPE_CHECKING:
    from pyqless.client.sync.client import Client

__all__ = ["RecurringJob", "RecurringJobs"]


class RecurringJobs(Part):
    """
    The recurring jobs; ``recurring[jid]`` is one of them, or raises ``RecurringJobNotFound``.

    ``jid in recurring`` tells whether it is there.
    """

    client: Client

    def __getitem__(self, jid: str) -> RecurringJob:
        return RecurringJob(self.client, self.client.storage.run(requests.find(jid)))

    def __contains__(self, jid: str) -> bool:
        return self.get(jid) is not None

    def get(self, jid: str) -> RecurringJob | None:
        """Look a recurring job up; None where there is none."""
        seen = self.client.storage.run(requests.get(jid))
        return None if seen is None else RecurringJob(self.client, seen)


class RecurringJob(RecurringJobView["Client"]):
    """
    A recurring job: what a queue makes jobs after.

    Its settings can be assigned: ``job.interval = 60`` is ``job.update(interval=60)``.
    """

    __slots__ = ()

    def update(
        self,
        *,
        klass: str | type | None = None,
        data: Any = UNCHANGED,
        queue: str | None = None,
        interval: Span | None = None,
        priority: float | None = None,
        retries: int | None = None,
        backlog: int | None = None,
    ) -> None:
        """
        Change settings, all that are given at once, for the jobs that will be made.

        Args:
            queue: where the jobs are made from now on.
            interval: seconds, or a timedelta; the next run moves by the difference.

        Raises:
            RecurringJobNotFound: it is there no more.
            InvalidArgument: a setting is no good; then none is changed.
        """
        self._noted(
            self.client.storage.run(
                requests.update(
                    self,
                    klass=klass,
                    data=data,
                    queue=queue,
                    interval=interval,
                    priority=priority,
                    retries=retries,
                    backlog=backlog,
                )
            )
        )

    def tag(self, *tags: str) -> list[str]:
        """
        Add tags, for the jobs that will be made.

        Returns:
            list: all its tags.

        Raises:
            RecurringJobNotFound: it is there no more.
        """
        return self._tagged(self.client.storage.run(requests.tag(self, tags)))

    def untag(self, *tags: str) -> list[str]:
        """
        Take tags away.

        Returns:
            list: the tags it keeps.

        Raises:
            RecurringJobNotFound: it is there no more.
        """
        return self._tagged(self.client.storage.run(requests.untag(self, tags)))

    def next_run(self) -> float | None:
        """Tell when the next job is made, Unix time in seconds; None if it is there no more."""
        return self.client.storage.run(requests.next_run(self))

    def cancel(self) -> None:
        """Make no more jobs; those that are made stay."""
        self.client.storage.run(requests.cancel(self))

    def refresh(self) -> None:
        """
        Look at it again.

        Raises:
            RecurringJobNotFound: it is there no more.
        """
        self._show(self.client.storage.run(requests.find(self.jid)))

    # -- settings, to be assigned -------------------------------------------------------------

    def _assign(self, **setting: Any) -> None:
        ((name, value),) = setting.items()
        if value is None:  # which update takes for no change
            checks.refuse(name, value, "must not be None")
        self.update(**setting)

    @property
    def klass_name(self) -> str:
        """The name of the code that runs its jobs."""
        return super().klass_name

    @klass_name.setter
    def klass_name(self, klass: str | type) -> None:
        self._assign(klass=klass)

    @property
    def data(self) -> Any:
        """The data of its jobs; what is changed in it counts once it is assigned."""
        return super().data

    @data.setter
    def data(self, data: Any) -> None:
        self.update(data=data)

    @property
    def queue_name(self) -> str:
        """Where its jobs are made."""
        return super().queue_name

    @queue_name.setter
    def queue_name(self, queue: str) -> None:
        self._assign(queue=queue)

    @property
    def interval(self) -> float:
        """Seconds from one run to the next; a timedelta may be assigned."""
        return super().interval

    @interval.setter
    def interval(self, interval: Span) -> None:
        self._assign(interval=interval)

    @property
    def priority(self) -> float:
        """The priority of its jobs."""
        return super().priority

    @priority.setter
    def priority(self, priority: float) -> None:
        self._assign(priority=priority)

    @property
    def retries(self) -> int:
        """The retries of its jobs."""
        return super().retries

    @retries.setter
    def retries(self, retries: int) -> None:
        self._assign(retries=retries)

    @property
    def backlog(self) -> int:
        """How many overdue runs are caught up at most, the last ones; 0: all."""
        return super().backlog

    @backlog.setter
    def backlog(self, backlog: int) -> None:
        self._assign(backlog=backlog)
