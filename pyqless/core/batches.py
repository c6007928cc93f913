# SPDX-License-Identifier: MIT
"""
Many calls in one transaction: each as if it were made by itself, one after the other at one moment.

What they read first is read at once. Each has its own outcome; one that fails contributes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from pyqless.core.chaining import followed
from pyqless.core.effects import Batch, Continue, Factory, FollowedBy, Transition
from pyqless.core.transaction import Transaction
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
    tx.batched = True
    yield from _preload(tx, part)
    values: list[Outcome] = []
    after = dict.fromkeys(course.after)
    for call in part:
        value = yield from _outcome(tx, call, all_or_nothing=course.all_or_nothing)
        if isinstance(value, FollowedBy):
            after[value.rest] = None
            value = value.value
        values.append(value)
    done = (*course.done, values)
    if parts:
        rest = _Course(tuple(parts), course.all_or_nothing, done, tuple(after))
        return Continue(partial(_link, course=rest))
    return followed([*chain.from_iterable(done)], *after)


def _outcome(
    tx: Transaction, call: Factory[Any], *, all_or_nothing: bool
) -> Transition[Outcome | FollowedBy]:
    staged, reported = len(tx.writes), len(tx.reports)
    try:
        return (yield from call(tx))
    except QlessError as fault:
        if all_or_nothing:
            raise
        tx.rewind(staged)
        del tx.reports[reported:]
        return fault


def _preload(tx: Transaction, calls: Sequence[Factory[Any]]) -> Transition[None]:
    """Read at once what calls will read first."""
    batches = list(_first_batches(tx, calls))
    guarded = dict.fromkeys(read for batch in batches for read in batch.reads[: batch.guarded])
    free = dict.fromkeys(read for batch in batches for read in batch.reads[batch.guarded :])
    if guarded or free:
        others = [read for read in free if read not in guarded]
        yield from tx.preload(*guarded, free=others)


def _first_batches(tx: Transaction, calls: Sequence[Factory[Any]]) -> Iterator[Batch]:
    for call in calls:
        trial = Transaction(tx.now, tx.keys, tx.attempt, tx.memory, tx.chance)
        trial.batched = tx.batched
        with closing(call(trial)) as steps:
            try:
                batch = next(steps)
            except (StopIteration, QlessError):
                continue
            if not batch.snapshot:
                yield batch
