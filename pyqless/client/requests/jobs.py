# SPDX-License-Identifier: MIT
"""Requests to jobs, and for jobs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

from pyqless.client import checks
from pyqless.client.requests.effects import Look, settled, telling
from pyqless.client.requests.enqueueing import job_spec
from pyqless.client.views import JobView
from pyqless.core import (
    cancelling,
    completing,
    dependencies,
    explaining,
    failures,
    jobs,
    locks,
    purging,
    putting,
    queues,
    retrying,
    tracking,
)
from pyqless.core import tags as tagging
from pyqless.core.completing import Next
from pyqless.core.effects import Factory, Transition
from pyqless.core.explaining import Explanation
from pyqless.core.fields import Tags
from pyqless.core.keys import Keys
from pyqless.core.models import Job as Seen
from pyqless.core.sweeping import Swept
from pyqless.core.tags import Tagged
from pyqless.core.tracking import Tracked
from pyqless.core.transaction import Transaction
from pyqless.core.waking import announced
from pyqless.errors import JobNotFound

__all__ = [
    "FailedJobs",
    "cancel",
    "complete",
    "completed",
    "depend",
    "explain",
    "fail",
    "failed",
    "find",
    "get",
    "groups",
    "heartbeat",
    "log",
    "multiget",
    "purge_failed",
    "requeue",
    "retry",
    "set_priority",
    "tag",
    "tagged",
    "timeout",
    "track",
    "tracked",
    "undepend",
    "untag",
]

Job: TypeAlias = JobView[Any]

T = TypeVar("T")

#: a value, and the job's fields as the call left them
Outcome: TypeAlias = tuple[T, dict[str, str]]


# -- while it runs ----------------------------------------------------------------------------


def complete(
    job: Job, next_queue: str | None, delay: float, depends: Iterable[str] | None
) -> Factory[Outcome[str]]:
    """See ``Job.complete``."""
    to = Next(
        "" if next_queue is None else checks.name("next_queue", next_queue),
        checks.number("delay", delay, least=0),
        () if depends is None else checks.jids("depends", depends),
    )
    if next_queue is None:
        for argument, value in (("delay", delay), ("depends", depends)):
            if value:
                checks.refuse(argument, value, "goes with next_queue only")
    finish: Factory[Any] = partial(
        completing.complete if next_queue is None else partial(completing.advance, to=to),
        jid=job.jid,
        worker=job.acting_worker,
        queue=job.queue_name,
        data=job.encoded_data(),
    )
    return announced(telling(Keys.job, job.jid, finish))


def fail(job: Job, group: str, message: str) -> Factory[Outcome[str]]:
    """See ``Job.fail``."""
    return telling(
        Keys.job,
        job.jid,
        partial(
            failures.fail,
            jid=job.jid,
            worker=job.acting_worker,
            group=checks.name("group", group),
            message=checks.text("message", message),
            data=job.changed_data(),
        ),
    )


def retry(job: Job, delay: float, group: str | None, message: str | None) -> Factory[Outcome[int]]:
    """See ``Job.retry``."""
    if (group is None) != (message is None):
        missing = "message" if message is None else "group"
        checks.refuse(missing, None, "is missing, group and message go together")
    return announced(
        telling(
            Keys.job,
            job.jid,
            partial(
                retrying.retry,
                jid=job.jid,
                queue=job.queue_name,
                worker=job.acting_worker,
                delay=checks.number("delay", delay, least=0),
                group=checks.optional(checks.name, "group", group),
                message=checks.optional(checks.text, "message", message),
            ),
        )
    )


def heartbeat(job: Job) -> Factory[Outcome[float]]:
    """See ``Job.heartbeat``."""
    jid, worker, data = job.jid, job.acting_worker, job.changed_data()
    beat = partial(locks.heartbeat, jid=jid, worker=worker, data=data)
    return telling(Keys.job, jid, beat)


def timeout(job: Job) -> Factory[Outcome[None]]:
    """See ``Job.timeout``."""
    return announced(telling(Keys.job, job.jid, partial(locks.timeout, jids=[job.jid])))


# -- whatever its state -----------------------------------------------------------------------


def requeue(
    job: Job,
    queue: str | None,
    *,
    delay: float | None,
    priority: float | None,
    tags: Iterable[str] | None,
    retries: int | None,
    depends: Iterable[str] | None,
) -> Factory[Outcome[str]]:
    """See ``Job.requeue``."""
    spec = job_spec(
        job.klass_name,
        job.encoded_data(),
        priority=priority,
        tags=tags,
        delay=delay,
        retries=retries,
        depends=depends,
    )
    name = checks.name("queue", job.queue_name if queue is None else queue)
    worker = job.acting_worker
    put = partial(putting.requeue, worker=worker, queue=name, jid=job.jid, spec=spec)
    return telling(Keys.job, job.jid, put)


def cancel(jids: Iterable[str]) -> Factory[list[str]]:
    """See ``Jobs.cancel``."""
    return partial(cancelling.cancel, jids=checks.jids("jids", jids))


def depend(job: Job, jids: Iterable[str]) -> Factory[bool]:
    """See ``Job.depend``."""
    others = checks.jids("jids", jids, least=1)
    return partial(dependencies.depends, jid=job.jid, command="on", others=others)


def undepend(job: Job, jids: Iterable[str], *, everything: bool) -> Factory[bool]:
    """See ``Job.undepend``."""
    others = checks.jids("jids", jids, least=0 if checks.flag("all", everything) else 1)
    if everything and others:
        checks.refuse("jids", others, "cannot be named together with all")
    if "all" in others:
        checks.refuse("jids", "all", "would mean every job to the core")
    named = ["all"] if everything else others
    change = partial(dependencies.depends, jid=job.jid, command="off", others=named)
    return announced(change)


def set_priority(job: Job, priority: float) -> Factory[float]:
    """See ``Job.priority``."""
    number = checks.number("priority", priority)
    return partial(jobs.set_priority, jid=job.jid, priority=number)


def tag(job: Job, names: Iterable[str]) -> Factory[Tags]:
    """See ``Job.tag``."""
    return partial(tagging.add, jid=job.jid, tags=checks.names("tags", names, least=1))


def untag(job: Job, names: Iterable[str]) -> Factory[list[str | float]]:
    """See ``Job.untag``."""
    return partial(tagging.remove, jid=job.jid, tags=checks.names("tags", names, least=1))


def track(job: Job, *, on: bool) -> Factory[int]:
    """See ``Job.track`` and ``Job.untrack``."""
    action = "track" if on else "untrack"
    return partial(tracking.set_tracking, action=action, jid=job.jid)


def log(job: Job, message: str, data: dict[str, Any]) -> Factory[None]:
    """See ``Job.log``."""
    for argument in {"when", "what"} & data.keys():
        checks.refuse(argument, data[argument], "is a member of every entry already")
    text = job.client.encoded(data) if data else None
    checked = checks.text("message", message)
    return partial(jobs.log, jid=job.jid, message=checked, data=text)


# -- looking for jobs -------------------------------------------------------------------------


class FailedJobs(NamedTuple):
    """One page of a group of failures."""

    total: int
    jobs: list[Seen]


def explain(jid: str) -> Factory[Explanation]:
    """See ``Jobs.explain``."""
    return partial(explaining.explain, jid=checks.jid("jid", jid))


def purge_failed(
    older_than: float, group: str | None, now: float, *, dry_run: bool
) -> Factory[Swept]:
    """See ``Jobs.purge_failed``."""
    until = now - checks.number("older_than", older_than, least=0)
    name = checks.optional(checks.name, "group", group)
    dry = checks.flag("dry_run", dry_run)
    return settled(partial(purging.purge_failed, group=name, until=until, dry_run=dry))


def get(jid: str) -> Factory[Seen | None]:
    """See ``Jobs.get``."""
    return Look(partial(jobs.get, jid=checks.jid("jid", jid)))


def find(jid: str) -> Factory[Seen]:
    """See ``Jobs.__getitem__``."""
    name = checks.jid("jid", jid)

    def begin(tx: Transaction) -> Transition[Seen]:
        job = yield from jobs.get(tx, name)
        if job is None:
            raise JobNotFound(f"there is no job {name!r}", argument="jid", value=name)
        return job

    return Look(begin)


def multiget(jids: Iterable[str]) -> Factory[list[Seen]]:
    """See ``Jobs.multiget``."""
    return Look(partial(jobs.views, jids=checks.jids("jids", jids)))


def completed(offset: int, count: int) -> Factory[list[str]]:
    """See ``Jobs.complete``."""
    first, number = checks.page(offset, count)
    return partial(queues.completed, offset=first, count=number)


def groups(offset: int, count: int) -> Factory[dict[str, int]]:
    """See ``Jobs.failed``; groups come without pages."""
    checks.page(offset, count)
    return failures.groups


def failed(group: str, offset: int, count: int) -> Factory[FailedJobs]:
    """See ``Jobs.failed``."""
    name = checks.name("group", group)
    first, number = checks.page(offset, count)

    def begin(tx: Transaction) -> Transition[FailedJobs]:
        total, jids = yield from failures.failed(tx, name, first, number)
        return FailedJobs(total, (yield from jobs.views(tx, jids)))

    return Look(begin)


def tracked() -> Factory[Tracked]:
    """See ``Jobs.tracked``."""
    return Look(tracking.tracked)


def tagged(tag: str, offset: int, count: int) -> Factory[Tagged]:
    """See ``Jobs.tagged``."""
    name = checks.name("tag", tag)
    first, number = checks.page(offset, count)
    return partial(tagging.tagged, tag=name, offset=first, limit=number)
