# SPDX-License-Identifier: MIT
"""Committing: what an attempt has staged is carried out, or not a bit of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyqless.core.effects import Ahead, Command
from pyqless.core.transaction import Transaction
from pyqless.errors import StorageError, StoreCorrupted
from pyqless.storage.redis.asking import ask_replicas
from pyqless.storage.redis.executing import execute
from pyqless.storage.redis.foresight import Foresight
from pyqless.storage.redis.lane import Lane, State
from pyqless.storage.redis.outcomes import Kind, Outcome
from pyqless.storage.redis.protocol import ServerError
from pyqless.storage.redis.reading import Reader
from pyqless.storage.redis.recovery import recover
from pyqless.storage.redis.steps import LinkLost, Steps

__all__ = ["commit", "give_way"]


def commit(lane: Lane, tx: Transaction, reader: Reader) -> Steps[int | None]:
    """
    Commit what is staged, if what was read still holds.

    Returns:
        how many replicas have it, if that is too few; see ``ask_replicas``.

    Raises:
        Stale: others have changed what was read.
        StorageError: the server refused it, or cannot say whether it took place.
        LinkLost: the connection broke, and nothing was changed.
    """
    writes = tx.merged
    if tx.grows:
        lane.room.require()
    if not writes and (reader.batches < 2 or not reader.guards):
        # what one batch of guarded reads saw needs no confirmation, a snapshot even less
        yield from give_way(lane)
        return None
    if lane.state is not State.QUEUEING or not (reader.guards or lane.is_open()):
        yield from _open(lane, () if reader.guards else (*lane.enter(), ("WATCH", lane.fence.key)))
    if not writes:
        (yield from execute(lane, ())).results()
        return None
    outcome = yield from _execute(lane, writes, tx.ahead)
    if outcome.kind is Kind.UNKNOWN:
        if not (yield from recover(lane)):
            raise LinkLost("the commit had not taken place", sent=False)
        return (yield from ask_replicas(lane))
    results = outcome.results()
    replicas = None if lane.replication is None else (yield from ask_replicas(lane))
    if ServerError in map(type, results):
        _require_whole(writes, results)
    return replicas


def _open(lane: Lane, guard: tuple[Command, ...]) -> Steps[None]:
    """Send MULTI, for no write is sent before its +OK has been read."""
    control: tuple[Command, ...] = (*guard, ("MULTI",))
    replies = yield from lane.exchange(*control)
    lane.state = State.QUEUEING
    yield from lane.require_ok(control, replies)


def _execute(lane: Lane, writes: list[Command], ahead: Ahead | None) -> Steps[Outcome]:
    """
    Number the transaction, and send EXEC; behind it go the commands that open the next one.

    Args:
        ahead: what to read for that, if it is worth it.
    """
    began = lane.policy.monotonic()
    numbered, back = lane.fence.number(began), lane.turns.end()
    guards, opening = _opening(lane, ahead)
    outcome = yield from execute(lane, (*writes, *numbered), behind=(*back, *opening))
    is_kept = True
    if outcome.kind is Kind.COMMITTED:
        lane.has_written = True
        # 0 where all is as ever, which is not worth a call
        if outcome.replies[-1] != 0:
            is_kept = lane.fence.note(outcome.replies[len(writes) :])
    if ahead is not None and opening and lane.state is State.IDLE:
        yield from _note_opening(lane, ahead, guards, outcome.after[len(back) :], began)
    if not is_kept:
        yield from _keep_fence(lane)
    return outcome


def _opening(lane: Lane, ahead: Ahead | None) -> tuple[list[str], tuple[Command, ...]]:
    """The keys to guard for the next transaction, and the commands that open it, if that is worth it."""
    if ahead is None or lane.replication is not None:
        return [], ()  # what waits for the replicas must not stand behind MULTI
    if ahead.reads and not lane.trust.allows(ahead.topic):
        return [], ()
    guards = ahead.guards
    # the fence comes first: it must be guarded in a packet that is acknowledged before the commit
    return guards, (("WATCH", lane.fence.key, *guards), *ahead.reads, ("MULTI",))


def _note_opening(
    lane: Lane, ahead: Ahead, guards: list[str], replies: Sequence[Any], began: float
) -> Steps[None]:
    """Note that the next commit is open; whoever would not have it so is told when it is tried again."""
    if replies[0] != "OK" or replies[-1] != "OK":
        yield from lane.close()
        return
    foresight = Foresight(ahead, guards, list(replies[1:-1])) if ahead.reads else None
    opened = lane.open_ahead(foresight)
    lane.turns.nearest = min(lane.turns.nearest, opened - began)


def _keep_fence(lane: Lane) -> Steps[None]:
    """See to it at once that the fence expires, for this may have been the last commit here."""
    try:
        (reply,) = yield from lane.ask(lane.fence.expire())
    except (LinkLost, StorageError):
        return  # the next transaction makes it anew
    if reply == 1:
        lane.fence.put_off()


def give_way(lane: Lane) -> Steps[None]:
    """Let others have their turn, if it is ours, and nothing is committed."""
    back = lane.turns.end()
    if not back:
        return
    try:
        yield from lane.exchange(*lane.leave(), *back)
    except (LinkLost, StorageError):
        return  # those who wait go on without
    lane.state = State.IDLE


def _require_whole(writes: list[Command], results: Sequence[Any]) -> None:
    """
    Make sure that each write was carried out.

    Raises:
        StoreCorrupted: one was not, the others were.
    """
    for write, result in zip(writes, results, strict=False):
        if isinstance(result, ServerError):
            raise StoreCorrupted(
                f"{write[1]}: {write[0]} failed in the middle of a commit: {result}",
                argument=write[1],
                value=write[0],
            )
