# SPDX-License-Identifier: MIT
"""What the store is asked beside its transactions: the time, its memory, and how many replicas keep up."""

from __future__ import annotations

from pyqless.errors import StorageError
from pyqless.storage.redis.clock import StoreClock
from pyqless.storage.redis.lane import Lane, State
from pyqless.storage.redis.protocol import ServerError, fault_of
from pyqless.storage.redis.steps import LinkLost, Steps

__all__ = ["ask_replicas", "ask_room", "ask_time"]


def ask_time(lane: Lane, clock: StoreClock) -> Steps[None]:
    """See to it that the store's clock is known."""
    if not (clock.is_due() or lane.is_new):
        return
    began = lane.policy.monotonic()
    (reply,) = yield from lane.ask(("TIME",))
    lane.is_new = False
    if isinstance(reply, ServerError):
        raise fault_of(reply, "TIME")
    clock.learn(reply, began)


def ask_room(lane: Lane) -> Steps[None]:
    """See to it that the store's memory is known, as it is once in a while."""
    room, now = lane.room, lane.policy.monotonic()
    if not room.is_due(now):
        return
    (reply,) = yield from lane.ask(("INFO", "memory"))
    room.ask(now)
    if isinstance(reply, ServerError):
        raise fault_of(reply, "INFO")
    room.learn(reply)


def ask_replicas(lane: Lane) -> Steps[int | None]:
    """
    Wait for the replicas behind a commit, if that is wanted.

    Returns:
        int: how many have it, if that is too few; else None. -1 means that it is not known.
    """
    wanted = lane.replication
    if wanted is None:
        return None
    if lane.state is State.CLOSED:
        return -1  # WAIT knows nothing of what another connection has written
    milliseconds = max(1, round(wanted.timeout * 1000))
    try:
        (count,) = yield from lane.exchange(("WAIT", str(wanted.replicas), str(milliseconds)))
    except (LinkLost, StorageError):
        return -1
    if isinstance(count, ServerError):
        return -1
    return None if count >= wanted.replicas else int(count)
