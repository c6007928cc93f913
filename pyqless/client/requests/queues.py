# SPDX-License-Identifier: MIT
"""Requests to queues."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import date
from functools import partial
from typing import Any, TypeAlias

from pyqless.client import checks, payload
from pyqless.client.requests.effects import settled
from pyqless.client.views import QueueView
from pyqless.core import failures, popping, putting, queues, recurring, statistics
from pyqless.core.effects import Factory, Transition
from pyqless.core.models import Job
from pyqless.core.putting import JobSpec
from pyqless.core.queues import QueueCounts
from pyqless.core.recurring import RecurSpec
from pyqless.core.statistics import Statistics
from pyqless.core.transaction import Transaction
from pyqless.errors import QueueNotEmpty

__all__ = [
    "all_counts",
    "counts",
    "forget",
    "jids",
    "job_spec",
    "length",
    "pause",
    "peek",
    "pop",
    "put",
    "recur",
    "stats",
    "unfail",
    "unpause",
]

Queue: TypeAlias = QueueView[Any]


def put(
    queue: Queue,
    klass: str | type,
    data: Any,
    *,
    jid: str | None,
    priority: float | None,
    tags: Iterable[str] | None,
    delay: float,
    retries: int | None,
    depends: Iterable[str] | None,
) -> Factory[str]:
    """See ``Queue.put``."""
    spec = job_spec(
        checks.klass("klass", klass),
        payload.encode(data, queue.client.max_data_size),
        priority=priority,
        tags=tags,
        delay=delay,
        retries=retries,
        depends=depends,
    )
    name = _given_or_new(jid)
    worker = queue.client.worker_name
    return partial(putting.put, worker=worker, queue=queue.name, jid=name, spec=spec)


def job_spec(
    klass: str,
    data: str,
    *,
    priority: float | None,
    tags: Iterable[str] | None,
    delay: float,
    retries: int | None,
    depends: Iterable[str] | None,
) -> JobSpec:
    """
    Check what a job is made of.

    Args:
        klass: its name.
        data: JSON text.
    """
    return JobSpec(
        klass,
        data,
        checks.number("delay", delay, least=0),
        checks.optional(checks.number, "priority", priority),
        None if tags is None else [*checks.names("tags", tags)],
        checks.optional(checks.whole, "retries", retries),
        None if depends is None else [*checks.jids("depends", depends)],
    )


def recur(
    queue: Queue,
    klass: str | type,
    data: Any,
    interval: float,
    *,
    offset: float,
    jid: str | None,
    priority: float,
    tags: Iterable[str],
    retries: int,
    backlog: int,
) -> Factory[str]:
    """See ``Queue.recur``."""
    spec = RecurSpec(
        checks.klass("klass", klass),
        payload.encode(data, queue.client.max_data_size),
        checks.positive("interval", interval),
        checks.number("offset", offset, least=0),
        checks.number("priority", priority),
        [*checks.names("tags", tags)],
        checks.whole("retries", retries),
        checks.whole("backlog", backlog),
    )
    return partial(recurring.recur, queue=queue.name, jid=_given_or_new(jid), spec=spec)


def _given_or_new(jid: str | None) -> str:
    # the system's own randomness, for a forked child would repeat that of a generator in Python
    return os.urandom(16).hex() if jid is None else checks.jid("jid", jid)


def pop(queue: Queue, count: int | None) -> Factory[list[Job]]:
    """See ``Queue.pop``."""
    number = 1.0 if count is None else checks.whole("count", count, least=1)
    worker = queue.client.worker_name
    return settled(partial(popping.pop, queue=queue.name, worker=worker, count=number))


def peek(queue: Queue, count: int | None) -> Factory[list[Job]]:
    """See ``Queue.peek``."""
    number = 1.0 if count is None else checks.whole("count", count, least=1)
    return partial(popping.peek, queue=queue.name, count=number)


def unfail(queue: Queue, group: str, count: int) -> Factory[int]:
    """See ``Queue.unfail``."""
    name, number = checks.name("group", group), checks.whole("count", count, least=1)
    return partial(failures.unfail, queue=queue.name, group=name, count=number)


# -- looking at it ----------------------------------------------------------------------------


def counts(queue: Queue) -> Factory[QueueCounts]:
    """See ``Queue.counts``."""
    return settled(partial(queues.counts, queue=queue.name))


def all_counts() -> Factory[list[QueueCounts]]:
    """See ``Queues.counts``."""
    return settled(queues.all_counts)


def length(queue: Queue) -> Factory[int]:
    """See ``Queue.length``."""
    return partial(queues.length, queue=queue.name)


def jids(queue: Queue, state: str, offset: int, count: int) -> Factory[list[str]]:
    """
    The jids in one state.

    Args:
        state: as the core names it.
    """
    first, number = checks.page(offset, count)
    return settled(partial(queues.jids, state=state, queue=queue.name, offset=first, count=number))


def stats(queue: Queue, day: float | date | None) -> Factory[Statistics]:
    """See ``Queue.stats``."""
    moment = None if day is None else checks.moment("day", day)

    def begin(tx: Transaction) -> Transition[Statistics]:
        return statistics.stats(tx, queue.name, tx.now if moment is None else moment)

    return begin


# -- stopping and forgetting it ---------------------------------------------------------------


def pause(queue: Queue) -> Factory[None]:
    """See ``Queue.pause``."""
    return partial(queues.pause, names=[queue.name])


def unpause(queue: Queue) -> Factory[None]:
    """See ``Queue.unpause``."""
    return partial(queues.unpause, names=[queue.name])


def forget(queue: Queue) -> Factory[None]:
    """See ``Queue.forget``."""
    name = queue.name

    def begin(tx: Transaction) -> Transition[None]:
        keys = tx.keys
        places = (keys.work, keys.locks, keys.scheduled, keys.depends, keys.recur)
        sizes = yield from tx.read(*(("ZCARD", place(name)) for place in places), last=True)
        if jobs := sum(sizes):
            message = f"queue {name!r} cannot be forgotten: {jobs} jobs are in it"
            raise QueueNotEmpty(message, argument="queue", value=jobs)
        yield from queues.forget(tx, [name])

    return begin
