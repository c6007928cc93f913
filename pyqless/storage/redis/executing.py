# SPDX-License-Identifier: MIT
"""EXEC: how it is sent, and what its reply means."""

from __future__ import annotations

from typing import Any

from pyqless.core.effects import Command
from pyqless.storage.redis.lane import Lane, State
from pyqless.storage.redis.outcomes import Kind, Outcome
from pyqless.storage.redis.protocol import ServerError, fault_of
from pyqless.storage.redis.steps import LinkLost, Steps

__all__ = ["execute"]


def execute(
    lane: Lane,
    body: tuple[Command, ...],
    before: tuple[Command, ...] = (),
    behind: tuple[Command, ...] = (),
) -> Steps[Outcome]:
    """
    Send commands and EXEC, and name the outcome: the only place that sends EXEC.

    Args:
        body: what is queued.
        before, behind: what stands around it in the packet.
    """
    packet = (*before, *body, ("EXEC",))
    try:
        replies = yield from lane.exchange(*packet, *behind)
    except LinkLost as lost:
        # what stands behind EXEC may be all that was not sent
        return Outcome(Kind.UNKNOWN if lost.sent or behind else Kind.NOT_SENT, [])
    lane.state = State.IDLE
    results, after = replies[len(packet) - 1], replies[len(packet) :]
    if isinstance(results, list):
        return Outcome(Kind.COMMITTED, results, None, replies[: len(before)], after)
    if results is None:
        return Outcome(Kind.CONFLICT, [], after=after)
    yield from lane.close()
    return _refusal(packet, replies[: len(packet)], has_written=lane.has_written)


def _refusal(packet: tuple[Command, ...], replies: list[Any], *, has_written: bool) -> Outcome:
    """What an EXEC means that was answered with neither results nor nil."""
    if not isinstance(replies[-1], ServerError):
        return Outcome(Kind.UNKNOWN, [])
    fault = next(
        fault_of(reply, command[0])
        for command, reply in zip(packet, replies, strict=True)
        if isinstance(reply, ServerError)
    )
    if fault.value == "READONLY" and has_written:
        # it was a master and is no more, and whoever connects us may know the new one
        return Outcome(Kind.NOT_SENT, [])
    return Outcome(Kind.REFUSED, [], fault)
