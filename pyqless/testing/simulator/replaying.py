# SPDX-License-Identifier: MIT
"""The committed transactions one after the other: each must come to what it came to in the run."""

from __future__ import annotations

from collections.abc import Iterator

from pyqless.testing.simulator.history import Attempt, Commit, History, Restart, Vanished
from pyqless.testing.simulator.model import Model
from pyqless.testing.simulator.promises import Order, forgotten_rightly, taken_rightly
from pyqless.testing.simulator.sometime import Sometime, agree, obligations

__all__ = ["replay"]


def replay(history: History, model: Model) -> Iterator[str]:
    """
    Carry out on a model what was committed, in this order; say what differs.

    Args:
        model: an empty one; in the end it holds what should be stored.
    """
    open_ = sorted(obligations(history), key=lambda each: each.first)
    is_undisturbed = history.is_undisturbed
    orders = Order.of(history) if is_undisturbed else []
    position = 0
    pending: list[Sometime] = []
    for number in range(len(history.events) + 1):
        while position < len(open_) and open_[position].first <= number:
            pending.append(open_[position])
            position += 1
        pending = [each for each in pending if not each.holds(model)]
        for late in [each for each in pending if each.last <= number]:
            yield f"{late.text}: {late.call}"
        pending = [each for each in pending if each.last > number]
        if number == len(history.events):
            return
        event = history.events[number]
        for order in orders:
            yield from order.look(model, number)
        if isinstance(event, Commit):
            if is_undisturbed:
                yield from taken_rightly(model, event)
                yield from forgotten_rightly(history, event)
            yield from _commit(model, event.attempt, is_undisturbed=is_undisturbed)
        elif isinstance(event, Restart):
            model.restart(event.kept)
        elif isinstance(event, Vanished):
            model.lose(event.key)


def _commit(model: Model, attempt: Attempt, *, is_undisturbed: bool) -> Iterator[str]:
    outcome = model.apply(attempt)
    # a place is made sure by the job that stands there: not where that, or the place itself, has vanished
    is_excused = outcome.is_stale and not is_undisturbed
    if not is_excused and not agree(attempt, outcome):
        expected = outcome.error or outcome.reply
        yield f"committed where it comes to {expected!r}, by itself: {attempt.call}"
