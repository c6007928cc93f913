# SPDX-License-Identifier: MIT
"""How a job comes into a queue, new or again (QlessQueue:put)."""

from __future__ import annotations

from typing import Final, NamedTuple

from pyqless.core import failures, foreseeing, lua, places, records, statistics, tags
from pyqless.core.dependencies import state_reads, wait_for
from pyqless.core.effects import Batch, Transition
from pyqless.core.fields import Tags, names_of
from pyqless.core.jobs import absent
from pyqless.core.keys import RESERVED_SUFFIXES
from pyqless.core.messages import lock_lost, publish_change, publish_event
from pyqless.core.records import StoredJob
from pyqless.core.settings import Settings
from pyqless.core.transaction import Transaction
from pyqless.errors import InvalidArgument

__all__ = ["JobSpec", "put", "put_new", "requeue"]

_SETTINGS = ("max-job-history",)


#: no read, but the sign that a commit can be opened
_NOTHING: Final = Batch((), last=True)


class JobSpec(NamedTuple):
    """What a job is made of; None where an existing job keeps what it has."""

    klass: str
    #: JSON text
    data: str
    #: seconds to wait before it may run
    delay: float = 0.0
    priority: float | None = None
    tags: Tags | None = None
    retries: float | None = None
    #: jids to wait for; an empty list changes nothing
    depends: list[str | float] | None = None


def requeue(
    tx: Transaction, worker: str, queue: str, jid: str, spec: JobSpec | InvalidArgument
) -> Transition[str]:
    """
    Put a job that exists into a queue.

    Args:
        spec: or what is wrong with it, which is told only if there is such a job.

    Raises:
        JobNotFound: there is none.
    """
    return (yield from _put(tx, worker, queue, jid, spec, must_exist=True))


def put(tx: Transaction, worker: str, queue: str, jid: str, spec: JobSpec) -> Transition[str]:
    """
    Put a job into a queue; one that has the jid already is moved and made anew.

    Args:
        worker: who puts it; another worker that holds the job's lock is told that it lost it.

    Returns:
        str: the jid.

    Raises:
        InvalidArgument: the jid has an ending that the keys of other jobs have.
    """
    return (yield from _put(tx, worker, queue, jid, spec))


def put_new(tx: Transaction, worker: str, queue: str, jid: str, spec: JobSpec) -> Transition[str]:
    """
    Put a job under a jid that was made at random for this call.

    Nothing can be there yet, and nobody can track it, so nothing has to be read.

    Args:
        spec: without ``depends``.

    Returns:
        str: the jid.
    """
    tx.grows = True
    yield _NOTHING
    job = StoredJob(tx, jid, {})
    kept = _kept(spec, job)
    _replace(job, worker, queue, 0)
    _write(job, queue, spec, kept)
    _place(job, queue, spec.delay, kept.priority, waits=False)
    tx.zadd_new(tx.keys.queues, tx.now, queue)
    foreseeing.next_pop(tx, queue, put=None if spec.delay > 0 else jid)
    return jid


def _put(
    tx: Transaction,
    worker: str,
    queue: str,
    jid: str,
    spec: JobSpec | InvalidArgument,
    *,
    must_exist: bool = False,
) -> Transition[str]:
    _refuse_reserved(jid)
    tx.grows |= not must_exist
    keys = tx.keys
    others = [] if isinstance(spec, InvalidArgument) else spec.depends or []
    fields, entries, dependencies, texts, *states, tracked = yield from tx.read(
        *records.reads(keys, jid),
        ("SMEMBERS", keys.dependencies(jid)),
        Settings.read(keys, _SETTINGS),
        *state_reads(keys, others),
        free=(("ZSCORE", keys.tracked, jid),),
        last=True,
    )
    if must_exist and not fields:
        raise absent(jid, f"Requeue(): Job {jid} does not exist")
    if isinstance(spec, InvalidArgument):
        raise spec
    job = StoredJob(tx, jid, fields, entries)
    kept = _kept(spec, job)
    if fields.get("state") == "failed":
        yield from _leave_failures(job, queue)
    _replace(job, worker, queue, Settings(_SETTINGS, texts).history_limit())
    _write(job, queue, spec, kept)
    if others:
        _change_dependencies(job, dependencies, dict(zip(others, states, strict=True)))
    _place(job, queue, spec.delay, kept.priority, waits=bool(dependencies))
    tx.zadd_new(keys.queues, tx.now, queue)
    publish_event(tx, "put", jid, tracked)
    return jid


