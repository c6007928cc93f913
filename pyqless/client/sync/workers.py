# SPDX-License-Identifier: MIT
"""Workers, for the client that blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyqless.client.requests import workers as requests
from pyqless.client.views.part import Part
from pyqless.core.workers import WorkerCounts, WorkerJobs

if TYPE_CHECKING:
    from pyqless.client.sync.client import Client

__all__ = ["Workers"]


class Workers(Part):
    """The workers; ``workers[name]`` gives the jids that one has, iteration the counts of each."""

    client: Client

    def __getitem__(self, name: str) -> WorkerJobs:
        return self.client.storage.run(requests.jobs(name))

    def __iter__(self) -> Iterator[WorkerCounts]:
        return iter(self.counts())

    def counts(self) -> list[WorkerCounts]:
        """Count the jobs of each worker, the one seen last at the head."""
        return self.client.storage.run(requests.counts())

    def deregister(self, *names: str) -> None:
        """Strike workers from the list; what they have in hand they keep."""
        self.client.storage.run(requests.deregister(names))
