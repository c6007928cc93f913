# SPDX-License-Identifier: MIT
"""Requests to recurring jobs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, TypeAlias

from pyqless.client import checks
from pyqless.client.checks import Span
from pyqless.client.requests.effects import telling
from pyqless.client.views import RecurringJobView
from pyqless.core import looking, lua, recurring
from pyqless.core.effects import Factory, Transition
from pyqless.core.fields import Tags
from pyqless.core.keys import Keys
from pyqless.core.models import RecurringJob as Seen
from pyqless.core.transaction import Transaction
from pyqless.core.waking import announced
from pyqless.errors import RecurringJobNotFound

__all__ = ["UNCHANGED", "cancel", "find", "get", "next_run", "tag", "untag", "update"]

RecurringJob: TypeAlias = RecurringJobView[Any]

#: stands for data that is not to be changed, since None is data
UNCHANGED: Any = object()


def get(jid: str) -> Factory[Seen | None]:
    """See ``RecurringJobs.get``."""
    return partial(recurring.get, jid=checks.jid("jid", jid))


def find(jid: str) -> Factory[Seen]:
    """See ``RecurringJobs.__getitem__``."""
    name = checks.jid("jid", jid)

    def begin(tx: Transaction) -> Transition[Seen]:
        job = yield from recurring.get(tx, name)
        if job is None:
            message = f"there is no recurring job {name!r}"
            raise RecurringJobNotFound(message, argument="jid", value=name)
        return job

    return begin


def update(
    job: RecurringJob,
    *,
    klass: str | type | None,
    data: Any,
    queue: str | None,
    interval: Span | None,
    priority: float | None,
    retries: int | None,
    backlog: int | None,
) -> Factory[tuple[bool, dict[str, str]]]:
    """See ``RecurringJob.update``."""
    texts = {
        "klass": checks.optional(checks.klass, "klass", klass),
        "data": None if data is UNCHANGED else job.client.encoded(data),
        "queue": checks.optional(checks.name, "queue", queue),
    }
    numbers = {
        "interval": checks.optional(checks.positive_span, "interval", interval),
        "priority": checks.optional(checks.number, "priority", priority),
        "retries": checks.optional(checks.whole, "retries", retries),
        "backlog": checks.optional(checks.whole, "backlog", backlog),
    }
    written = {name: lua.argument(n) for name, n in numbers.items() if n is not None}
    changes = [(name, text) for name, text in {**texts, **written}.items() if text is not None]
    change = partial(recurring.update, jid=job.jid, changes=[*changes])
    return announced(telling(Keys.recurring_job, job.jid, change))


def next_run(job: RecurringJob) -> Factory[float | None]:
    """See ``RecurringJob.next_run``."""
    return partial(looking.next_run, jid=job.jid)


def tag(job: RecurringJob, names: Iterable[str]) -> Factory[Tags]:
    """See ``RecurringJob.tag``."""
    return partial(recurring.tag, jid=job.jid, new=checks.names("tags", names, least=1))


def untag(job: RecurringJob, names: Iterable[str]) -> Factory[list[str | float]]:
    """See ``RecurringJob.untag``."""
    return partial(recurring.untag, jid=job.jid, old=checks.names("tags", names, least=1))


def cancel(job: RecurringJob) -> Factory[bool]:
    """See ``RecurringJob.cancel``."""
    return partial(recurring.unrecur, jid=job.jid)
