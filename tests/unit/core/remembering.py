# SPDX-License-Identifier: MIT
"""A store in memory whose transitions leave hints for later ones; the test says how an attempt went before."""

from __future__ import annotations

import json
import shlex
from typing import Any

from pyqless.core.commands import call
from pyqless.core.effects import Batch, Command, Continue, Factory, FollowedBy
from pyqless.core.keys import Keys
from pyqless.core.keyspace import Keyspace, WrongType
from pyqless.core.transaction import Transaction
from pyqless.errors import StoreCorrupted

__all__ = ["Store"]


class Store:
    """
    A keyspace, and what is remembered beside it.

    Args:
        remembers: whether there are hints at all.
    """

    def __init__(self, *, remembers: bool = True) -> None:
        self.keyspace = Keyspace()
        self.memory: dict[Any, Any] | None = {} if remembers else None
        self.messages: list[Command] = []
        #: replies to reads, in the place of what the store holds
        self.pretended: dict[Command, Any] = {}
        #: those of the last call, the first of them the call itself, the others what followed it
        self.transactions: list[Transaction] = []
        #: the batches of the last call
        self.batches: list[Batch] = []

    def call(self, words: str, *, conflicts: int = 0, chance: float = 0.0) -> Any:
        """
        Run a call that is written as in a shell.

        Args:
            conflicts: how many this attempt has met before.
            chance: by which it chooses.

        Returns:
            what a wire client gets; of jobs their jids.
        """
        wanted = call(shlex.split(words))
        value = self.run(wanted.transition, wanted.now, conflicts=conflicts, chance=chance)
        reply = wanted.render(value)
        return [job["jid"] for job in json.loads(str(reply))] if words.startswith("pop") else reply

    def run(
        self, transition: Factory[Any], now: float, *, conflicts: int = 0, chance: float = 0.0
    ) -> Any:
        """Run a transition, and what is to follow."""
        self.transactions, self.batches = [], []
        value = self._carry_out(transition, now, conflicts, chance)
        while isinstance(value, Continue):
            value = self._carry_out(value.rest, now, 0, chance)
        if isinstance(value, FollowedBy):
            self._carry_out(value.rest, now, 0, chance)
            return value.value
        return value

    def _carry_out(
        self, transition: Factory[Any], now: float, conflicts: int, chance: float
    ) -> Any:
        tx = Transaction(now, Keys(), conflicts, self.memory, chance)
        self.transactions.append(tx)
        steps = transition(tx)
        try:
            batch = next(steps)
            while True:
                self.batches.append(batch)
                batch = steps.send([self.read(read) for read in batch.reads])
        except StopIteration as end:
            value = end.value
        for write in tx.writes:
            if write[0] == "PUBLISH":
                self.messages.append(write)
            else:
                self.keyspace.write(write)
        return value

    def read(self, read: Command) -> Any:
        """A reply, in the form that transitions want."""
        if read in self.pretended:
            return self.pretended[read]
        try:
            return self.keyspace.read(read)
        except WrongType as error:
            return StoreCorrupted(str(error), argument=read[1], value=read[0])

    def dump(self) -> dict[str, Any]:
        """All that is in the store, with pyqless's own keys."""
        dump = self.keyspace.dump()
        return {key: dump[key]["value"] for key in sorted(dump)}
