# SPDX-License-Identifier: MIT
"""Dependencies: which jobs wait for which (QlessJob:depends), and how one that waits no more is let go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pyqless.core import lua
from pyqless.core.effects import Command, Transition
from pyqless.core.keys import Keys
from pyqless.core.places import enqueue
from pyqless.core.records import StoredJob
from pyqless.core.transaction import Transaction
from pyqless.errors import InvalidArgument, NotDepending

__all__ = ["depends", "free", "let_go", "state_reads", "wait_for"]


def state_reads(keys: Keys, jids: Iterable[str | float]) -> list[Command]:
    """The reads that tell whether jobs can be waited for; guarded, since none may end unnoticed."""
    return [("HGET", keys.job(lua.concat(jid)), "state") for jid in jids]


def wait_for(tx: Transaction, jid: str, states: Mapping[str | float, str | None]) -> int:
    """
    Let a job wait for others.

    Args:
        states: the others' states; those that are complete or not there are not waited for.

    Returns:
        int: how many it waits for.
    """
    pending = [other for other, state in states.items() if state not in (None, "complete")]
    for other in pending:
        tx.sadd(tx.keys.dependents(lua.concat(other)), jid)
        tx.sadd(tx.keys.dependencies(jid), lua.argument(other))
    return len(pending)


def depends(tx: Transaction, jid: str, command: str, others: Sequence[str]) -> Transition[bool]:
    """
    Change what a job waits for.

    Args:
        command: ``on`` or ``off``.
        others: jids; after ``off``, a first ``all`` means all.

    Raises:
        NotDepending: the job waits for nothing.
        InvalidArgument: the command is unknown.
    """
    keys = tx.keys
    adds = command == "on"
    others_or_own = state_reads(keys, others) if adds else [("SMEMBERS", keys.dependencies(jid))]
    fields, *found = yield from tx.read(("HGETALL", keys.job(jid)), *others_or_own, last=True)
    job = StoredJob(tx, jid, fields)
    _require_depending(job)
    if adds:
        wait_for(tx, jid, dict(zip(others, found, strict=True)))
    elif command == "off":
        _off(job, found[0], others)
    else:
        raise InvalidArgument(
            f"command must be 'on' or 'off', not {command!r}",
            argument="command",
            value=command,
            lua='Depends(): Argument "command" must be "on" or "off"',
        )
    return True


def _require_depending(job: StoredJob) -> None:
    state = job.fields.get("state")
    if state != "depends":
        shown = "false" if state is None else state
        raise NotDepending(
            f"job {job.jid!r} waits for no other job: its state is {state}",
            argument="state",
            value=state,
            lua=f"Depends(): Job {job.jid} not in the depends state: {shown}",
        )


def _off(job: StoredJob, dependencies: set[str], others: Sequence[str]) -> None:
    """Take away dependencies; ``dependencies`` is a live image."""
    tx, keys = job.tx, job.tx.keys
    everything = list(others[:1]) == ["all"]
    for other in sorted(dependencies) if everything else others:
        tx.srem(keys.dependents(other), job.jid)
        tx.srem(keys.dependencies(job.jid), other)
    if others and not dependencies and "queue" in job.fields:
        queue = job.text("queue")
        tx.zrem(keys.depends(queue), job.jid)
        enqueue(tx, queue, job.jid, job.number("priority"))
        job.set("state", "waiting")


def let_go(child: StoredJob, dependencies: set[str], parent: str) -> None:
    """
    Tell a job that one it waited for is complete; it is let go if that was the last.

    Args:
        dependencies: what it waits for, a live image.

    Raises:
        CorruptedJob: its fields make no sense; it goes on waiting.
    """
    place = _place(child)
    child.tx.srem(child.tx.keys.dependencies(child.jid), parent)
    if not dependencies:
        _put_there(child, place)


def free(child: StoredJob) -> None:
    """
    Let a job wait for others no longer.

    Raises:
        CorruptedJob: its fields make no sense; it goes on waiting.
    """
    _put_there(child, _place(child))


class _Place(NamedTuple):
    """Where a job goes that waits for others no longer."""

    queue: str | None
    priority: float
    due: float | None


def _place(child: StoredJob) -> _Place:
    due = child.number("scheduled") if "scheduled" in child.fields else None
    return _Place(child.fields.get("queue"), child.number("priority", 0.0), due)


def _put_there(child: StoredJob, place: _Place) -> None:
    tx, keys, jid = child.tx, child.tx.keys, child.jid
    queue, priority, due = place
    if queue is None:
        return
    tx.zrem(keys.depends(queue), jid)
    if due is None:
        enqueue(tx, queue, jid, priority)
        child.set("state", "waiting")
    else:
        tx.zadd(keys.scheduled(queue), due, jid)
        child.set("state", "scheduled")
        tx.hdel(keys.job(jid), "scheduled")
