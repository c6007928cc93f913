# SPDX-License-Identifier: MIT
"""Tracked jobs: those whose events are published by name (Qless.track)."""

from __future__ import annotations

from typing import NamedTuple

from pyqless.core.effects import Transition
from pyqless.core.jobs import look
from pyqless.core.models import Job
from pyqless.core.transaction import Transaction
from pyqless.errors import InvalidArgument, JobNotFound, StoreCorrupted

__all__ = ["Tracked", "set_tracking", "tracked"]


class Tracked(NamedTuple):
    """All that is tracked."""

    jobs: list[Job]
    #: jids whose jobs are there no more
    expired: list[str]


def set_tracking(tx: Transaction, action: str, jid: str) -> Transition[int]:
    """
    Begin or end to track a job.

    Args:
        action: ``track`` or ``untrack``, in any case.

    Returns:
        int: 1 if that changed something, else 0.

    Raises:
        JobNotFound: there is no such job.
        InvalidArgument: the action is unknown.
    """
    keys = tx.keys
    exists, since = yield from tx.read(
        ("EXISTS", keys.job(jid)),
        ("ZSCORE", keys.tracked, jid),
        last=True,
    )
    if not exists:
        text = "Track(): Job does not exist"
        raise JobNotFound(f"there is no job {jid!r}", argument="jid", value=jid, lua=text)
    verb = action.lower()
    if verb == "track":
        tx.zadd(keys.tracked, tx.now, jid)
    elif verb == "untrack":
        tx.zrem(keys.tracked, jid)
    else:
        raise InvalidArgument(
            f"action must be 'track' or 'untrack', not {action!r}",
            argument="action",
            value=action,
            lua=f'Track(): Unknown action "{action}"',
        )
    tx.publish(keys.channel(verb), jid)
    return int((since is None) == (verb == "track"))


def tracked(tx: Transaction) -> Transition[Tracked]:
    """All tracked jobs; those read later may be of a slightly later moment."""
    (jids,) = yield from tx.snapshot(("ZRANGE", tx.keys.tracked, 0, -1))
    seen = yield from look(tx, jids)
    tx.reports += [fault for fault in seen if isinstance(fault, StoreCorrupted)]
    return Tracked(
        [job for job in seen if isinstance(job, Job)],
        [jid for jid, job in zip(jids, seen, strict=True) if job is None],
    )
