# SPDX-License-Identifier: MIT
"""
What a queue could hand out: the heads of its sorted sets, and the jobs that stand there.

The heads are read without guards, by rank and never by the moment. Then every job that may be chosen
is guarded and looked up again in its place; if it has moved in between, the attempt starts afresh.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

from pyqless.core import history
from pyqless.core.effects import Command, Replies, raise_first
from pyqless.core.keys import Keys
from pyqless.core.models import Job
from pyqless.core.records import StoredJob
from pyqless.core.transaction import Transaction
from pyqless.errors import DanglingEntry, StoreCorrupted

__all__ = [
    "Candidate",
    "Heads",
    "Place",
    "found_in",
    "found_or_fault",
    "head_reads",
    "order_of",
    "set_aside",
    "shown_reads",
]

#: members with their scores
Scored: TypeAlias = list[tuple[str, float]]

#: more than stand in any set, and a rank for the store
_MANY = 2**31

#: seconds after which a damaged entry is looked at again
_ASIDE = 60.0


class Heads(NamedTuple):
    """The heads of a queue's sets: those that are due, the longest due first, and those that wait."""

    expired: Scored
    recurring: Scored
    scheduled: Scored
    work: Scored

    @classmethod
    def of(cls, replies: Replies, now: float) -> Heads:
        """The replies to ``head_reads``, less what is not due yet."""
        locks, recurring, scheduled, work = replies
        if not (locks or recurring or scheduled):
            return cls([], [], [], work)

        def due(head: Scored) -> Scored:
            return [entry for entry in head if entry[1] <= now]

        return cls(due(locks), due(recurring), due(scheduled), work)

    def first(self, count: int) -> Heads:
        """Shorter heads; the same for a negative count, as in a ``LIMIT``."""
        return self if count < 0 else Heads(*(head[:count] for head in self))


def head_reads(keys: Keys, queue: str, count: float, spread: int = 1) -> tuple[Command, ...]:
    """
    The reads that ``Heads`` is made of.

    They come in the order in which jobs move: from expired locks, from recurring jobs and from delays to those that
    wait. So a job that was ready all the while is seen in one of them, whatever others do between the reads.

    Args:
        count: how many of each, at least one; a negative one means all. Of the recurring jobs one more, which shows
            which comes next.
            Sets whose scores are moments are read from 0 on: the core never finds negative ones due.
        spread: how many of the waiting jobs; one more than ``count`` at least, which shows who goes next.
    """
    number = max(-1, min(int(count), _MANY)) or 1
    last = number - 1 if number > 0 else -1
    last_waiting = max(number, spread - 1) if number > 0 else -1
    upcoming = number + 1 if number > 0 else -1
    limit = ("WITHSCORES", "LIMIT", 0, number)
    return (
        ("ZRANGE", keys.locks(queue), 0, last, "WITHSCORES"),
        ("ZRANGEBYSCORE", keys.recur(queue), 0, "+inf", "WITHSCORES", "LIMIT", 0, upcoming),
        ("ZRANGEBYSCORE", keys.scheduled(queue), 0, "+inf", *limit),
        ("ZREVRANGE", keys.work(queue), 0, last_waiting, "WITHSCORES"),
    )


class Place(NamedTuple):
    """Where an entry stands."""

    #: a sorted set of the queue
    key: str
    member: str
    score: float


class Candidate:
    """A job that may be handed out, with all that is shown of it then."""

    __slots__ = ("dependencies", "dependents", "job", "tracked")

    def __init__(
        self, job: StoredJob, dependents: set[str], dependencies: set[str], tracked: float | None
    ) -> None:
        self.job = job
        self.dependents = dependents
        self.dependencies = dependencies
        self.tracked = tracked

    def view(self) -> Job:
        """The job as it is now."""
        return Job(
            self.job.fields,
            self.job.entries,
            self.dependents,
            self.dependencies,
            tracked=self.tracked is not None,
        )

    def check(self) -> None:
        """
        Make sure that the job can be shown.

        Raises:
            DanglingEntry: there is no such job.
            CorruptedJob: its fields make no sense; the Lua core would fail on them.
        """
        job = self.job
        if "jid" not in job.fields:
            raise DanglingEntry(
                f"a queue names job {job.jid!r}, which is not there",
                argument=job.tx.keys.job(job.jid),
            )
        history.migrate(job.tx, job.jid, job.fields)
        self.view().check()


def shown_reads(keys: Keys, jid: str) -> tuple[Command, ...]:
    """The free reads that a ``Candidate`` is made of, behind those of its ``StoredJob``."""
    return (
        ("SMEMBERS", keys.dependents(jid)),
        ("SMEMBERS", keys.dependencies(jid)),
        ("ZSCORE", keys.tracked, jid),
    )


#: What was found under a jid: a candidate, or why there is none.
Found: TypeAlias = "Candidate | StoreCorrupted"


def found_in(tx: Transaction, jid: str, replies: Replies) -> Candidate:
    """
    The candidate that replies to ``records.reads`` and ``shown_reads`` make.

    Raises:
        StoreCorrupted: one of the keys is of another type.
    """
    raise_first(replies)
    fields, entries, *rest = replies
    return Candidate(StoredJob(tx, jid, fields, entries), *rest)


def found_or_fault(tx: Transaction, jid: str, replies: Replies) -> Found:
    """As ``found_in``, but with what is wrong in its place."""
    try:
        return found_in(tx, jid, replies)
    except StoreCorrupted as fault:
        return fault


def order_of(work: Scored, added: dict[str, float], removed: set[str]) -> Scored:
    """
    The order in which jobs go, once what is due has been dealt with.

    Args:
        work: the head of the waiting jobs, long enough for all of ``added`` and ``removed``.
        added: the scores of jobs that have come to wait.
        removed: jids that wait no more.
    """
    scores = {jid: score for jid, score in work if jid not in removed} | added
    return sorted(
        scores.items(),
        key=lambda entry: (entry[1], entry[0].encode("utf-8", "surrogateescape")),
        reverse=True,
    )


def set_aside(tx: Transaction, queue: str, place: Place, fault: StoreCorrupted) -> bool:
    """
    Report an entry that cannot be handed out, and move it out of the way of the others.

    An entry without a job is removed; a damaged job is kept, to be looked at again when
    nothing else waits or, in sets whose scores are moments, a minute later.

    Returns:
        bool: whether the entry stood in the way of others.
    """
    tx.reports.append(fault)
    if isinstance(fault, DanglingEntry):
        tx.zrem(place.key, place.member)
        return True
    later = -math.inf if place.key == tx.keys.work(queue) else tx.now + _ASIDE
    tx.zadd(place.key, later, place.member)
    return place.score != later
