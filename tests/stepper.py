# SPDX-License-Identifier: MIT
"""
A client that stops between the packets of a call, so that others can act there, and that can forget guards.

It commits on the versions of an in-memory keyspace, as WATCH does: what was touched since it was guarded
voids the attempt, and the call begins afresh.
"""

from __future__ import annotations

import shlex
from collections.abc import Container, Generator, Mapping
from typing import Any, Final

from pyqless.core.commands import call
from pyqless.core.effects import Command, Continue, Factory, FollowedBy
from pyqless.core.keys import Keys
from pyqless.core.keyspace import Keyspace
from pyqless.core.transaction import Stale, Transaction
from pyqless.errors import QlessError

__all__ = ["Running", "begin", "run"]

#: nobody interferes with a call that runs to its end, so more conflicts than this are a fault of the stepper
TRIES: Final = 5


class Running:
    """
    A call under way.

    Args:
        words: the call, written as in a shell.
        unguarded: keys whose guards are forgotten.
        pretended: replies to reads, in the place of what the store holds.
    """

    def __init__(
        self,
        keyspace: Keyspace,
        words: str,
        unguarded: Container[str] = (),
        pretended: Mapping[Command, Any] | None = None,
    ) -> None:
        self._keyspace = keyspace
        self._unguarded = unguarded
        self._pretended = pretended or {}
        self._call = call(shlex.split(words))
        self._attempts = self._until_committed(self._call.transition)
        #: attempts that others' changes made void
        self.conflicts = 0

    def step(self, batches: int) -> None:
        """Go on until so many more batches have been read."""
        for _ in range(batches):
            next(self._attempts)

    def finish(self) -> Any:
        """Go on to the end; returns what a client on the wire gets, or the error that it is told."""
        try:
            while True:
                next(self._attempts)
        except StopIteration as end:
            return self._call.render(end.value)
        except QlessError as error:
            return error

    # -- what a storage does ----------------------------------------------------------------------

    def _until_committed(self, transition: Factory[Any]) -> Generator[None, None, Any]:
        for attempt in range(TRIES):
            tx = Transaction(self._call.now, Keys(), attempt)
            try:
                value = yield from self._attempt(transition, tx)
            except Stale:
                self.conflicts += 1
                continue
            if isinstance(value, Continue):
                return (yield from self._until_committed(value.rest))
            if isinstance(value, FollowedBy):
                yield from self._until_committed(value.rest)
                return value.value
            return value
        raise AssertionError(f"void {TRIES} times, although nobody interfered")

    def _attempt(self, transition: Factory[Any], tx: Transaction) -> Generator[None, None, Any]:
        versions = self._keyspace.versions
        guarded: dict[str, int] = {}
        steps = transition(tx)
        try:
            batch = next(steps)
            while True:
                assert not (batch.snapshot and guarded), "a snapshot would drop the guards"
                for key in batch.guards:
                    if key not in self._unguarded:
                        guarded.setdefault(key, versions.get(key, 0))
                replies = [self._read(read) for read in batch.reads]
                yield
                batch = steps.send(replies)
        except StopIteration as end:
            value = end.value
        if any(versions.get(key, 0) != version for key, version in guarded.items()):
            raise Stale
        for write in tx.writes:
            if write[0] != "PUBLISH":
                self._keyspace.write(write)
        return value

    def _read(self, read: Command) -> Any:
        return self._pretended[read] if read in self._pretended else self._keyspace.read(read)


def begin(
    keyspace: Keyspace,
    words: str,
    *,
    unguarded: Container[str] = (),
    pretended: Mapping[Command, Any] | None = None,
) -> Running:
    """Begin a call; see ``Running``."""
    return Running(keyspace, words, unguarded, pretended)


def run(keyspace: Keyspace, words: str) -> Any:
    """Run a call from its beginning to its end."""
    return Running(keyspace, words).finish()