def _refuse_reserved(jid: str) -> None:
    if jid.endswith(RESERVED_SUFFIXES):
        raise InvalidArgument(
            f"a jid must not end in {', '.join(RESERVED_SUFFIXES)}: {jid!r}",
            argument="jid",
            value=jid,
        )


class _Kept(NamedTuple):
    """What the call gives, or else the job keeps, or else is usual."""

    priority: float
    tags: Tags
    retries: float


#: what is usual; nobody changes the list
_USUAL: Final = _Kept(0.0, [], 5.0)


def _kept(spec: JobSpec, job: StoredJob) -> _Kept:
    if not job.fields and (spec.priority, spec.tags, spec.retries) == (None, None, None):
        return _USUAL
    return _Kept(
        job.number("priority", _USUAL.priority) if spec.priority is None else spec.priority,
        job.kept_tags("[]") if spec.tags is None else spec.tags,
        job.number("retries", _USUAL.retries) if spec.retries is None else spec.retries,
    )


def _leave_failures(job: StoredJob, queue: str) -> Transition[None]:
    """Take the job out of its group; the core uncounts it in the queue it comes into."""
    failure = failures.failure_of(job)
    yield from failures.forget(job.tx, {failure.group: [job.jid]})
    statistics.count(job.tx, queue, failure.when, failed=-1)


def _replace(job: StoredJob, worker: str, queue: str, limit: int) -> None:
    """Take the job from wherever it was, and tell who has to know."""
    tx, jid = job.tx, job.jid
    old_queue, old_worker = job.fields.get("queue"), job.fields.get("worker")
    if "tags" in job.fields:
        tags.unindex(tx, jid, job.tag_list())
    publish_change(tx, jid, event="put", queue=queue)
    job.record(limit, "put", q=queue)
    if old_queue is not None:
        places.leave(tx, old_queue, jid, depends=True)
    if old_worker:
        tx.zrem(tx.keys.worker_jobs(old_worker), jid)
        if old_worker != worker:
            lock_lost(tx, jid, old_worker)
    if job.fields.get("state") == "complete":
        tx.zrem(tx.keys.completed, jid)


def _write(job: StoredJob, queue: str, spec: JobSpec, kept: _Kept) -> None:
    tx = job.tx
    retries = lua.argument(kept.retries)
    if kept.tags:
        tags.index(tx, job.jid, names_of(kept.tags))
    job.set(
        *("jid", job.jid, "klass", spec.klass, "data", spec.data),
        *("priority", lua.argument(kept.priority), "tags", lua.encode(kept.tags)),
        *("state", "scheduled" if spec.delay > 0 else "waiting", "worker", "", "expires", "0"),
        *("queue", queue, "retries", retries, "remaining", retries),
        *("time", lua.timestamp(tx.now)),
    )


def _change_dependencies(
    job: StoredJob, dependencies: set[str], states: dict[str | float, str | None]
) -> None:
    """Replace what the job waits for; ``dependencies`` is a live image."""
    tx, keys, jid = job.tx, job.tx.keys, job.jid
    for other in sorted(dependencies - states.keys()):
        tx.srem(keys.dependents(other), jid)
        tx.srem(keys.dependencies(jid), other)
    # a job can wait for itself: what counts is the state just written
    own = {other: job.fields["state"] for other in states if lua.concat(other) == jid}
    wait_for(tx, jid, states | own)


def _place(job: StoredJob, queue: str, delay: float, priority: float, *, waits: bool) -> None:
    tx, keys, jid = job.tx, job.tx.keys, job.jid
    if waits:
        tx.zadd(keys.depends(queue), tx.now, jid)
        job.set("state", "depends")
        if delay > 0:
            job.set("scheduled", lua.argument(tx.now + delay))
    elif delay > 0:
        tx.zadd(keys.scheduled(queue), tx.now + delay, jid)
    else:
        places.enqueue(tx, queue, jid, priority)
