# SPDX-License-Identifier: MIT
"""One attempt at a transition, against the keyspace in a file."""

from __future__ import annotations

from typing import Any

from pyqless.core.effects import Batch, Command, Factory, Replies, Transition
from pyqless.core.keyspace import NotAnInteger, WrongType
from pyqless.core.transaction import Transaction
from pyqless.errors import StoreCorrupted
from pyqless.storage.described import Described
from pyqless.storage.sqlite.keyspace import StoredKeyspace

__all__ = ["Attempt"]


class Attempt:
    """
    An attempt at a transition; it has to begin before anything else, and may begin anew.

    Args:
        now: the moment, or None for the clock's when it begins.
        number: how many attempts have failed before.

    Attributes:
        value: of the transition, at its end.
    """

    tx: Transaction
    _steps: Transition[Any]
    _batch: Batch | None

    def __init__(
        self, storage: Described, transition: Factory[Any], now: float | None, number: int
    ) -> None:
        self.value: Any = None
        self._batches: list[Batch] = []
        self._storage = storage
        self._transition = transition
        self._now = now
        self._number = number

    def begin(self) -> None:
        """Begin, as far as to the first reads."""
        storage = self._storage
        storage.metrics.attempts += 1
        now = storage.moment() if self._now is None else self._now
        self.tx = Transaction(now, storage.keys, self._number)
        self._batches.clear()
        self._steps = self._transition(self.tx)
        self._go_on(None)

    @property
    def guards(self) -> list[str]:
        """The keys of which what was read must still hold at the commit, each once; in a file it does."""
        return list(dict.fromkeys(key for batch in self._batches for key in batch.guards))

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to be done, neither to read nor to write."""
        return self._batch is None and not self.tx.writes

    @property
    def only_looks(self) -> bool:
        """Whether, as far as one can see, snapshots will do."""
        return not self.tx.writes and (self._batch is None or self._batch.snapshot)

    def look(self, keyspace: StoredKeyspace) -> bool:
        """Read on as long as snapshots will do; tell whether they did to the end."""
        while self._batch is not None and self._batch.snapshot:
            self._go_on(_replies(keyspace, self._batch))
        return self.is_over

    def carry_out(self, keyspace: StoredKeyspace) -> list[tuple[str, str]]:
        """
        Read to the end, and write.

        Returns:
            list: what is to be published, (channel, data).

        Raises:
            StoreCorrupted: a write does not fit its key.
        """
        while self._batch is not None:
            self._go_on(_replies(keyspace, self._batch))
        return self._write(keyspace)

    def _go_on(self, replies: Replies | None) -> None:
        try:
            # a generator is begun by sending it None
            batch = self._batch = self._steps.send(replies)  # type: ignore[arg-type]
        except StopIteration as end:
            self._batch, self.value = None, end.value
        else:
            self._batches.append(batch)

    def _write(self, keyspace: StoredKeyspace) -> list[tuple[str, str]]:
        tx, messages = self.tx, []
        try:
            for write in tx.blind:
                if write[0] == "PUBLISH":
                    messages.append((write[1], write[2]))
                elif write[0] == "SET":
                    keyspace.set(write[1], write[2])
                else:
                    keyspace.write(write)
            for key, image in tx.changed.items():
                # the image itself may be part of what the transition returns
                if not keyspace.replace(key, image.copy()):
                    for write in _writes_to(key, tx):
                        keyspace.write(write)
        except (WrongType, NotAnInteger) as error:
            text = f"{write[1]}: {write[0]} failed: {error}"
            raise StoreCorrupted(text, argument=write[1], value=write[0]) from error
        return messages


def _writes_to(key: str, tx: Transaction) -> list[Command]:
    # a channel may have the name of a key
    return [write for write in tx.writes if write[1] == key and write[0] != "PUBLISH"]


def _replies(keyspace: StoredKeyspace, batch: Batch) -> Replies:
    try:
        return list(map(keyspace.read, batch.reads))
    except (WrongType, StoreCorrupted):
        return [_reply(keyspace, read) for read in batch.reads]


def _reply(keyspace: StoredKeyspace, read: Command) -> Any:
    try:
        return keyspace.read(read)
    except WrongType as error:
        return StoreCorrupted(f"{read[1]}: {error}", argument=read[1], value=read[0])
    except StoreCorrupted as fault:
        return fault
