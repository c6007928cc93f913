# SPDX-License-Identifier: MIT
"""What must be true of every history, whatever went wrong on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pyqless.errors import OutcomeUnknown, QlessError, StorageError
from pyqless.testing.simulator.history import Attempt, Call, Commit, History, Restart, Stray
from pyqless.testing.simulator.model import Model
from pyqless.testing.simulator.replaying import replay
from pyqless.testing.simulator.stored import Dump, dependencies, differences, places, statistics

__all__ = ["faults_of"]


def faults_of(
    history: History, dump: Dump, *, overwrites: bool = False, is_durable: bool = False
) -> Iterator[str]:
    """
    What is wrong with a history, the first fault first.

    Args:
        dump: what is stored in the end.
        overwrites: whether recurring jobs may write over jobs with the jids of their runs.
        is_durable: whether what was acknowledged is to outlive the store.
    """
    yield from _strays(history)
    yield from _carried_out_as_staged(history)
    yield from _carried_out_once(history)
    for call in history.calls:
        yield from _told_the_truth(history, call)
        if is_durable:
            yield from _lasts(history, call)
    model = Model()
    yield from replay(history, model)
    yield from differences(model.dump(), dump)
    if not history.is_undisturbed:
        return
    if not overwrites:
        yield from places(dump)
    yield from dependencies(dump)
    yield from statistics(history.commits, dump)


def _strays(history: History) -> Iterator[str]:
    for event in history.events:
        if isinstance(event, Stray):
            yield f"a write outside a transaction: {event.write} by {event.attempt.call}"


def _carried_out_as_staged(history: History) -> Iterator[str]:
    for call in history.calls:
        for attempt in call.attempts:
            staged = [tuple(map(str, write)) for write in attempt.writes]
            for commit in attempt.commits:
                if commit.writes != staged:
                    yield f"carried out otherwise than staged: {call}"


def _carried_out_once(history: History) -> Iterator[str]:
    """Between two losses of memory, a transaction takes place once at most."""
    kept: Counter[tuple[int, int]] = Counter()
    for event in history.events:
        if isinstance(event, Restart):
            kept = Counter(_transaction(each) for each in event.kept if isinstance(each, Commit))
        elif isinstance(event, Commit):
            kept[_transaction(event)] += 1
            if kept[_transaction(event)] > 1:
                yield f"carried out twice: {event.attempt.call}"


def _transaction(commit: Commit) -> tuple[int, int]:
    return id(commit.attempt.call), commit.attempt.link


def _last_attempts(call: Call) -> list[Attempt]:
    """The last attempt at each transaction of a call, but for housekeeping."""
    last = {attempt.link: attempt for attempt in call.attempts}
    return [last[link] for link in sorted(last) if link >= 0]


def _lasts(history: History, call: Call) -> Iterator[str]:
    """What was acknowledged without a warning outlives every failover."""
    if call.end is None or call.error is not None:
        return
    for commit in (commit for attempt in _last_attempts(call) for commit in attempt.commits[-1:]):
        for event in history.events[commit.number :]:
            if isinstance(event, Restart) and event.is_failover and commit not in event.kept:
                yield f"acknowledged as replicated, but lost: {call}"


def _was_done(call: Call, links: list[Attempt]) -> Iterator[str]:
    if call.is_done and call.result != links[-1].reply:
        yield f"another result than that of its last transaction: {call}"
    for attempt in links:
        if not attempt.writes or attempt.commits:
            continue
        if not attempt.lost:
            yield f"acknowledged, but not carried out: {call}"
        elif call.error is None:
            yield f"acknowledged by a master that was none any more: {call}"


def _told_the_truth(history: History, call: Call) -> Iterator[str]:
    """What a caller was told has happened, and what failed has not."""
    if call.end is None:
        return
    if call.error is not None and not isinstance(call.error, QlessError):
        yield f"broken by {call.error!r}: {call}"
    links = _last_attempts(call)
    if not links:
        if not isinstance(call.error, StorageError):
            yield f"nothing was tried: {call}"
        return
    yield from _was_done(call, links if call.is_done else links[:-1])
    if not (call.is_done or isinstance(call.error, OutcomeUnknown)):
        final = [each for each in call.attempts if each.link == links[-1].link]
        if any(history.had(commit, call.end) for each in final for commit in each.commits):
            yield f"carried out, but failed: {call}"
        if not isinstance(call.error, StorageError) and final[-1].error is not call.error:
            yield f"failed for no reason of its own: {call}"
