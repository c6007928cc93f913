# SPDX-License-Identifier: MIT
"""
A lane: one connection, what state the server has it in, and its fence.

A connection that breaks after EXEC was sent leaves it open whether EXEC took place, and it may still take
place later. So each lane has a *fence*: a hash that every transaction of the lane guards and writes its
number to. After such a break, the fence is written to on a new connection, so that the old EXEC can no longer
succeed, and tells which transaction was the last.
"""

from __future__ import annotations

import os
from enum import Enum, auto
from typing import Any, NamedTuple

from pyqless.core.effects import Command
from pyqless.core.keys import Keys
from pyqless.errors import OutcomeUnknown, StorageError, StoreUnavailable
from pyqless.storage.metrics import Metrics
from pyqless.storage.redis.policy import Pauses
from pyqless.storage.redis.protocol import ServerError, fault_of
from pyqless.storage.redis.steps import Close, Connect, Exchange, LinkLost, Pause, Steps

__all__ = ["Kind", "Lane", "Outcome"]

#: seconds after its last use at which a fence expires
FENCE_LIFE = 86400

#: a fence's expiry is put off once in so many transactions: far more often than it could run out
_EXTEND_EVERY = 1000


class Kind(Enum):
    """What became of an EXEC."""

    #: everything was carried out
    COMMITTED = auto()
    #: a guarded key had changed; nothing was carried out
    CONFLICT = auto()
    #: the server would not; nothing was carried out
    REFUSED = auto()
    #: the server never had all of it; nothing was carried out
    NOT_SENT = auto()
    #: the connection broke before the reply
    UNKNOWN = auto()


class Outcome(NamedTuple):
    """What became of an EXEC, and the replies to what was queued, or why not."""

    kind: Kind
    replies: list[Any]
    fault: StorageError | None = None


class Lane:
    """
    A connection for one transaction at a time.

    Args:
        keys: the key map of the namespace.
        metrics: where exchanges and recoveries are counted.
    """

    def __init__(self, keys: Keys, metrics: Metrics) -> None:
        self.fence = keys.fence(os.urandom(8).hex())
        self.connected = False
        #: the server has guards of this connection
        self.watching = False
        #: the server queues this connection's commands
        self.queueing = False
        self._metrics = metrics
        #: the number of the last transaction that was sent, and of the last one known to be committed
        self._sent = 0
        self._committed = 0

    # -- exchanges --------------------------------------------------------------------------

    def exchange(self, *commands: Command) -> Steps[list[Any]]:
        """
        Send commands in one packet, on a new connection if there is none.

        Raises:
            LinkLost: the connection broke; it is closed.
            StoreUnavailable: there is no connection to be had.
        """
        if not self.connected:
            yield Connect()
            self.connected, self.watching, self.queueing = True, False, False
        self._metrics.trips += 1
        try:
            replies: list[Any] = yield Exchange(commands)
        except LinkLost:
            yield from self.close()
            raise
        return replies

    def close(self) -> Steps[None]:
        """Close the connection, and with it whatever state the server has it in."""
        self.connected = False
        yield Close()

    def leave(self) -> tuple[Command, ...]:
        """The commands that take the connection out of the last transaction's state."""
        if self.queueing:
            return (("DISCARD",),)
        return (("UNWATCH",),) if self.watching else ()

    def require_ok(self, commands: tuple[Command, ...], replies: list[Any]) -> Steps[None]:
        """
        Make sure that the server has done what keeps transactions safe.

        Raises:
            StorageError: it has not; the connection is closed, and no write has been sent.
        """
        for command, reply in zip(commands, replies, strict=True):
            if reply != "OK":
                yield from self.close()
                if isinstance(reply, ServerError):
                    raise fault_of(reply, command[0])
                raise StoreUnavailable(f"{command[0]} was answered with {reply!r}")

    # -- EXEC -------------------------------------------------------------------------------

    def execute(
        self, body: tuple[Command, ...], before: tuple[Command, ...] = ()
    ) -> Steps[Outcome]:
        """
        Send commands and EXEC, and name the outcome: the only place that sends EXEC.

        Args:
            body: what is queued.
            before: what stands before it in the packet.
        """
        try:
            replies = yield from self.exchange(*before, *body, ("EXEC",))
        except LinkLost as lost:
            return Outcome(Kind.UNKNOWN if lost.sent else Kind.NOT_SENT, [])
        self.watching = self.queueing = False
        results = replies[-1]
        if isinstance(results, list):
            return Outcome(Kind.COMMITTED, results)
        if results is None:
            return Outcome(Kind.CONFLICT, [])
        yield from self.close()
        commands = (*before, *body, ("EXEC",))
        refused = next(
            (command, reply)
            for command, reply in zip(commands, replies, strict=True)
            if isinstance(reply, ServerError)
        )
        return Outcome(Kind.REFUSED, [], fault_of(refused[1], refused[0][0]))

    def commit(self, writes: list[Command]) -> Steps[Outcome]:
        """Carry out writes behind a MULTI that the server has acknowledged, and number the transaction."""
        self._sent += 1
        fence: list[Command] = [("HSET", self.fence, "seq", self._sent)]
        if self._sent % _EXTEND_EVERY == 1:
            fence.append(("EXPIRE", self.fence, FENCE_LIFE))
        outcome = yield from self.execute((*writes, *fence))
        if outcome.kind is Kind.COMMITTED:
            self._committed = self._sent
        return outcome

    def recover(self, pauses: Pauses) -> Steps[bool]:
        """
        Find out what became of the last commit, and see to it that it can take place no more.

        Args:
            pauses: how long to wait from one try to the next, until it is time to give up.

        Returns:
            bool: whether it has taken place.

        Raises:
            OutcomeUnknown: the store cannot say.
        """
        self._metrics.recoveries += 1
        look = (
            ("HGET", self.fence, "seq"),
            ("HINCRBY", self.fence, "epoch", 1),
            ("EXPIRE", self.fence, FENCE_LIFE),
        )
        reason: object = "it did not answer in time"
        for seconds in pauses:
            try:
                outcome = yield from self.execute(look, before=(("MULTI",),))
            except StorageError as error:
                reason = error
            else:
                if outcome.kind is Kind.COMMITTED:
                    return self._has_committed(outcome.replies[0])
                reason = outcome.fault or reason
            yield Pause(seconds)
        raise OutcomeUnknown(
            f"the connection broke during a commit, and the store cannot be asked: {reason};"
            " whether it took place shows in the job itself",
            argument=self.fence,
        )

    def _has_committed(self, number: str | None) -> bool:
        if number is None and self._committed:
            raise OutcomeUnknown(
                "the connection broke during a commit, and its fence is gone:"
                " the store was flushed, evicts keys, or failed over;"
                " whether the commit took place shows in the job itself",
                argument=self.fence,
            )
        taken_place = number == str(self._sent)
        if taken_place:
            self._committed = self._sent
        return taken_place
