# SPDX-License-Identifier: MIT
"""Requests to queues."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from functools import partial
from typing import Any, TypeAlias

from pyqless.client import checks
from pyqless.client.requests.effects import Look, settled
from pyqless.client.views import NamedQueue
from pyqless.core import failures, looking, moving, popping, purging, queues, statistics
from pyqless.core.effects import Factory, Transition
from pyqless.core.models import Job
from pyqless.core.queues import QueueCounts
from pyqless.core.statistics import Statistics
from pyqless.core.sweeping import Swept
from pyqless.core.transaction import Transaction
from pyqless.core.waking import announced
from pyqless.core.wording import counted
from pyqless.errors import QueueNotEmpty

__all__ = [
    "all_counts",
    "counts",
    "delete",
    "forget",
    "jids",
    "length",
    "move_all",
    "pause",
    "peek",
    "pop",
    "purge",
    "stats",
    "unfail",
    "unpause",
]

Queue: TypeAlias = NamedQueue


def pop(queue: Queue, count: int | None) -> Factory[list[Job]]:
    """See ``Queue.pop``."""
    number = 1.0 if count is None else checks.whole("count", count, least=1)
    worker = queue.client.worker_name
    return settled(partial(popping.pop, queue=queue.name, worker=worker, count=number))


def peek(queue: Queue, count: int | None) -> Factory[list[Job]]:
    """See ``Queue.peek``."""
    number = 1.0 if count is None else checks.whole("count", count, least=1)
    return Look(partial(popping.peek, queue=queue.name, count=number))


def unfail(queue: Queue, group: str, count: int) -> Factory[int]:
    """See ``Queue.unfail``."""
    name, number = checks.name("group", group), checks.whole("count", count, least=1)
    move = partial(failures.unfail, queue=queue.name, group=name, count=number)
    return settled(announced(move))


# -- looking at it ----------------------------------------------------------------------------


def counts(queue: Queue) -> Factory[QueueCounts]:
    """See ``Queue.counts``."""
    return Look(partial(queues.counts, queue=queue.name), partial(looking.counts, queue=queue.name))


def all_counts() -> Factory[list[QueueCounts]]:
    """See ``Queues.counts``."""
    return Look(queues.all_counts, looking.all_counts)


def length(queue: Queue) -> Factory[int]:
    """See ``Queue.length``."""
    return partial(queues.length, queue=queue.name)


def jids(queue: Queue, state: str, offset: int, count: int) -> Factory[list[str]]:
    """
    The jids in one state.

    Args:
        state: ``waiting``, or as the core names it.
    """
    first, number = checks.page(offset, count)
    page: dict[str, Any] = {"queue": queue.name, "offset": first, "count": number}
    if state == "waiting":
        return partial(looking.waiting, **page)
    listed: Factory[Any] = partial(queues.jids, state=state, **page)
    return Look(listed, partial(looking.scheduled, **page)) if state == "scheduled" else listed


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
    return announced(partial(queues.unpause, names=[queue.name]))


def forget(queue: Queue) -> Factory[None]:
    """See ``Queue.forget``."""
    name = queue.name

    def begin(tx: Transaction) -> Transition[None]:
        keys = tx.keys
        places = (keys.work, keys.locks, keys.scheduled, keys.depends, keys.recur)
        sizes = yield from tx.read(*(("ZCARD", place(name)) for place in places), last=True)
        if jobs := sum(sizes):
            told = counted(jobs, "job is", "jobs are")
            message = f"queue {name!r} cannot be forgotten: {told} in it"
            raise QueueNotEmpty(message, argument="queue", value=jobs)
        yield from queues.forget(tx, [name])

    return begin


# -- all that is in it ------------------------------------------------------------------------

_PURGED = ("waiting", "scheduled", "depends", "running")
_MOVED = ("waiting", "scheduled", "depends", "recurring")


def purge(queue: Queue, states: Collection[str], *, dry_run: bool) -> Factory[Swept]:
    """See ``Queue.purge``."""
    chosen = checks.choice("states", states or _PURGED[:3], _PURGED)
    dry = checks.flag("dry_run", dry_run)
    return settled(partial(purging.purge, queue=queue.name, states=chosen, dry_run=dry))


def delete(queue: Queue, *, dry_run: bool) -> Factory[Swept]:
    """See ``Queue.delete``."""
    dry = checks.flag("dry_run", dry_run)
    return settled(partial(purging.delete, queue=queue.name, dry_run=dry))


def move_all(queue: Queue, to: str, states: Collection[str], *, dry_run: bool) -> Factory[Swept]:
    """See ``Queue.move_all``."""
    target = checks.name("to", to)
    if target == queue.name:
        checks.refuse("to", to, "must be another queue")
    chosen = checks.choice("states", states or _MOVED, _MOVED)
    dry = checks.flag("dry_run", dry_run)
    move = partial(moving.move, queue=queue.name, to=target, states=chosen, dry_run=dry)
    return settled(announced(move))
