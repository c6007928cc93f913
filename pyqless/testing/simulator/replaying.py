# SPDX-License-Identifier: MIT
"""The committed transactions one after the other: each must come to what it came to in the run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyqless.testing.simulator.history import Attempt, Call, Commit, History, Restart, Unit
from pyqless.testing.simulator.model import Model, Outcome, same_reply, told
from pyqless.testing.simulator.promises import Order, forgotten_rightly, taken_rightly

__all__ = ["replay"]


@dataclass(eq=False)
class _Sometime:
    """What must be true at some moment between two."""

    first: int
    last: int
    text: str
    attempt: Attempt

    def holds(self, model: Model) -> bool:
        """Whether it is true now."""
        raise NotImplementedError


@dataclass(eq=False)
class _Seen(_Sometime):
    """Some reads saw one state."""

    unit: Unit

    def holds(self, model: Model) -> bool:
        """Whether they would see it now."""
        return model.shows(self.unit)


@dataclass(eq=False)
class _Answered(_Sometime):
    """
    An answer without a commit is what the call comes to.

    One batch of reads is not confirmed. Where others came between them, each must have been true by itself.
    """

    def __post_init__(self) -> None:
        self._unseen = self.attempt.unconfirmed

    def holds(self, model: Model) -> bool:
        """Whether the call comes to it now."""
        if _agree(self.attempt, model.outcome(self.attempt)):
            return True
        if not self._unseen:
            return False
        self._unseen = [unit for unit in self._unseen if not model.shows(unit)]
        return not self._unseen


def _agree(attempt: Attempt, outcome: Outcome) -> bool:
    if attempt.error is not None:
        return outcome.error == told(attempt.error)
    return (
        outcome.error is None
        and same_reply(outcome.reply, attempt.reply)
        and outcome.writes == attempt.writes
    )


def replay(history: History, model: Model) -> Iterator[str]:
    """
    Carry out on a model what was committed, in this order; say what differs.

    Args:
        model: an empty one; in the end it holds what should be stored.
    """
    open_ = sorted(_obligations(history), key=lambda each: each.first)
    orders = Order.of(history)
    position = 0
    pending: list[_Sometime] = []
    for number in range(len(history.events) + 1):
        while position < len(open_) and open_[position].first <= number:
            pending.append(open_[position])
            position += 1
        pending = [each for each in pending if not each.holds(model)]
        for late in [each for each in pending if each.last <= number]:
            yield f"{late.text}: {late.attempt.call}"
        pending = [each for each in pending if each.last > number]
        if number == len(history.events):
            return
        event = history.events[number]
        for order in orders:
            yield from order.look(model, number)
        if isinstance(event, Commit):
            yield from taken_rightly(model, event)
            yield from forgotten_rightly(history, event)
            yield from _commit(model, event.attempt)
        elif isinstance(event, Restart):
            model.restart(event.kept)


def _commit(model: Model, attempt: Attempt) -> Iterator[str]:
    outcome = model.apply(attempt)
    if not _agree(attempt, outcome):
        expected = outcome.error or outcome.reply
        yield f"committed where it comes to {expected!r}, by itself: {attempt.call}"


# -- what need not be true at the commit ------------------------------------------------------


def _obligations(history: History) -> Iterator[_Sometime]:
    for call in history.calls:
        for attempt in call.attempts:
            for number in _ends(attempt):
                text = "what it read was true at no moment"
                for unit in attempt.units:
                    yield _Seen(attempt.begin, number, f"{text}: {unit}", attempt, unit)
        if (last := _answered(call)) is not None and call.end is not None:
            yield _Answered(last.begin, call.end, "its answer was true at no moment", last)


def _ends(attempt: Attempt) -> Iterator[int]:
    """Until when what an attempt read must have been true."""
    if attempt.commits:
        yield attempt.commits[0].number
    elif attempt is _answered(attempt.call) and attempt.call.end is not None:
        yield attempt.call.end


def _answered(call: Call) -> Attempt | None:
    """The attempt that gave a call its answer without a commit."""
    attempts = [attempt for attempt in call.attempts if attempt.link >= 0]
    if call.end is None or not attempts:
        return None
    last = attempts[-1]
    if call.error is not None:
        return last if last.error is call.error else None
    return None if last.writes else last
