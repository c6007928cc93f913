# SPDX-License-Identifier: MIT
"""Snapshots: what was there at one instant."""

from __future__ import annotations

from pyqless.core.effects import Command, Replies
from pyqless.storage.redis.executing import execute
from pyqless.storage.redis.lane import Lane
from pyqless.storage.redis.steps import Steps

__all__ = ["snapshot"]


def snapshot(lane: Lane, reads: tuple[Command, ...]) -> Steps[Replies]:
    """
    Read at one instant; a single command is one by itself.

    Raises:
        StorageError: the server refused it.
        LinkLost: the connection broke.
    """
    if not reads:
        return []
    if len(reads) == 1:
        return (yield from lane.ask(*reads))
    outcome = yield from execute(lane, reads, before=(*lane.leave(), ("MULTI",)))
    if outcome.fault is not None and outcome.fault.value == "OOM":
        return (yield from _guarded(lane, reads))
    return outcome.results()


def _guarded(lane: Lane, reads: tuple[Command, ...]) -> Steps[Replies]:
    """As ``snapshot`` where servers up to 7.2, out of memory, queue nothing, not even reads."""
    watch = ("WATCH", *dict.fromkeys(read[1] for read in reads))
    outcome = yield from execute(lane, (), before=(watch, *reads, ("MULTI",)))
    outcome.results()
    return list(outcome.before[1:-1])
