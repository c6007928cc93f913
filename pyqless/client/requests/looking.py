# SPDX-License-Identifier: MIT
"""Requests that look for jobs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final, NamedTuple

from pyqless.client import checks, references
from pyqless.client.checks import Span
from pyqless.client.references import AnyJob
from pyqless.client.requests.effects import Look, settled
from pyqless.core import explaining, failures, jobs, purging, queues, tracking
from pyqless.core import tags as tagging
from pyqless.core.effects import Factory, Transition
from pyqless.core.explaining import Explanation
from pyqless.core.models import Job as Seen
from pyqless.core.sweeping import Swept
from pyqless.core.tags import Tagged
from pyqless.core.tracking import Tracked
from pyqless.core.transaction import Transaction
from pyqless.errors import JobNotFound

__all__ = [
    "FailedJobs",
    "completed",
    "ended",
    "explain",
    "failed",
    "find",
    "get",
    "groups",
    "multiget",
    "purge_failed",
    "tagged",
    "tracked",
]


#: the states of a job at its end
_ENDED: Final = ("complete", "failed")


class FailedJobs(NamedTuple):
    """One page of a group of failures."""

    total: int
    jobs: list[Seen]


def explain(jid: str | AnyJob) -> Factory[Explanation]:
    """See ``Jobs.explain``."""
    return partial(explaining.explain, jid=references.job("jid", jid))


def purge_failed(
    older_than: Span, group: str | None, now: float, *, dry_run: bool
) -> Factory[Swept]:
    """See ``Jobs.purge_failed``."""
    until = now - checks.span("older_than", older_than)
    name = checks.optional(checks.name, "group", group)
    dry = checks.flag("dry_run", dry_run)
    return settled(partial(purging.purge_failed, group=name, until=until, dry_run=dry))


def get(jid: str | AnyJob) -> Factory[Seen | None]:
    """See ``Jobs.get``."""
    return Look(partial(jobs.get, jid=references.job("jid", jid)))


def find(jid: str | AnyJob) -> Factory[Seen]:
    """See ``Jobs.__getitem__``."""
    return Look(partial(_required, jid=references.job("jid", jid)))


def _required(tx: Transaction, jid: str) -> Transition[Seen]:
    job = yield from jobs.get(tx, jid)
    if job is None:
        raise JobNotFound(f"there is no job {jid!r}", argument="jid", value=jid)
    return job


def ended(jid: str | AnyJob) -> Factory[Seen | None]:
    """See ``Jobs.wait``; None as long as the end is still to come, which one small read tells."""
    name = references.job("jid", jid)

    def begin(tx: Transaction) -> Transition[Seen | None]:
        (state,) = yield from tx.snapshot(("HGET", tx.keys.job(name), "state"))
        if state is not None and state not in _ENDED:
            return None
        job = yield from _required(tx, name)
        # meanwhile somebody may have it tried again
        return job if dict(job.fields).get("state") in _ENDED else None

    return Look(begin)


def multiget(jids: Iterable[str | AnyJob]) -> Factory[list[Seen]]:
    """See ``Jobs.multiget``."""
    return Look(partial(jobs.views, jids=references.jobs("jids", jids)))


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
