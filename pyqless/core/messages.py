# SPDX-License-Identifier: MIT
"""What goes out over pub/sub, and to which channel."""

from __future__ import annotations

from typing import Any

from pyqless.core import lua
from pyqless.core.transaction import Transaction

__all__ = ["lock_lost", "publish_event", "publish_log"]


def publish_log(tx: Transaction, **fields: Any) -> None:
    """Tell the ``log`` channel."""
    tx.publish(tx.keys.channel("log"), lua.encode(fields))


def publish_event(tx: Transaction, event: str, jid: str, tracked: float | None) -> None:
    """Tell the channel of an event about a job, if it is tracked."""
    if tracked is not None:
        tx.publish(tx.keys.channel(event), jid)


def lock_lost(tx: Transaction, jid: str, worker: str) -> None:
    """Tell a worker, and the ``log`` channel, that its lock on a job is gone."""
    message = lua.encode({"jid": jid, "event": "lock_lost", "worker": worker})
    tx.publish(tx.keys.worker_channel(worker), message)
    tx.publish(tx.keys.channel("log"), message)
