# SPDX-License-Identifier: MIT
"""Recurring jobs: their settings (recurring.lua), and the jobs that they make when they are due (check_recurring)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from pyqless.core import lua
from pyqless.core.effects import Transition
from pyqless.core.fields import Tags, names_of, with_more
from pyqless.core.models import RecurringJob
from pyqless.core.transaction import Stale, Transaction
from pyqless.errors import CorruptedJob, InvalidArgument, RecurringJobNotFound

__all__ = ["RecurSpec", "get", "recur", "tag", "unrecur", "untag", "update"]


class RecurSpec(NamedTuple):
    """What a recurring job is made of."""

    klass: str
    #: JSON text
    data: str
    #: seconds from one run to the next, above 0
    interval: float
    #: seconds until the first run
    offset: float
    priority: float
    #: JSON value, as it was given; a list of texts or numbers, if its jobs are to be of any use
    tags: Any
    retries: float
    #: how many overdue runs are caught up at most, the last ones; 0: all
    backlog: float


def recur(tx: Transaction, queue: str, jid: str, spec: RecurSpec) -> Transition[str]:
    """
    Let a queue make a job every so often (QlessQueue:recur).

    A recurring job of the same jid is replaced; its children's numbers go on.

    Returns:
        str: the jid.
    """
    keys = tx.keys
    key = keys.recurring_job(jid)
    ((count, old_queue),) = yield from tx.read(("HMGET", key, "count", "queue"), last=True)
    if old_queue is not None:
        tx.zrem(keys.recur(old_queue), jid)
    tx.hset(
        key,
        *("jid", jid, "klass", spec.klass, "data", spec.data),
        *("priority", lua.argument(spec.priority), "tags", lua.encode(spec.tags)),
        *("state", "recur", "queue", queue, "type", "interval"),
        *("count", "0" if count is None else count, "interval", lua.argument(spec.interval)),
        *("retries", lua.argument(spec.retries), "backlog", lua.argument(spec.backlog)),
    )
    tx.zadd(keys.recur(queue), tx.now + spec.offset, jid)
    tx.zadd_new(keys.queues, tx.now, queue)
    return jid


def unrecur(tx: Transaction, jid: str) -> Transition[bool]:
    """Let a recurring job make no more jobs, and forget it; true also where there is none."""
    key = tx.keys.recurring_job(jid)
    (queue,) = yield from tx.read(("HGET", key, "queue"), last=True)
    if queue is not None:
        tx.zrem(tx.keys.recur(queue), jid)
        tx.delete(key)
    return True


def get(tx: Transaction, jid: str) -> Transition[RecurringJob | None]:
    """A recurring job, or None."""
    (fields,) = yield from tx.snapshot(("HGETALL", tx.keys.recurring_job(jid)))
    return RecurringJob(fields) if "jid" in fields else None


def tag(tx: Transaction, jid: str, new: list[str]) -> Transition[Tags]:
    """
    Add tags to a recurring job, for the jobs that it will make; one named twice is added twice.

    Returns:
        all its tags.

    Raises:
        RecurringJobNotFound: there is no such recurring job.
    """
    present = yield from _tags(tx, jid, "Tag")
    known = names_of(present)
    changed = with_more(present, [tag for tag in new if tag not in known])
    tx.hset(tx.keys.recurring_job(jid), "tags", lua.encode(changed))
    return changed


def untag(tx: Transaction, jid: str, old: list[str]) -> Transition[list[str | float]]:
    """
    Take tags from a recurring job.

    Returns:
        list: the tags it keeps.

    Raises:
        RecurringJobNotFound: there is no such recurring job.
    """
    present = yield from _tags(tx, jid, "Untag")
    kept = [tag for tag in names_of(present) if tag not in old]
    tx.hset(tx.keys.recurring_job(jid), "tags", lua.encode(kept))
    return kept


def _tags(tx: Transaction, jid: str, call: str) -> Transition[Tags]:
    key = tx.keys.recurring_job(jid)
    (text,) = yield from tx.read(("HGET", key, "tags"), last=True)
    if text is None:
        raise not_found(jid, f"{call}(): Job {jid} does not exist")
    job = RecurringJob({"jid": jid, "tags": text})
    tags = job.json("tags")
    if not isinstance(tags, list | dict):
        raise job.corrupted("tags")
    return tags  # whatever they are: only a job that is made bears them


def not_found(jid: str, lua_text: str) -> RecurringJobNotFound:
    """The error that says that there is no such recurring job."""
    message = f"there is no recurring job {jid!r}"
    return RecurringJobNotFound(message, argument="jid", value=jid, lua=lua_text)


# -- changing settings ------------------------------------------------------------------------


def update(tx: Transaction, jid: str, changes: list[tuple[str, str | None]]) -> Transition[bool]:
    """
    Change settings of a recurring job, one after another.

    Args:
        changes: names (``priority``, ``interval``, ``retries``, ``data``, ``klass``, ``queue``,
            ``backlog``) and values as text; a new interval moves the next run by the difference.

    Raises:
        RecurringJobNotFound: there is no such recurring job.
        InvalidArgument: a name or a value is no good; then nothing is changed.
    """
    key = tx.keys.recurring_job(jid)
    moves = any(name == "queue" for name, _ in changes)
    (fields,) = yield from tx.read(("HGETALL", key), last=not moves)
    if not fields:
        raise not_found(jid, f"Recur(): No recurring job {jid}")
    job = RecurringJob({"jid": jid} | fields)
    score = None
    if moves:
        score = yield from _next_run(tx, jid, job.text("queue"))
    for name, value in changes:
        score = _change(tx, jid, fields, score, name, value)
    return True


def _next_run(tx: Transaction, jid: str, queue: str) -> Transition[float | None]:
    """When a recurring job makes its next job, Unix time, seconds; None if it does not stand in its queue."""
    place = ("ZSCORE", tx.keys.recur(queue), jid)
    score: float | None
    (score,) = yield from tx.read(place, last=True)
    if score is None:
        # what follows is an error, and no commit that would tell if the job has moved since its hash was read
        seen = yield from tx.snapshot(("HGET", tx.keys.recurring_job(jid), "queue"), place)
        if seen != [queue, None]:
            raise Stale
    return score


def _change(
    tx: Transaction,
    jid: str,
    fields: dict[str, str],
    score: float | None,
    name: str,
    value: str | None,
) -> float | None:
    """Carry out one change; returns the moment of the next run, as far as it is known."""
    keys = tx.keys
    key = keys.recurring_job(jid)
    text = _setting(name, value)
    recurring = RecurringJob({"jid": jid} | fields)
    queue = keys.recur(recurring.text("queue")) if name in ("interval", "queue") else ""
    if name == "interval":
        difference = float(text) - recurring.number("interval")
        tx.zincrby(queue, difference, jid)
        score = None if score is None else score + difference
    if name == "queue":
        if score is None:
            message = f"recurring job {jid!r} does not stand in its queue"
            raise CorruptedJob(message, argument=queue)
        tx.zrem(queue, jid)
        tx.zadd(keys.recur(text), score, jid)
        tx.zadd_new(keys.queues, tx.now, text)
    tx.hset(key, name, text)
    return score


def _setting(name: str, value: str | None) -> str:
    """A setting's text as the hash keeps it."""
    if value is None:
        raise _invalid(name, value, "is missing", f"No value provided for {name}")
    if name in ("klass", "queue"):
        return value
    if name == "data":
        return _json(value)
    if name in ("priority", "interval", "retries", "backlog"):
        wording = "not a number" if name == "backlog" else "must be a number"
        number = lua.to_number(value)
        if number is None:
            text = f'Recur(): Arg "{name}" {wording}: {value}'
            raise _invalid(name, value, "must be a number", text)
        if not math.isfinite(number):
            raise _invalid(name, value, "must be finite", None)
        return lua.argument(number)
    raise InvalidArgument(
        f"a recurring job has no setting {name!r}",
        argument=name,
        value=value,
        lua=f'Recur(): Unrecognized option "{name}"',
    )


def _json(value: str) -> str:
    try:
        decoded = lua.decode(value)
    except lua.JSONError as error:
        raise _invalid("data", value, "must be JSON", None) from error
    if decoded is False:
        text = f'Recur(): Arg "data" is not JSON-encoded: {value}'
        raise _invalid("data", value, "must not be false", text)
    return value


def _invalid(name: str, value: Any, fault: str, lua_text: str | None) -> InvalidArgument:
    return InvalidArgument(f"{name} {fault}: {value!r}", argument=name, value=value, lua=lua_text)
