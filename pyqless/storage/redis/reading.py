# SPDX-License-Identifier: MIT
"""Reading: what a transition wants to know, under its guards, as the server sends it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyqless.core.effects import Batch, Command, Replies
from pyqless.core.transaction import Stale
from pyqless.storage.redis.foresight import Foresight
from pyqless.storage.redis.lane import Lane, State
from pyqless.storage.redis.protocol import replies_of, same
from pyqless.storage.redis.snapshots import snapshot
from pyqless.storage.redis.steps import Steps

__all__ = ["Reader"]


class Reader:
    """
    What an attempt reads.

    Args:
        foresight: what was read ahead, if there is such.
    """

    __slots__ = (
        "_foresight",
        "_lane",
        "_log",
        "batches",
        "guards",
        "has_guessed",
        "has_waited",
        "stands",
    )

    def __init__(self, lane: Lane, foresight: Foresight | None) -> None:
        self._lane = lane
        self._foresight = foresight
        #: whether the guards of what was read ahead stand, and whether the transition was answered with it
        self.stands = foresight is not None
        self.has_guessed = False
        #: how many batches there were, and the keys that are guarded
        self.batches = 0
        self.guards: list[str] = []
        #: whether a turn was waited for by the last batch
        self.has_waited = False
        #: what was read, as the server sent it
        self._log: list[tuple[Sequence[Command], Sequence[Any]]] = []

    def seen(self) -> list[tuple[Command, Any]]:
        """What was read of guarded keys, with the replies as the server sent them."""
        guarded = set(self.guards)
        return [entry for entry in self._entries() if entry[0][1] in guarded]

    def _entries(self) -> list[tuple[Command, Any]]:
        """All that was read."""
        return [entry for reads, replies in self._log for entry in zip(reads, replies, strict=True)]

    # -- what is at hand --------------------------------------------------------------------

    def at_hand(self, batch: Batch) -> Replies | None:
        """The replies to a batch that needs no exchange."""
        self.batches += 1
        if not (batch.reads or self.guards) and self._lane.is_open():
            return []
        if self._foresight is None:
            return None
        raw = self._foresight.answer(batch)
        if raw is None:
            self._foresight = None
            return None
        if not self.has_guessed:
            self._note_guess(self._foresight)
        return replies_of(batch.reads, raw)

    def _note_guess(self, foresight: Foresight) -> None:
        self.has_guessed = True
        self._lane.metrics.guesses += 1
        self.guards = [self._lane.fence.key, *foresight.guards]
        self._log.append((foresight.reads, foresight.replies))

    # -- what the server is asked -----------------------------------------------------------

    def read(self, batch: Batch) -> Steps[Replies]:
        """
        The replies to a batch that is not at hand.

        Raises:
            Stale: others have changed what was read before.
            LinkLost: the connection broke.
            StorageError: the server would not set the guards, or carry out a read.
        """
        self.has_waited = False
        if batch.snapshot:
            raw = yield from snapshot(self._lane, tuple(batch.reads))
        elif self.guards and self._lane.state is State.QUEUEING:
            raw = yield from self._read_again(batch)
        else:
            raw = yield from self._read_on(batch)
        self.stands = False
        return replies_of(batch.reads, raw)

    def _read_on(self, batch: Batch) -> Steps[Replies]:
        """Guard, read, and open the commit if this is the last batch; whoever is to wait does so in between."""
        lane = self._lane
        fresh = not self.guards
        waiting = lane.turns.wait(batch.turn)
        keys = (*((lane.fence.key,) if fresh else ()), *batch.guards)
        control = (*(lane.enter() if fresh else ()), *((("WATCH", *keys),) if keys else ()))
        raw = yield from self._exchange(control, waiting, batch)
        if waiting:
            lane.turns.came(raw[: len(waiting)], lane.fence.key)
            self.has_waited = True
        return raw[len(waiting) :]

    def _read_again(self, batch: Batch) -> Steps[Replies]:
        """
        Read on behind a batch that was announced as the last one.

        DISCARD drops the guards, so they are set anew, and what they guard must read as before. So must the places of
        jobs: a job may have moved by a write that left all that was read of its hash as it was.
        """
        self._lane.metrics.reopenings += 1
        lane = self._lane
        guarded = set(self.guards)
        seen = [
            (read, reply)
            for read, reply in self._entries()
            if read[1] in guarded or read[0] == "ZSCORE"
        ]
        again = tuple(read for read, _ in seen)
        control = (*lane.leave(), ("WATCH", *self.guards, *batch.guards))
        raw = yield from self._exchange(control, again, batch)
        for (read, before), now in zip(seen, raw, strict=False):
            if not same(read, before, now):
                raise Stale
        return raw[len(again) :]

    def _exchange(
        self, control: tuple[Command, ...], again: tuple[Command, ...], batch: Batch
    ) -> Steps[Replies]:
        lane = self._lane
        opening: tuple[Command, ...] = (("MULTI",),) if batch.last else ()
        replies = yield from lane.exchange(*control, *again, *batch.reads, *opening)
        lane.state = State.QUEUEING if batch.last else State.WATCHING
        first, end = len(control), len(replies) - len(opening)
        yield from lane.require_ok((*control, *opening), replies[:first] + replies[end:])
        self.guards += (*((lane.fence.key,) if not self.guards else ()), *batch.guards)
        raw = replies[first:end]
        self._log.append((batch.reads, raw[len(again) :]))
        return raw
