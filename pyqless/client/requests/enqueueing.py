# SPDX-License-Identifier: MIT
"""Requests that make jobs."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeAlias

from pyqless.client import checks, options, references
from pyqless.client.checks import Span
from pyqless.client.references import AnyJob
from pyqless.client.requests.effects import giving
from pyqless.client.views import NamedQueue
from pyqless.core import putting, recurring
from pyqless.core.effects import Factory
from pyqless.core.limits import within
from pyqless.core.putting import JobSpec
from pyqless.core.recurring import RecurSpec
from pyqless.core.uniqueness import OnConflict, put_unless_taken, recur_unless_taken
from pyqless.core.waking import announced

__all__ = ["Put", "job_spec", "put", "put_plain", "random_jid", "recur"]

Queue: TypeAlias = NamedQueue


class Put(NamedTuple):
    """A job that is checked and ready to be put."""

    jid: str
    #: gives the jid
    transition: Factory[str]


def put(
    queue: Queue, klass: str | type, data: Any, *, new_jid: str | None = None, **given: Any
) -> Put:
    """
    See ``Queue.put``.

    Args:
        new_jid: a random one, for a job that is given none.
        given: its options; None where none is given.
    """
    chosen = options.merged(klass, data, given)
    if all(value is None for value in chosen.values()):
        return put_plain(queue, klass, data, new_jid)
    is_new = not (chosen["jid"] or chosen["unique"] or chosen["depends"])
    name = checks.klass("klass", klass)
    text = queue.client.encoded(data)
    jid, conflict = _identity(chosen, name, text, new_jid)
    limit = checks.optional(checks.whole, "max_waiting", chosen.pop("max_waiting"))
    spec = job_spec(name, text, **chosen)
    worker = queue.client.worker_name
    whose: dict[str, Any] = {"worker": worker, "queue": queue.name, "jid": jid, "spec": spec}
    transition: Factory[str] = (
        partial(putting.put_new if is_new else putting.put, **whose)
        if conflict == "replace"
        else giving(jid, partial(put_unless_taken, **whose, on_conflict=conflict))
    )
    return Put(jid, within(math.inf if limit is None else limit, queue.name, transition))


def put_plain(queue: Queue, klass: str | type, data: Any, new_jid: str | None = None) -> Put:
    """As ``put``, of a job of which nothing else is said."""
    jid = new_jid or random_jid()
    spec = JobSpec(_klass_name(klass), queue.client.encoded(data))
    whose: dict[str, Any] = {"worker": queue.client.worker_name, "queue": queue.name, "jid": jid}
    return Put(jid, within(math.inf, queue.name, partial(putting.put_new, spec=spec, **whose)))


def _klass_name(klass: str | type) -> str:
    return _known_name(klass) if type(klass) is str else checks.klass("klass", klass)


#: many jobs have the same
_known_name = lru_cache(maxsize=256)(partial(checks.klass, "klass"))


def random_jid() -> str:
    """Make a jid that no other job has."""
    # the system's own randomness, for a forked child would repeat that of a generator in Python
    return os.urandom(16).hex()


def _identity(
    chosen: dict[str, Any], klass: str, text: str, new_jid: str | None = None
) -> tuple[str, OnConflict]:
    """Take the options that say what a job is called, and what is to happen if another is called so."""
    unique = bool(checks.optional(checks.flag, "unique", chosen.pop("unique")))
    conflict = options.on_conflict(chosen.pop("on_conflict"), unique=unique)
    given = chosen.pop("jid")
    if not unique:
        jid = new_jid or random_jid() if given is None else checks.jid("jid", given)
        return jid, conflict
    if given is not None:
        checks.refuse("jid", given, "cannot be given for a unique job, whose jid is derived")
    return options.digest(klass, text), conflict


def job_spec(
    klass: str,
    data: str,
    *,
    priority: float | None,
    tags: Iterable[str] | None,
    delay: Span | None,
    retries: int | None,
    depends: Iterable[str | AnyJob] | None,
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
        checks.span("delay", 0.0 if delay is None else delay),
        checks.optional(checks.number, "priority", priority),
        None if tags is None else [*checks.names("tags", tags)],
        checks.optional(checks.whole, "retries", retries),
        None if depends is None else [*references.parents("depends", depends)],
    )


def recur(queue: Queue, klass: str | type, data: Any, interval: Span, **given: Any) -> Factory[str]:
    """
    See ``Queue.recur``.

    Args:
        given: its options; None where none is given.
    """
    chosen = options.merged(klass, data, given)
    name = checks.klass("klass", klass)
    text = queue.client.encoded(data)
    jid, conflict = _identity(chosen, name, text)
    spec = _recur_spec(name, text, interval, **chosen)
    where: dict[str, Any] = {"queue": queue.name, "jid": jid, "spec": spec}
    if conflict == "replace":
        return announced(partial(recurring.recur, **where))
    return announced(giving(jid, partial(recur_unless_taken, **where, on_conflict=conflict)))


def _recur_spec(
    klass: str,
    data: str,
    interval: Span,
    *,
    offset: Span | None,
    priority: float | None,
    tags: Iterable[str] | None,
    retries: int | None,
    backlog: int | None,
) -> RecurSpec:
    return RecurSpec(
        klass,
        data,
        checks.positive_span("interval", interval),
        checks.span("offset", 0.0 if offset is None else offset),
        checks.number("priority", 0.0 if priority is None else priority),
        [*checks.names("tags", () if tags is None else tags)],
        checks.whole("retries", 5 if retries is None else retries),
        checks.whole("backlog", 0 if backlog is None else backlog),
    )
