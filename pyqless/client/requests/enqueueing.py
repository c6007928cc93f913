# SPDX-License-Identifier: MIT
"""Requests that make jobs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from pyqless.client import checks, options
from pyqless.client.views import NamedQueue
from pyqless.core import putting, recurring
from pyqless.core.effects import Factory, Transition
from pyqless.core.limits import within
from pyqless.core.putting import JobSpec
from pyqless.core.recurring import RecurSpec
from pyqless.core.transaction import Transaction
from pyqless.core.uniqueness import OnConflict, put_unless_taken
from pyqless.core.waking import announced

__all__ = ["Put", "job_spec", "put", "recur"]

Queue: TypeAlias = NamedQueue


class Put(NamedTuple):
    """A job that is checked and ready to be put."""

    jid: str
    #: gives the jid
    transition: Factory[str]


def put(queue: Queue, klass: str | type, data: Any, **given: Any) -> Put:
    """
    See ``Queue.put``.

    Args:
        given: its options; None where none is given.
    """
    chosen = options.merged(klass, data, given)
    name = checks.klass("klass", klass)
    text = queue.client.encoded(data)
    unique = checks.flag("unique", chosen.pop("unique") or False)
    jid = _jid(chosen.pop("jid"), options.digest(name, text) if unique else None)
    conflict = options.on_conflict(chosen.pop("on_conflict"), unique=unique)
    limit = checks.optional(checks.whole, "max_waiting", chosen.pop("max_waiting"))
    spec = job_spec(name, text, **chosen)
    transition = _transition(queue, jid, spec, conflict)
    return Put(jid, transition if limit is None else within(limit, queue.name, transition))


def _jid(given: str | None, derived: str | None) -> str:
    if derived is None:
        # the system's own randomness, for a forked child would repeat that of a generator in Python
        return os.urandom(16).hex() if given is None else checks.jid("jid", given)
    if given is not None:
        checks.refuse("jid", given, "cannot be given for a unique job, whose jid is derived")
    return derived


def _transition(queue: Queue, jid: str, spec: JobSpec, conflict: OnConflict) -> Factory[str]:
    worker, name = queue.client.worker_name, queue.name
    if conflict == "replace":
        return partial(putting.put, worker=worker, queue=name, jid=jid, spec=spec)

    def begin(tx: Transaction) -> Transition[str]:
        yield from put_unless_taken(tx, worker, name, jid, spec, conflict)
        return jid

    return begin


def job_spec(
    klass: str,
    data: str,
    *,
    priority: float | None,
    tags: Iterable[str] | None,
    delay: float | None,
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
        checks.number("delay", 0.0 if delay is None else delay, least=0),
        checks.optional(checks.number, "priority", priority),
        None if tags is None else [*checks.names("tags", tags)],
        checks.optional(checks.whole, "retries", retries),
        None if depends is None else [*checks.jids("depends", depends)],
    )


def recur(
    queue: Queue, klass: str | type, data: Any, interval: float, **given: Any
) -> Factory[str]:
    """
    See ``Queue.recur``.

    Args:
        given: its options; None where none is given.
    """
    usual = {"offset": 0.0, "priority": 0.0, "tags": (), "retries": 5, "backlog": 0, "jid": None}
    found = options.merged(klass, data, given)
    chosen: dict[str, Any] = {
        name: usual[name] if value is None else value for name, value in found.items()
    }
    spec = RecurSpec(
        checks.klass("klass", klass),
        queue.client.encoded(data),
        checks.positive("interval", interval),
        checks.number("offset", chosen["offset"], least=0),
        checks.number("priority", chosen["priority"]),
        [*checks.names("tags", chosen["tags"])],
        checks.whole("retries", chosen["retries"]),
        checks.whole("backlog", chosen["backlog"]),
    )
    jid = _jid(chosen["jid"], None)
    return announced(partial(recurring.recur, queue=queue.name, jid=jid, spec=spec))
