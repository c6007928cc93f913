# SPDX-License-Identifier: MIT
"""Entering samples that were deferred."""

from __future__ import annotations

from functools import partial

from pyqless.core.effects import Continue, Transition
from pyqless.core.statistics.stored import SOME, StoredTimes
from pyqless.core.transaction import Transaction
from pyqless.errors import StoreCorrupted

__all__ = ["fold", "fold_some"]


def fold(tx: Transaction) -> Transition[Continue | None]:
    """Enter all samples that are still deferred."""
    (names,) = yield from tx.snapshot(("SMEMBERS", tx.keys.pendings))
    return Continue(partial(_fold, names=sorted(names))) if names else None


def _fold(tx: Transaction, names: list[str]) -> Transition[Continue | None]:
    """Enter some of the first hash's, then go on."""
    times = StoredTimes(tx, names[0])
    guarded, free = times.place.guarded, times.place.free
    length = ("LLEN", times.place.pending)
    replies = yield from tx.read(*guarded, length, free=free, last=True, tolerant=True)
    (size,) = times.take(replies)
    times.enter(())
    is_done = not size or isinstance(size, StoreCorrupted) or size <= SOME
    if is_done:
        tx.srem(tx.keys.pendings, names[0])
    rest = names[1:] if is_done else names
    return Continue(partial(_fold, names=rest)) if rest else None


def fold_some(tx: Transaction, key: str) -> Transition[None]:
    """Enter some of a hash's, beside others that go on to defer."""
    times = StoredTimes(tx, key)
    guarded, free = times.place.guarded, times.place.free
    times.take((yield from tx.read(*guarded, free=free, last=True, tolerant=True)))
    times.enter(())
