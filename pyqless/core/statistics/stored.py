# SPDX-License-Identifier: MIT
"""The times of a queue and day in the store: a hash with summary and histogram, and a list of what is deferred."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

from pyqless.core import lua
from pyqless.core.effects import Command, Replies
from pyqless.core.keys import Keys
from pyqless.core.statistics.histograms import bin_of
from pyqless.core.statistics.summaries import Summary, added, parsed
from pyqless.core.transaction import Transaction
from pyqless.errors import StoreCorrupted

__all__ = ["SOME", "StoredTimes"]

#: how many deferred samples a transaction takes up beside its own
SOME: Final = 64


class _Place(NamedTuple):
    """Where they lie."""

    #: the list
    pending: str
    #: what has to be read, and guarded
    guarded: tuple[Command, ...]
    #: what has to be read besides; who removes from it changes what is guarded
    free: tuple[Command, ...]


@lru_cache(maxsize=256)
def _place(keys: Keys, key: str) -> _Place:
    pending = keys.pending(key)
    summary = ("HMGET", key, "total", "mean", "vk")
    return _Place(pending, (summary,), (("LRANGE", pending, 0, SOME - 1),))


class StoredTimes:
    """
    The times of one queue and day.

    Args:
        key: the hash.
    """

    __slots__ = ("_deferred", "_summary", "_tx", "key", "place")

    def __init__(self, tx: Transaction, key: str) -> None:
        self._tx = tx
        self.key = key
        self.place = _place(tx.keys, key)
        #: as the store has it
        self._summary: list[str | None] | StoreCorrupted = [None]
        self._deferred: list[str] = []

    def take(self, replies: Replies) -> Replies:
        """
        Begin with what was read.

        Args:
            replies: those to what is guarded first, those to what is free last.

        Returns:
            what stands in between.
        """
        self._summary, *others, deferred = replies
        self._deferred = [] if isinstance(deferred, StoreCorrupted) else deferred
        return others

    def enter(self, samples: Iterable[float]) -> None:
        """Enter samples behind those that others have deferred; report what cannot be entered."""
        tx, key, deferred = self._tx, self.key, self._deferred
        late = (lua.to_number(text) or 0.0 for text in deferred)
        summary, bins = self._with(chain(late, samples))
        for name, number in bins.items():
            tx.hincrby(key, name, number)
        if summary is not None:
            total, mean, vk = map(lua.argument, summary)
            self._summary = [total, mean, vk]
            tx.hset(key, "total", total, "mean", mean, "vk", vk)
        if deferred:
            tx.ltrim(self.place.pending, len(deferred), -1)
            self._deferred = []

    def _with(self, samples: Iterable[float]) -> tuple[Summary | None, dict[str, int]]:
        """The summary with samples, None if none was added, and how many came into which bin."""
        summary = parsed(self.key, self._summary)
        bins: dict[str, int] = {}
        for seconds in samples:
            try:
                summary = added(self.key, summary, seconds)
            except StoreCorrupted as fault:
                self._tx.reports.append(fault)
                continue
            name = bin_of(seconds)
            bins[name] = bins.get(name, 0) + 1
        return (summary if bins and isinstance(summary, tuple) else None), bins
