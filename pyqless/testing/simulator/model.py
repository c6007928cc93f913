# SPDX-License-Identifier: MIT
"""What should have happened: the same transactions one after the other, on the storage in memory."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from pyqless.core.effects import Command, Replies, Transition
from pyqless.core.transaction import Stale, Transaction
from pyqless.errors import QlessError
from pyqless.storage.memory import MemoryStorage
from pyqless.testing.simulator.history import Attempt, Commit, Unit, Vanished
from pyqless.testing.simulator.watching import rendered

__all__ = ["Model", "Outcome", "same_reply"]


class Outcome(NamedTuple):
    """What a transition comes to."""

    reply: Any
    writes: list[Command]
    error: str | None = None
    is_stale: bool = False


def told(error: Exception) -> str:
    """An error, as far as it is to be the same."""
    return f"{type(error).__name__}: {error}"


def same_reply(one: Any, other: Any) -> bool:
    """Whether two replies say the same; the members of JSON objects come in any order."""
    if one == other:
        return True
    try:
        return bool(json.loads(one) == json.loads(other))
    except (TypeError, ValueError):
        return False


class Model:
    """The state after some of the commits."""

    def __init__(self) -> None:
        self._storage = MemoryStorage()

    def restart(self, changes: Iterable[Commit | Vanished]) -> None:
        """Hold what some changes make."""
        self._storage = MemoryStorage()
        for change in changes:
            if isinstance(change, Commit):
                self.apply(change.attempt)
            else:
                self.lose(change.key)

    def lose(self, key: str) -> None:
        """Be without a key."""
        self.write([("DEL", key)])

    def write(self, writes: list[Command]) -> None:
        """Carry out writes, whoever makes them."""

        def transition(tx: Transaction) -> Transition[None]:
            yield from tx.read()
            tx.writes += writes

        self._storage.run(transition, 0.0)

    def apply(self, attempt: Attempt) -> Outcome:
        """Carry out the transaction of an attempt, at its moment; as it was where a place is not what it was."""
        outcome = self._run(attempt, keep=True)
        if outcome.is_stale:
            self.write(attempt.writes)
        return outcome

    def outcome(self, attempt: Attempt) -> Outcome:
        """What would come of it, without carrying it out."""
        return self._run(attempt, keep=False)

    def read(self, *reads: Command) -> Replies:
        """What reads see now."""

        def look(tx: Transaction) -> Transition[Replies]:
            return list((yield from tx.snapshot(*reads, tolerant=True)))

        return self._storage.run(look, 0.0)

    def shows(self, unit: Unit) -> bool:
        """Whether reads would see now what they saw."""
        return self.read(*unit.reads) == list(unit.replies)

    def dump(self) -> dict[str, dict[str, Any]]:
        """All keys but pyqless's own."""
        return self._storage.dump()

    def _run(self, attempt: Attempt, *, keep: bool) -> Outcome:
        def transition(tx: Transaction) -> Transition[tuple[Outcome]]:
            for name, value in attempt.given.items():
                setattr(tx, name, copy.copy(value))
            try:
                value = yield from _again(attempt, tx)
            except (Stale, QlessError) as error:
                tx.drop_writes()
                return (Outcome(None, [], told(error), isinstance(error, Stale)),)
            outcome = Outcome(rendered(attempt, value), list(tx.writes))
            if not keep:
                tx.drop_writes()
            return (outcome,)

        return self._storage.run(transition, attempt.first_now)[0]


def _again(attempt: Attempt, tx: Transaction) -> Transition[Any]:
    """The transition anew; what may be stale is read as it was then."""
    steps = attempt.factory(tx)
    batches = iter(attempt.stale)
    try:
        batch = next(steps)
        while True:
            replies = yield batch
            tx.now = attempt.tx.now
            reads, then = next(batches, ((), {}))
            if reads == tuple(batch.reads):
                for at, reply in then.items():
                    replies[at] = reply.copy() if isinstance(reply, set) else reply
            batch = steps.send(replies)
    except StopIteration as end:
        return end.value
