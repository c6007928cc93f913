# SPDX-License-Identifier: MIT
"""All that is in a queue, for the client that blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyqless.client.requests import queues as requests
from pyqless.client.requests.walking import Walk
from pyqless.client.sync.job import Job, walk
from pyqless.core.sweeping import Swept

if TYPE_CHECKING:
    from pyqless.client.sync.client import Client

__all__ = ["Sweeps"]


class Sweeps:
    """
    What deals with all jobs of a queue.

    It does so in transactions of some 50 jobs, each right by itself; what comes in meanwhile may be met or not.
    """

    __slots__ = ()

    client: Client
    name: str

    def all(self, *states: str, page: int = 100) -> Iterator[Job]:
        """
        Go through the jobs, a page at a time, while others come and go; a job that stays is met once.

        Args:
            states: ``running`` (also those whose lock has expired), ``waiting``, ``scheduled``, ``depends``;
                all of them unless any is named.
            page: how many are read at once.
        """
        return walk(self.client, Walk(self, states, page))

    def purge(self, *states: str, dry_run: bool = False) -> Swept:
        """
        Cancel jobs; one for which a job elsewhere waits is kept.

        Args:
            states: ``waiting``, ``scheduled``, ``depends``, ``running``; the first three unless any is named.
            dry_run: only tell what would be done.

        Returns:
            Swept: how many jobs were cancelled, and the jids of those kept.
        """
        return self.client.storage.run(requests.purge(self, states, dry_run=dry_run))

    def delete(self, *, dry_run: bool = False) -> Swept:
        """
        Cancel all jobs and recurring jobs, those that run, too; forget the queue and its settings.

        Args:
            dry_run: only tell what would be done.

        Returns:
            Swept: how many were cancelled, and the jids of those kept, with which the queue stays known.
        """
        return self.client.storage.run(requests.delete(self, dry_run=dry_run))

    def move_all(self, to: str, *states: str, dry_run: bool = False) -> Swept:
        """
        Move jobs to another queue, in the same order and with the same delays.

        Args:
            to: the other queue.
            states: ``waiting``, ``scheduled``, ``depends``, ``recurring``; all of them unless any is named.
            dry_run: only tell what would be done.

        Returns:
            Swept: how many were moved, and the jids of those that are damaged and stay.
        """
        return self.client.storage.run(requests.move_all(self, to, states, dry_run=dry_run))
