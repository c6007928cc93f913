# SPDX-License-Identifier: MIT
"""How a queue hands out jobs (pop in queue.lua), and how it shows what it would hand out (peek)."""

from __future__ import annotations

from typing import Final

from pyqless.core import busyness, expecting, letting_go, lua, popping_many
from pyqless.core.candidates import Candidate, head_reads
from pyqless.core.chaining import followed
from pyqless.core.effects import Continue, FollowedBy, Transition, raise_first
from pyqless.core.expecting import Expected
from pyqless.core.foreseeing import another_pop, completion, pop_reads, pop_settings
from pyqless.core.handing_out import allowed, hand_out
from pyqless.core.line import Line
from pyqless.core.models import Job
from pyqless.core.paging import whole
from pyqless.core.popping_many import pop_many
from pyqless.core.settings import Settings
from pyqless.core.statistics import Sampler
from pyqless.core.transaction import Transaction
from pyqless.errors import InvalidSetting

__all__ = ["peek", "pop"]


def pop(
    tx: Transaction, queue: str, worker: str, count: float
) -> Transition[list[Job] | Continue | FollowedBy]:
    """
    Hand jobs to a worker.

    First those whose lock has expired; then, by priority, the waiting ones,
    among them what recurring jobs make now and what was delayed until now.

    Args:
        count: how many at most; the core's ways with negative ones are kept.

    Returns:
        list: the jobs as they are now; one that stands in two places comes twice, as from the core.
        Fewer than there are come only where damaged entries stood in the way.
    """
    if count > popping_many.MANY and lua.integer_argument(count) is not None:
        return (yield from pop_many(tx, queue, worker, count))
    busyness.notice(tx, queue)
    sampler = Sampler.of(tx, "wait", queue)
    turn = busyness.turn(tx, queue)
    # others will have dealt with it when its turn comes
    expected = expecting.NOTHING if turn else expecting.expected(tx, queue, count)
    lookup = expected.lookup(tx.keys, queue)
    guarded, free = pop_reads(tx, queue, count, lookup, sampler)
    last = expected.is_all or (lookup is None and expecting.expects_none(tx, queue))
    replies = yield from tx.read(*guarded, free=free, last=last, tolerant=True, turn=turn)
    texts, paused, *known = replies[: len(guarded)]
    *heads, owed = replies[len(guarded) : len(guarded) + _HEADS]
    raise_first([texts, paused, *heads, owed])
    expecting.note_head(tx, queue, heads[1])
    settings = Settings(pop_settings(queue), texts)
    expires = tx.now + settings.heartbeat(queue)
    if paused:
        return []
    number = yield from allowed(tx, queue, settings, count)
    if number == 0:
        tx.zadd(tx.keys.workers, tx.now, worker)
        return []
    known += replies[len(guarded) + _HEADS :]
    looked_up = None if lookup is None else lookup.known(tx, sampler.take(known))
    line = Line(tx, queue, number, settings, known=looked_up)
    yield from line.load(heads, sampler if lookup is None else None)
    tx.zadd(tx.keys.workers, tx.now, worker)
    handed = line.invalidate_locks()
    handed += yield from line.take(number - len(handed))
    if line.obstructed and not handed:
        return Continue(lambda tx: _pop_again(tx, queue, worker, count))
    hand_out(tx, queue, worker, handed, expires=expires, settings=settings, sampler=sampler)
    _note(tx, queue, expected, line, handed)
    if not handed:
        another_pop(tx, queue, count)
    elif len(handed) == 1:
        completion(tx, handed[0].job.jid, queue)
    jobs = [candidate.view() for candidate in handed]
    rest = sampler.housekeeping()
    return followed(jobs, letting_go.take_up_some if owed else None, rest if jobs else None)


#: how many reads the heads of a queue take, and the look at what is owed
_HEADS: Final = 5


def _note(
    tx: Transaction, queue: str, expected: Expected, line: Line, handed: list[Candidate]
) -> None:
    """Note for later pops what this one has seen."""
    jid = expected.favourite
    was_wrong = jid is not None and jid not in [candidate.job.jid for candidate in handed]
    expecting.note_next(tx, queue, line.runner_up and line.runner_up[0], was_wrong=was_wrong)
    if line.known.recurring:
        expecting.note_children(tx, line.known.recurring)


def _pop_again(
    tx: Transaction, queue: str, worker: str, count: float
) -> Transition[list[Job] | Continue | FollowedBy]:
    """Go on behind what was in the way; this call has changed things, so a bad setting is left to the next to tell."""
    try:
        return (yield from pop(tx, queue, worker, count))
    except InvalidSetting:
        tx.drop_writes()
        return []


def peek(tx: Transaction, queue: str, count: float) -> Transition[list[Job]]:
    """
    Show the jobs that pop would look at first; what is due is made and promoted by it all the same.

    Args:
        count: how many at most.
    """
    number = whole("count", count)
    if number == 0:
        return []
    names = ("max-job-history",)
    reads = head_reads(tx.keys, queue, number)
    texts, *replies = yield from tx.read(Settings.read(tx.keys, names), free=reads)
    line = Line(tx, queue, number, Settings(names, texts), shows=True)
    yield from line.load(replies)
    shown = line.stalled()
    shown += yield from line.take(number - line.expired)
    return [candidate.view() for candidate in shown]
