# SPDX-License-Identifier: MIT
"""A limit on waiting jobs, which makes producers wait rather than the store grow."""

from __future__ import annotations

from typing import TypeVar

from pyqless.core.effects import Factory, Transition
from pyqless.core.transaction import Transaction
from pyqless.errors import QueueFull

__all__ = ["within"]

T = TypeVar("T")


def within(limit: int, queue: str, transition: Factory[T]) -> Factory[T]:
    """
    Carry a transition out only if fewer jobs wait in a queue than may.

    The number is read without a guard, for with one every put would lose to every pop: so many jobs more
    than the limit may come to wait as there are producers at the same moment.

    Raises:
        QueueFull: as many wait already; nothing has been changed.
    """

    def begin(tx: Transaction) -> Transition[T]:
        (waiting,) = yield from tx.read(free=[("ZCARD", tx.keys.work(queue))])
        if waiting >= limit:
            message = f"{waiting} jobs wait in queue {queue!r}, and no more than {limit} may"
            raise QueueFull(message, argument="queue", value=waiting)
        return (yield from transition(tx))

    return begin
