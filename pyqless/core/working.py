# SPDX-License-Identifier: MIT
"""What a worker's loop does between two jobs, in one transaction: it finishes one and takes the next."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from pyqless.core import busyness, letting_go, records
from pyqless.core.candidates import head_reads, shown_reads
from pyqless.core.chaining import in_turn
from pyqless.core.completing import Next, advance, complete
from pyqless.core.dependencies import state_reads
from pyqless.core.effects import Command, Continue, Factory, FollowedBy, Transition
from pyqless.core.foreseeing import completion_reads, pop_opening
from pyqless.core.models import Job
from pyqless.core.patching import widened
from pyqless.core.popping import pop
from pyqless.core.statistics import Sampler
from pyqless.core.transaction import Transaction

__all__ = ["Turn", "complete_and_pop"]


class Turn(NamedTuple):
    """The end of one job, and the beginning of the next."""

    #: ``complete``, or the state of a job that went on: ``waiting``, ``scheduled`` or ``depends``
    state: str
    #: the next job, if there is one
    jobs: list[Job]


def complete_and_pop(
    tx: Transaction,
    jid: str,
    worker: str,
    queue: str,
    data: str,
    *,
    to: Next | None = None,
    source: str | None = None,
) -> Transition[Turn | Continue | FollowedBy]:
    """
    Complete a job, then hand the worker the next one, as ``complete`` and ``pop`` do.

    Args:
        to: where the job goes on.
        source: the queue that the next job comes from; that of the job unless given.

    Raises:
        QlessError: what ``complete`` and ``pop`` raise; then neither is done.
    """
    source = queue if source is None else source
    finish: Factory[Any] = (
        partial(complete, jid=jid, worker=worker, queue=queue, data=data)
        if to is None
        else partial(advance, jid=jid, worker=worker, queue=queue, data=data, to=to)
    )
    busyness.notice(tx, source)
    if tx.memory is not None:  # else the store is at hand, and no round trip to be saved
        guarded, free = _reads(tx, jid, queue, source)
        parents = [] if to is None else state_reads(tx.keys, to.depends)
        turn = busyness.turn(tx, source)
        yield from tx.preload(*guarded, *parents, free=free, last=False, turn=turn)
    finished = yield from finish(tx)
    taken = yield from pop(tx, source, worker, 1)
    _foresee(tx, source, taken)
    return _turn(finished, taken)


def _reads(
    tx: Transaction, jid: str, queue: str, source: str
) -> tuple[list[Command], list[Command]]:
    """What completing a job and then popping another will read first, guarded and free."""
    keys = tx.keys
    guarded, free = completion_reads(tx, jid, Sampler.of(tx, "run", queue))
    heads = head_reads(keys, source, 1, busyness.spread(tx, source))
    if source == queue:
        # the job that is completed is struck off first
        recur = keys.recur(queue)
        heads = tuple(read if read[1] == recur else widened(read, 1) for read in heads)
    return [*guarded, *pop_opening(keys, source)], [*free, *heads, letting_go.look(keys)]


def _turn(finished: Any, taken: Any) -> Turn | Continue | FollowedBy:
    if isinstance(taken, Continue):
        return Continue(partial(_turned, finished=finished, take=taken.rest))
    rests = [value.rest for value in (finished, taken) if isinstance(value, FollowedBy)]
    state = finished.value if isinstance(finished, FollowedBy) else finished
    turn = Turn(state, taken.value if isinstance(taken, FollowedBy) else taken)
    return FollowedBy(turn, in_turn(*rests)) if rests else turn


def _turned(
    tx: Transaction, finished: Any, take: Factory[Any]
) -> Transition[Turn | Continue | FollowedBy]:
    return _turn(finished, (yield from take(tx)))


def _foresee(tx: Transaction, queue: str, taken: Any) -> None:
    """Foresee the next turn, if it is known which job will be taken then."""
    jobs = taken.value if isinstance(taken, FollowedBy) else taken
    following = (tx.memory or {}).get(("next", queue))
    if isinstance(jobs, Continue) or len(jobs) != 1 or following is None:
        return
    keys, wait = tx.keys, Sampler.of(tx, "wait", queue)
    if wait.defers:
        return
    guarded, free = _reads(tx, jobs[0].jid, queue, queue)
    run = Sampler.of(tx, "run", queue)
    tx.foresee(
        "turn:" + queue,
        *guarded,
        *free,
        *wait.guarded(),
        *records.reads(keys, following),
        ("ZSCORE", keys.work(queue), following),
        *shown_reads(keys, following),
        *wait.free(),
        ("HGETALL", keys.config),
        aging=(keys.completed, run.pending, wait.pending, keys.letting_go),
    )
