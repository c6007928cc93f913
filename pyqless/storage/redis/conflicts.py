# SPDX-License-Identifier: MIT
"""Conflicts that do not end: what others keep changing."""

from __future__ import annotations

from pyqless.core.transaction import Stale
from pyqless.core.wording import counted
from pyqless.errors import ConflictError, QlessError
from pyqless.storage.redis.lane import Lane
from pyqless.storage.redis.protocol import same
from pyqless.storage.redis.reading import Reader
from pyqless.storage.redis.snapshots import snapshot
from pyqless.storage.redis.steps import LinkLost, Steps

__all__ = ["explain"]


def explain(lane: Lane, reader: Reader, attempts: int) -> Steps[ConflictError]:
    """Look once more at what was guarded, to tell what others have changed."""
    changed, seen = dict.fromkeys(reader.guards[1:], False), reader.seen()
    try:
        replies = yield from snapshot(lane, tuple(read for read, _ in seen))
    except (LinkLost, Stale, QlessError):
        replies = []
    for (read, before), now in zip(seen, replies, strict=False):
        changed[read[1]] |= not same(read, before, now)
    names = ", ".join(key for key, is_changed in changed.items() if is_changed) or "unknown"
    times = counted(attempts, "time", "times")
    return ConflictError(
        f"others kept changing what the transaction had read, {times}: {names}",
        value=changed,
    )
