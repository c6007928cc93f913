# SPDX-License-Identifier: MIT
"""Requests about workers, and about tags."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from pyqless.client import checks
from pyqless.client.requests.effects import Look
from pyqless.core import tags, workers
from pyqless.core.effects import Factory
from pyqless.core.workers import WorkerCounts, WorkerJobs

__all__ = ["counts", "deregister", "jobs", "top_tags"]


def counts() -> Factory[list[WorkerCounts]]:
    """See ``Workers.counts``."""
    return Look(workers.counts)


def jobs(name: str) -> Factory[WorkerJobs]:
    """See ``Workers.__getitem__``."""
    return Look(partial(workers.jobs, worker=checks.name("name", name)))


def deregister(names: Iterable[str]) -> Factory[None]:
    """See ``Workers.deregister``."""
    return partial(workers.deregister, names=checks.names("names", names, least=1))


def top_tags(offset: int, count: int) -> Factory[list[str]]:
    """See ``Tags.top``."""
    first, number = checks.page(offset, count)
    return partial(tags.top, offset=first, limit=number)
