# SPDX-License-Identifier: MIT
"""Values as the core writes them on the wire: JSON text, integers cut toward zero, None for nil."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, TypeAlias

from pyqless.core import lua
from pyqless.core.failures import FailedPage
from pyqless.core.models import Job, RecurringJob
from pyqless.core.queues import QueueCounts
from pyqless.core.statistics import Statistics
from pyqless.core.tags import Tagged
from pyqless.core.tracking import Tracked
from pyqless.core.workers import WorkerCounts, WorkerJobs
from pyqless.errors import StoreCorrupted

__all__ = [
    "Reply",
    "as_is",
    "failed_page",
    "integer",
    "job",
    "job_list",
    "json",
    "nothing",
    "one",
    "queue_counts",
    "recurring_job",
    "statistics",
    "tagged",
    "tracked",
    "worker_counts",
    "worker_jobs",
]

#: what a client on the wire gets
Reply: TypeAlias = str | int | list[str] | None


def json(value: Any) -> str:
    """
    JSON text.

    Raises:
        StoreCorrupted: the store held a number that is not finite.
    """
    try:
        return lua.encode(value)
    except lua.JSONError as error:
        raise StoreCorrupted(f"what the store holds cannot be shown: {error}") from error


def as_is(value: Any) -> Any:
    """Text, a list of texts, or None."""
    return value


def nothing(_value: object) -> None:
    """The reply of commands that say nothing."""


def one(_value: object) -> int:
    """Lua's true."""
    return 1


def integer(value: float) -> int:
    """A number, cut toward zero."""
    return lua.to_integer_reply(value)


def _false(text: str | None) -> Any:
    """A missing field is false in Lua."""
    return False if text is None else text


def _present(**members: Any) -> dict[str, Any]:
    """An object without the members that are nil in Lua."""
    return {name: member for name, member in members.items() if member is not None}


def _job(job: Job) -> dict[str, Any]:
    return _present(
        jid=job.jid,
        klass=_false(job.klass),
        state=_false(job.state),
        queue=_false(job.queue),
        worker=job.worker,
        tracked=job.tracked,
        priority=job.priority,
        expires=job.expires,
        retries=job.retries,
        remaining=job.remaining,
        data=_false(job.data),
        tags=job.tags,
        history=job.history,
        failure=job.failure,
        spawned_from_jid=_false(job.spawned_from_jid),
        dependents=job.dependents,
        dependencies=job.dependencies,
    )


def job(value: Job | None) -> str | None:
    """A job (get)."""
    return None if value is None else json(_job(value))


def job_list(jobs: Iterable[Job]) -> str:
    """Jobs (multiget, pop, peek)."""
    return json([_job(job) for job in jobs])


def recurring_job(value: RecurringJob | None) -> str | None:
    """A recurring job (recur.get)."""
    if value is None:
        return None
    shown = _present(
        jid=value.jid,
        klass=_false(value.klass),
        state=_false(value.state),
        queue=_false(value.queue),
        priority=value.priority,
        interval=value.interval,
        retries=value.retries,
        count=value.count,
        data=_false(value.data),
        backlog=value.backlog,
    )
    return json({**shown, "tags": value.tags})  # whatever was given for tags; null, too, is shown


def tracked(value: Tracked) -> str:
    """The tracked jobs (track)."""
    return json({"jobs": [_job(job) for job in value.jobs], "expired": value.expired})


def tagged(value: Tagged) -> str:
    """Jobs that bear a tag (tag get)."""
    return json({"total": value.total, "jobs": value.jids})


def failed_page(value: FailedPage) -> str:
    """Jobs of a group (failed)."""
    return json({"total": value.total, "jobs": value.jids})


def queue_counts(value: QueueCounts | list[QueueCounts]) -> str:
    """One queue's counts, or those of several (queues)."""
    if isinstance(value, QueueCounts):
        return json(value._asdict())
    return json([counts._asdict() for counts in value])


def worker_counts(value: list[WorkerCounts]) -> str:
    """All workers (workers)."""
    return json([counts._asdict() for counts in value])


def worker_jobs(value: WorkerJobs) -> str:
    """One worker (workers)."""
    return json(value._asdict())


def statistics(value: Statistics) -> str:
    """A queue's day (stats)."""
    return json(asdict(value))
