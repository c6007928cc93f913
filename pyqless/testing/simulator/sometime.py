# SPDX-License-Identifier: MIT
"""What must have been true at some moment between two: what was read, and what was answered without a commit."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from pyqless.errors import QueueFull
from pyqless.testing.simulator.history import Attempt, Call, History, Unit
from pyqless.testing.simulator.model import Model, Outcome, same_reply, told

__all__ = ["Sometime", "agree", "obligations"]


@dataclass(eq=False)
class Sometime(ABC):
    """What must be true between two events of a history, by their numbers."""

    first: int
    last: int
    text: str
    call: Call

    @abstractmethod
    def holds(self, model: Model) -> bool:
        """Whether it is true now."""


def obligations(history: History) -> Iterator[Sometime]:
    """All that must have been true at some moment."""
    for call in history.calls:
        for attempt in call.attempts:
            for number in _ends(attempt):
                text = "what it read was true at no moment"
                for unit in attempt.units:
                    yield _Seen(attempt.begin, number, f"{text}: {unit}", call, unit)
        if call.end is None:
            continue
        if (last := _answered(call)) is not None:
            yield _Answered(last.begin, call.end, "its answer was true at no moment", call, last)
        if any(attempt.is_astray for attempt in call.attempts):
            continue
        for name, is_excused, text in _EXCUSES if history.is_undisturbed else ():
            if call.name == name and (queue := _without_success(call)):
                yield _Excused(call.begin, call.end, text, call, queue, is_excused)


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
    if last.is_astray:
        return None  # a master that is none any more may tell what is true no more
    if not call.is_done:
        return last if last.error is call.error else None
    return None if last.writes else last


# -- as the rules have it ---------------------------------------------------------------------


@dataclass(eq=False)
class _Seen(Sometime):
    """Some reads saw one state."""

    unit: Unit

    def holds(self, model: Model) -> bool:
        """Whether they would see it now."""
        return model.shows(self.unit)


@dataclass(eq=False)
class _Answered(Sometime):
    """
    An answer without a commit is what the call comes to.

    One batch of reads is not confirmed. Where others came between them, each must have been true by itself.
    """

    attempt: Attempt
    _unseen: list[Unit] = field(init=False)

    def __post_init__(self) -> None:
        self._unseen = self.attempt.unconfirmed

    def holds(self, model: Model) -> bool:
        """Whether the call comes to it now."""
        if agree(self.attempt, model.outcome(self.attempt)):
            return True
        if not self._unseen:
            return False
        self._unseen = [unit for unit in self._unseen if not model.shows(unit)]
        return not self._unseen


def agree(attempt: Attempt, outcome: Outcome) -> bool:
    """Whether an attempt ended as its transition does elsewhere."""
    if attempt.error is not None:
        return outcome.error == told(attempt.error)
    return (
        outcome.error is None
        and same_reply(outcome.reply, attempt.reply)
        and outcome.writes == attempt.writes
    )


# -- without asking the rules -----------------------------------------------------------------


@dataclass(eq=False)
class _Excused(Sometime):
    """A queue is such that a call may come back from it without success."""

    queue: str
    is_excused: Callable[[Model, str], bool]

    def holds(self, model: Model) -> bool:
        """Whether it is such now."""
        return self.is_excused(model, self.queue)


def _without_success(call: Call) -> str | None:
    """The queue in which a call found nothing, or no room."""
    if call.name == "put new":
        return call.words[3] if isinstance(call.error, QueueFull) else None
    if not call.is_done:
        return None
    taken, queue = (
        (call.result, call.words[2]) if call.name == "pop" else (call.result[1], call.words[4])
    )
    return None if json.loads(taken) else queue


def _offers_nothing(model: Model, queue: str) -> bool:
    paused, waiting, (limit,) = model.read(
        ("SISMEMBER", "ql:paused_queues", queue),
        ("ZCARD", f"ql:q:{queue}-work"),
        ("HMGET", "ql:config", f"{queue}-max-concurrency"),
    )
    return bool(paused or not waiting or limit)


def _is_full(model: Model, queue: str) -> bool:
    waiting, (limit,) = model.read(
        ("ZCARD", f"ql:q:{queue}-work"), ("HMGET", "ql:config", f"{queue}-max-waiting")
    )
    return limit is not None and waiting >= float(limit)


_EXCUSES: Final = (
    ("pop", _offers_nothing, "it found nothing, though jobs waited all the time"),
    ("turn", _offers_nothing, "it found nothing, though jobs waited all the time"),
    ("put new", _is_full, "it was refused, though there was room all the time"),
)
