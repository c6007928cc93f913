# SPDX-License-Identifier: MIT
"""What goes out over pub/sub, and to which channel."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pyqless.core import lua
from pyqless.core.transaction import Transaction

__all__ = ["about", "lock_lost", "publish_change", "publish_event", "publish_log"]


def publish_log(tx: Transaction, **fields: Any) -> None:
    """Tell the ``log`` channel."""
    tx.publish(tx.keys.channel("log"), lua.encode(fields))


def publish_change(tx: Transaction, jid: str, **names: str) -> None:
    """Tell the ``log`` channel of a job, in the words of ``about``."""
    tx.publish(tx.keys.channel("log"), about(jid, **names))


def about(jid: str, **names: str | bool) -> str:
    """
    A message about a job, such as many jobs have.

    Args:
        names: what stands behind the jid: the event, and names of such things as queues.
    """
    return f'{{"jid":{lua.quote(jid)},{_members(**names)}'


@lru_cache(maxsize=256)
def _members(**names: str | bool) -> str:
    return lua.encode(names)[1:]


def publish_event(tx: Transaction, event: str, jid: str, tracked: float | None) -> None:
    """Tell the channel of an event about a job, if it is tracked."""
    if tracked is not None:
        tx.publish(tx.keys.channel(event), jid)


def lock_lost(tx: Transaction, jid: str, worker: str) -> None:
    """Tell a worker, and the ``log`` channel, that its lock on a job is gone."""
    message = about(jid, event="lock_lost", worker=worker)
    tx.publish(tx.keys.worker_channel(worker), message)
    tx.publish(tx.keys.channel("log"), message)
