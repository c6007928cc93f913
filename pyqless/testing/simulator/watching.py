# SPDX-License-Identifier: MIT
"""Transitions that are watched: what they read and stage is noted, and guards can be forgotten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from pyqless.core.effects import Batch, Command, Continue, Factory, FollowedBy, Replies, Transition
from pyqless.core.transaction import Transaction
from pyqless.errors import QlessError
from pyqless.testing.simulator.history import Attempt, Call, History

__all__ = ["Unguarded", "rendered", "watched"]

#: whether a guard is to be forgotten: the call, and the guarded read
Unguarded: TypeAlias = Callable[[Call, Command], bool]


def watched(history: History, call: Call, unguarded: Unguarded | None = None) -> Factory[Any]:
    """The transition of a call, and of what follows it; some guards may be forgotten."""

    def watch(factory: Factory[Any], link: int) -> Factory[Any]:
        def transition(tx: Transaction) -> Transition[Any]:
            attempt = history.attempt(call, factory, tx, link)
            try:
                value = yield from _noted(attempt, unguarded)
            except QlessError as error:
                attempt.error = error
                raise
            attempt.end(rendered(attempt, value))
            if unguarded is not None:
                # what is read ahead is guarded for itself, and would make up for what is forgotten
                tx.ahead = None
            if isinstance(value, Continue):
                return Continue(watch(value.rest, link + 1 if link >= 0 else link - 1))
            if isinstance(value, FollowedBy):
                return FollowedBy(attempt.reply, watch(value.rest, -1 - link))
            return attempt.reply

        return transition

    return watch(call.wanted.transition, 0)


def rendered(attempt: Attempt, value: Any) -> Any:
    """What the caller gets; of housekeeping, and of links that are not the last, only that they ended."""
    if isinstance(value, FollowedBy):
        value = value.value
    if isinstance(value, Continue) or attempt.link < 0:
        return type(value).__name__
    return attempt.call.wanted.render(value)


def _noted(attempt: Attempt, unguarded: Unguarded | None) -> Transition[Any]:
    steps = attempt.factory(attempt.tx)
    seen: dict[tuple[str, str], float] = {}
    try:
        batch = next(steps)
        while True:
            if unguarded is None:
                replies = yield batch
            else:
                replies = yield from _weakly(attempt.call, batch, unguarded, seen)
            attempt.note(batch, replies)
            batch = steps.send(replies)
    except StopIteration as end:
        return end.value


def _weakly(
    call: Call, batch: Batch, unguarded: Unguarded, seen: dict[tuple[str, str], float]
) -> Transition[Replies]:
    """
    Read a batch, with the guards forgotten that are to be.

    Where the second look at a place is forgotten, the job still stands where it was seen to stand.
    """
    reads, forgotten = batch.reads, [unguarded(call, read) for read in batch.reads]
    order = sorted(range(len(reads)), key=lambda at: at >= batch.guarded or forgotten[at])
    guarded = batch.guarded - sum(forgotten[: batch.guarded])
    found = yield batch._replace(reads=[reads[at] for at in order], guarded=guarded)
    replies = [reply for _, reply in sorted(zip(order, found, strict=True), key=_position)]
    for at, read in enumerate(reads):
        if "WITHSCORES" in read:
            seen |= {(read[1], member): score for member, score in replies[at]}
        elif forgotten[at] and read[0] == "ZSCORE":
            replies[at] = seen.get((read[1], read[2]), replies[at])
    return replies


def _position(pair: tuple[int, Any]) -> int:
    return pair[0]
