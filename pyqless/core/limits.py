# SPDX-License-Identifier: MIT
"""
A limit on waiting jobs, which makes producers wait rather than the store grow.

It stands in the setting ``QUEUE-max-waiting``, which all clients of pyqless heed; a call may bring a lower one.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TypeVar

from pyqless.core.chaining import resumed
from pyqless.core.effects import Batch, Command, Factory, Replies, Transition, raise_first
from pyqless.core.foreseeing import note_puts
from pyqless.core.keys import Keys
from pyqless.core.settings import Settings
from pyqless.core.transaction import Transaction
from pyqless.core.wording import counted
from pyqless.errors import QueueFull

__all__ = ["setting_of", "within"]

T = TypeVar("T")


def setting_of(queue: str) -> str:
    """The name of the setting that says how many jobs may wait in a queue."""
    return f"{queue}-max-waiting"


def within(limit: float, queue: str, transition: Factory[T]) -> Factory[T]:
    """
    Carry a transition out only if fewer jobs wait in a queue than may.

    Number and setting are read without a guard, for with one every put would lose to every pop: so many jobs more
    than the limit may come to wait as there are producers at the same moment. They are read behind what the
    transition reads first, so that they cost no round trip.

    Args:
        limit: infinite if the queue's setting alone counts.
        transition: reads something before it ends.

    Raises:
        QueueFull: as many wait already; nothing has been changed.
        InvalidSetting: the setting is no number.
    """

    def begin(tx: Transaction) -> Transition[T]:
        steps = transition(tx)
        look = _look_in_batch if tx.batched else _look
        replies = yield from look(tx, limit, queue, next(steps))
        return (yield from resumed(steps, replies))

    return begin


def _look(tx: Transaction, limit: float, queue: str, batch: Batch) -> Transition[Replies]:
    """The replies to what a transition reads first, if there is room."""
    *replies, texts, waiting = yield batch.with_more(*_looks(tx.keys, queue))
    raise_first([texts, waiting])
    allowed = _allowed(limit, queue, texts)
    _require_room(queue, waiting, allowed)
    _note_looks(tx, queue, allowed)
    return replies


def _look_in_batch(tx: Transaction, limit: float, queue: str, batch: Batch) -> Transition[Replies]:
    """As for a single call, but those before it in the transaction count."""
    setting, size = _looks(tx.keys, queue)
    tx.beside[size] = None
    *replies, texts = yield batch.with_more(setting)
    raise_first([texts])
    allowed = _allowed(limit, queue, texts)
    if allowed < math.inf and not _has_room_for_all(tx, queue, allowed):
        (waiting,) = yield from tx.read(free=(size,))
        _require_room(queue, waiting, allowed)
    _note_looks(tx, queue, allowed)
    return replies


@lru_cache(maxsize=256)
def _looks(keys: Keys, queue: str) -> tuple[Command, Command]:
    """What a put looks at: a setting, and how many jobs wait."""
    return Settings.read(keys, (setting_of(queue),)), ("ZCARD", keys.work(queue))


def _note_looks(tx: Transaction, queue: str, limit: float) -> None:
    """Have puts foreseen; how many wait matters only where there is a limit, and then it must not be old."""
    note_puts(tx, queue, None if math.isfinite(limit) else _looks(tx.keys, queue))


def _has_room_for_all(tx: Transaction, queue: str, limit: float) -> bool:
    """Whether there is room even if each write to the queue lets one more wait; to know it exactly takes trips."""
    work = tx.keys.work(queue)
    waiting = tx.known(("ZCARD", work))
    return isinstance(waiting, int) and waiting + len(tx.staged(work)) < limit


def _allowed(limit: float, queue: str, texts: list[str | None]) -> float:
    if texts == [None]:
        return limit
    names = (setting_of(queue),)
    return min(limit, Settings(names, texts).number(*names, math.inf))


def _require_room(queue: str, waiting: int, limit: float) -> None:
    if waiting >= limit:
        wait = counted(waiting, "job waits", "jobs wait")
        message = f"{wait} in queue {queue!r}, and no more than {limit:g} may"
        raise QueueFull(message, argument="queue", value=waiting)
