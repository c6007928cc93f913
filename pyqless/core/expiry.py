# SPDX-License-Identifier: MIT
"""Completed jobs are kept for a while, and so many (jobs-history, jobs-history-count); here the others go."""

from __future__ import annotations

from typing import NamedTuple

from pyqless.core import tags
from pyqless.core.candidates import Scored
from pyqless.core.effects import Command, Continue, Replies, Transition
from pyqless.core.fields import Fields
from pyqless.core.keys import Keys
from pyqless.core.settings import Settings
from pyqless.core.transaction import Stale, Transaction
from pyqless.errors import CorruptedJob

__all__ = [
    "FEW",
    "SETTINGS",
    "Plan",
    "drop",
    "drop_reads",
    "expire",
    "oldest_reads",
    "plan",
]

#: the settings that a plan looks at
SETTINGS = ("jobs-history", "jobs-history-count")

#: how many jobs go together with the completion of another, and how many in a transaction of their own
FEW, MANY = 3, 100


class Plan(NamedTuple):
    """What has to go."""

    #: completed jobs, and the moments of their completion
    going: Scored
    #: whether there may be more than was looked at
    more: bool


def oldest_reads(keys: Keys, count: int) -> tuple[Command, Command]:
    """The reads that show the oldest completed jobs, and how many there are; 0 shows them all."""
    return ("ZRANGE", keys.completed, 0, count - 1, "WITHSCORES"), ("ZCARD", keys.completed)


def plan(oldest: Scored, size: int, now: float, settings: Settings) -> Plan:
    """
    Find out which completed jobs have to go: first by age, then by number.

    Args:
        oldest: some of them, the oldest first.
        size: how many there are in all.
    """
    partial = len(oldest) < size
    if partial and oldest and oldest[0][1] < 0:
        # the core never finds these too old, so that the others do not come first
        return Plan([], more=True)
    cutoff = now - settings.number("jobs-history", 604800.0)
    keep = settings.completed_count()
    aged = [entry for entry in oldest if 0 <= entry[1] <= cutoff]
    others = [entry for entry in oldest if not 0 <= entry[1] <= cutoff]
    excess = size - len(aged) - keep if keep >= 0 else -keep
    going = aged + others[: max(excess, 0)]
    return Plan(going, more=partial and len(going) == len(oldest))


def drop_reads(keys: Keys, going: Scored) -> list[Command]:
    """The reads that ``drop`` wants, guarded: a job that was put again in between must stay."""
    return [("HGET", keys.job(jid), "tags") for jid, _ in going]


def place_reads(keys: Keys, going: Scored) -> list[Command]:
    """The free reads that ``drop`` wants behind the others."""
    return [("ZSCORE", keys.completed, jid) for jid, _ in going]


def drop(tx: Transaction, going: Scored, replies: Replies) -> None:
    """
    Delete completed jobs.

    Raises:
        Stale: one of them is completed no more, or anew.
    """
    keys = tx.keys
    if replies[len(going) :] != [moment for _, moment in going]:
        raise Stale
    for (jid, _), text in zip(going, replies, strict=False):
        try:
            tags.unindex(tx, jid, _tags(jid, text))
        except CorruptedJob as fault:
            tx.reports.append(fault)
        tx.delete(keys.job(jid))
        tx.delete(keys.history(jid))
        tx.zrem(keys.completed, jid)


def _tags(jid: str, text: str | None) -> list[str | float]:
    return Fields.of(jid, {} if text is None else {"tags": text}).tag_list("{}")


def expire(tx: Transaction) -> Transition[Continue | None]:
    """Delete the completed jobs that are too old or too many, a bounded number a transaction."""
    keys = tx.keys
    texts, oldest, size = yield from tx.read(
        Settings.read(keys, SETTINGS), free=oldest_reads(keys, MANY)
    )
    settings = Settings(SETTINGS, texts)
    planned = plan(oldest, size, tx.now, settings)
    if planned.more and not planned.going:
        oldest, size = yield from tx.read(free=oldest_reads(keys, 0))
        planned = plan(oldest, size, tx.now, settings)
    going = planned.going[:MANY]
    if not going:
        return None
    replies = yield from tx.read(*drop_reads(keys, going), free=place_reads(keys, going), last=True)
    drop(tx, going, replies)
    return Continue(expire) if planned.more or len(planned.going) > MANY else None
