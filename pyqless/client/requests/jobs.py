# SPDX-License-Identifier: MIT
"""Requests to jobs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, TypeAlias, TypeVar

from pyqless.client import checks, payload, references
from pyqless.client.checks import Span
from pyqless.client.references import AnyJob
from pyqless.client.requests.effects import settled, telling, telling_end
from pyqless.client.requests.enqueueing import job_spec
from pyqless.client.views import JobView
from pyqless.core import (
    cancelling,
    completing,
    dependencies,
    failures,
    jobs,
    locks,
    putting,
    retrying,
    tracking,
    working,
)
from pyqless.core import tags as tagging
from pyqless.core.completing import Next
from pyqless.core.effects import Factory
from pyqless.core.fields import Tags
from pyqless.core.keys import Keys
from pyqless.core.waking import announced
from pyqless.core.working import Turn

__all__ = [
    "cancel",
    "complete",
    "complete_and_pop",
    "completion",
    "depend",
    "fail",
    "heartbeat",
    "log",
    "onward",
    "requeue",
    "retry",
    "set_priority",
    "tag",
    "timeout",
    "track",
    "undepend",
    "untag",
]

Job: TypeAlias = JobView[Any]

T = TypeVar("T")

#: a value, and the job's fields as the call left them
Outcome: TypeAlias = tuple[T, dict[str, str]]


# -- while it runs ----------------------------------------------------------------------------


def onward(
    next_queue: str | None, delay: Span, depends: Iterable[str | AnyJob] | None
) -> Next | None:
    """Where a job goes on, see ``Job.complete``; None if it is complete."""
    name = None if next_queue is None else checks.name("next_queue", next_queue)
    wait = checks.span("delay", delay)
    parents = () if depends is None else references.parents("depends", depends)
    if name is not None:
        return Next(name, wait, parents)
    for argument, value in (("delay", delay), ("depends", depends)):
        if value:
            checks.refuse(argument, value, "goes with next_queue only")
    return None


def completion(job: Job, to: Next | None) -> Factory[Outcome[str]]:
    """``Job.complete``, which wakes nobody yet."""
    rule: Factory[Any] = partial(
        completing.complete if to is None else partial(completing.advance, to=to), **_work(job)
    )
    return telling(Keys.job, job.jid, rule)


def _work(job: Job) -> dict[str, Any]:
    """What has to be said of a job that comes to its end."""
    return {
        "jid": job.jid,
        "worker": job.acting_worker,
        "queue": job.queue_name,
        "data": job.encoded_data(),
    }


def complete(
    job: Job, next_queue: str | None, delay: Span, depends: Iterable[str | AnyJob] | None
) -> Factory[Outcome[str]]:
    """See ``Job.complete``."""
    return announced(completion(job, onward(next_queue, delay, depends)))


def complete_and_pop(
    job: Job,
    next_queue: str | None,
    delay: Span,
    depends: Iterable[str | AnyJob] | None,
    source: str | None,
) -> Factory[Outcome[Turn]]:
    """See ``Job.complete_and_pop``."""
    turn: Factory[Any] = partial(
        working.complete_and_pop,
        **_work(job),
        to=onward(next_queue, delay, depends),
        source=checks.optional(checks.name, "source", source),
    )
    return announced(telling(Keys.job, job.jid, turn))


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


def retry(job: Job, delay: Span, group: str | None, message: str | None) -> Factory[Outcome[int]]:
    """See ``Job.retry``."""
    if (group is None) != (message is None):
        missing = "message" if message is None else "group"
        checks.refuse(missing, None, "is missing, group and message go together")
    again = partial(
        retrying.retry,
        jid=job.jid,
        queue=job.queue_name,
        worker=job.acting_worker,
        delay=checks.span("delay", delay),
        group=checks.optional(checks.name, "group", group),
        message=checks.optional(checks.text, "message", message),
    )
    return announced(telling(Keys.job, job.jid, telling_end(job.jid, again)))


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
    delay: Span | None,
    priority: float | None,
    tags: Iterable[str] | None,
    retries: int | None,
    depends: Iterable[str | AnyJob] | None,
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


def cancel(jids: Iterable[str | AnyJob]) -> Factory[list[str]]:
    """See ``Jobs.cancel``."""
    return settled(partial(cancelling.cancel, jids=references.jobs("jids", jids)))


def depend(job: Job, jids: Iterable[str | AnyJob]) -> Factory[bool]:
    """See ``Job.depend``."""
    others = references.parents("jids", jids, least=1)
    return partial(dependencies.depends, jid=job.jid, command="on", others=others)


def undepend(job: Job, jids: Iterable[str | AnyJob], *, everything: bool) -> Factory[bool]:
    """See ``Job.undepend``."""
    others = references.parents("jids", jids, least=0 if checks.flag("all", everything) else 1)
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
    payload.require_size(f"{checked}{text or ''}", job.client.max_data_size, "message")
    return partial(jobs.log, jid=job.jid, message=checked, data=text)
