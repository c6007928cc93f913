# SPDX-License-Identifier: MIT
"""
Many calls in one transaction: each as if it were made by itself, one after the other at one moment.

What they read first is read at once. Each has its own outcome; one that fails contributes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from pyqless.core.chaining import followed
from pyqless.core.effects import Batch, Continue, Factory, FollowedBy, Transition
from pyqless.core.statistics import enter_gathered
from pyqless.core.transaction import LOOKS, Transaction
from pyqless.errors import QlessError

__all__ = ["Outcome", "together"]

#: the value of a call, or why it failed
Outcome: TypeAlias = Any | QlessError


class _Course(NamedTuple):
    """How far a batch has come."""

    #: the calls of each transaction that is to come
    parts: tuple[Sequence[Factory[Any]], ...]
    #: whether a call that fails makes all fail
    all_or_nothing: bool
    #: the outcomes of those that have been
    done: tuple[list[Outcome], ...] = ()
    #: what is to follow the last one
    after: tuple[Factory[Any], ...] = ()


def together(
    calls: Sequence[Factory[Any]], *, size: int, all_or_nothing: bool = False
) -> Factory[Any]:
    """
    One transition of many calls, none of which is a chain that its value depends on.

    Completed jobs that are too old are deleted once, behind the last of them.

    Args:
        size: how many go into one transaction; more go into several, one after the other.
        all_or_nothing: let the first error fail them all; then there must be no more than ``size``.

    Returns:
        a transition whose value is the list of their outcomes.
    """
    parts = tuple(calls[start : start + size] for start in range(0, len(calls), size))
    return partial(_link, course=_Course(parts or ((),), all_or_nothing))


def _link(tx: Transaction, course: _Course) -> Transition[list[Outcome] | Continue | FollowedBy]:
    """Carry out the calls of one transaction."""
    part, *parts = course.parts
    tx.batched = tx.gathers = True
    begun = [_begin(tx, call) for call in part]
    yield from _preload(tx, [call.first for call in begun if call.first is not None])
    values: list[Outcome] = []
    after = dict.fromkeys(course.after)
    for number, call in enumerate(begun, 1):
        tx.foresees = number == len(begun) and tx.memory is not None
        value = yield from _outcome(tx, call, all_or_nothing=course.all_or_nothing)
        if isinstance(value, FollowedBy):
            after[value.rest] = None
            value = value.value
        values.append(value)
        if tx.looks > LOOKS and not course.all_or_nothing:
            break
    enter_gathered(tx)
    done = (*course.done, values)
    if len(values) < len(part):
        parts = [part[len(values) :], *parts]
    if parts:
        _foresee(tx, begun[0].first)
        rest = _Course(tuple(parts), course.all_or_nothing, done, tuple(after))
        return Continue(partial(_link, course=rest))
    return followed([*chain.from_iterable(done)], *after)


def _foresee(tx: Transaction, first: Batch | None) -> None:
    """Let what is foreseen be what the next calls will read: that which these have read, or else nothing."""
    if tx.ahead is not None and not (first and {*first.reads} <= {*tx.ahead.reads}):
        tx.ahead = None


class _Begun(NamedTuple):
    """A call that is under way."""

    steps: Transition[Any]
    #: what it waits for the replies to; None where it is to take its first step when it is its turn
    first: Batch | None


def _begin(tx: Transaction, call: Factory[Any]) -> _Begun:
    """
    Begin a call, as far as to what it reads first.

    One that ends before that, looks at one instant, or stages something first waits for its turn.
    """
    steps = call(tx)
    try:
        first = next(steps)
        if not (first.snapshot or tx.writes):
            return _Begun(steps, first)
    except (StopIteration, QlessError):
        pass
    steps.close()
    tx.drop_writes()
    return _Begun(call(tx), None)


def _preload(tx: Transaction, batches: Sequence[Batch]) -> Transition[None]:
    """Read at once what calls read first."""
    guarded = dict.fromkeys(chain(*(batch.reads[: batch.guarded] for batch in batches)))
    free = dict.fromkeys(chain(*(batch.reads[batch.guarded :] for batch in batches)))
    if batches:
        others = [read for read in free | tx.beside if read not in guarded]
        yield from tx.preload(*guarded, free=others)


def _outcome(
    tx: Transaction, call: _Begun, *, all_or_nothing: bool
) -> Transition[Outcome | FollowedBy]:
    staged, reported, sampled = len(tx.writes), len(tx.reports), len(tx.samples)
    try:
        # a generator is begun by sending it None
        replies: Any = None if call.first is None else (yield from tx.recall(call.first))
        while True:
            replies = yield call.steps.send(replies)
    except StopIteration as end:
        return end.value
    except QlessError as fault:
        if all_or_nothing:
            raise
        tx.rewind(staged)
        del tx.reports[reported:], tx.samples[sampled:]
        return fault
