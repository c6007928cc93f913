# SPDX-License-Identifier: MIT
"""A lane: one connection, and what state the server has it in."""

from __future__ import annotations

import math
import os
from enum import Enum, auto
from typing import Any, Final

from pyqless.core.effects import Command
from pyqless.core.keys import Keys
from pyqless.errors import StoreUnavailable
from pyqless.storage.metrics import Metrics
from pyqless.storage.redis.fence import Fence
from pyqless.storage.redis.foresight import Foresight, Trust
from pyqless.storage.redis.policy import Policy, Replication
from pyqless.storage.redis.protocol import ServerError, fault_of
from pyqless.storage.redis.room import Room
from pyqless.storage.redis.steps import Close, Connect, Exchange, LinkLost, Steps
from pyqless.storage.redis.turns import Turns

__all__ = ["Lane", "State"]

#: what keeps a fence; EXPIRE tells whether it is there
_KEEPING: Final = frozenset(("HSET", "EXPIRE"))

#: seconds after which a commit that was opened ahead is of no use
_STALE_AFTER: Final = 60.0


class State(Enum):
    """What the server makes of the next command on a connection."""

    #: there is no connection
    CLOSED = auto()
    #: it carries the command out, and has no guards of this connection
    IDLE = auto()
    #: it carries the command out, and has guards
    WATCHING = auto()
    #: it queues the command
    QUEUEING = auto()


class Lane:
    """
    A connection for one transaction at a time.

    Args:
        keys: the key map of the namespace.
        policy: how long to try to recover.
        metrics: where exchanges and recoveries are counted, of all lanes of a storage.
        replication: how many replicas must have each commit.
        headroom: which part of the store's memory new jobs must leave free.
    """

    def __init__(
        self,
        keys: Keys,
        policy: Policy,
        metrics: Metrics,
        replication: Replication | None = None,
        headroom: float = 0.0,
    ) -> None:
        self.fence = Fence(keys.fence(os.urandom(8).hex()), policy.monotonic)
        self.state = State.CLOSED
        #: the connection is new, and the store's clock may be another's
        self.is_new = True
        #: a commit has succeeded on this connection
        self.has_written = False
        self.policy = policy
        self.metrics = metrics
        self.replication = replication
        self.room = Room(headroom)
        self.trust = Trust()
        self.turns = Turns(policy)
        #: when a commit was opened ahead, on the policy's clock, and what was read with that
        self._opened_at = -math.inf
        self._foresight: Foresight | None = None

    # -- exchanges --------------------------------------------------------------------------

    def exchange(self, *commands: Command) -> Steps[list[Any]]:
        """
        Send commands in one packet, on a new connection if there is none.

        Raises:
            LinkLost: the connection broke; it is closed.
            StoreUnavailable: there is no connection to be had.
        """
        if self.state is State.CLOSED:
            yield Connect()
            self.state, self.has_written, self.is_new = State.IDLE, False, True
        self.metrics.trips += 1
        # whatever is sent may drop the guards that stand
        self._foresight, self._opened_at = None, -math.inf
        try:
            replies: list[Any] = yield Exchange(commands)
        except LinkLost:
            yield from self.close()
            raise
        self.metrics.answers += 1
        return replies

    def close(self) -> Steps[None]:
        """Close the connection, and with it whatever state the server has it in."""
        self.forget()
        yield Close()

    def forget(self) -> None:
        """Know nothing of the connection any more: there is none."""
        self.state, self._foresight = State.CLOSED, None
        self.fence.begin_anew()
        self.turns.begin_anew()

    # -- the state --------------------------------------------------------------------------

    def enter(self) -> tuple[Command, ...]:
        """The commands that go before the first guard of a transaction."""
        return (*self.leave(), *self.fence.birth())

    def leave(self) -> tuple[Command, ...]:
        """The commands that take the connection out of the last transaction's state."""
        if self.state is State.QUEUEING:
            return (("DISCARD",),)
        return (("UNWATCH",),) if self.state is State.WATCHING else ()

    def require_ok(self, commands: tuple[Command, ...], replies: list[Any]) -> Steps[None]:
        """
        Make sure that the server has done what keeps transactions safe.

        Raises:
            StorageError: it has not; the connection is closed, and no write has been sent.
        """
        for command, reply in zip(commands, replies, strict=True):
            if command[0] in _KEEPING:
                # where this is refused, the commit says why, if there is one
                if command[0] == "EXPIRE" and reply == 1:
                    self.fence.put_off()
            elif reply != "OK":
                yield from self.close()
                if isinstance(reply, ServerError):
                    raise fault_of(reply, command[0])
                raise StoreUnavailable(f"{command[0]} was answered with {reply!r}")

    def ask(self, *commands: Command) -> Steps[list[Any]]:
        """
        Send commands that belong to no transaction; a transaction that is open ends with that.

        Raises:
            LinkLost: the connection broke; it is closed.
            StorageError: there is no connection to be had, or the last transaction cannot be left.
        """
        leave = self.leave()
        replies = yield from self.exchange(*leave, *commands)
        yield from self.require_ok(leave, replies[: len(leave)])
        self.state = State.IDLE
        return replies[len(leave) :]

    # -- reading ahead ----------------------------------------------------------------------

    def open_ahead(self, foresight: Foresight | None) -> float:
        """
        Note that the next commit is open, and what was read with that.

        Returns:
            float: the moment, on the policy's clock.
        """
        self.state, self._foresight = State.QUEUEING, foresight
        self._opened_at = self.policy.monotonic()
        return self._opened_at

    def is_open(self) -> bool:
        """Whether a commit without further guards can be sent at once."""
        age = self.policy.monotonic() - self._opened_at
        return self.state is State.QUEUEING and age < _STALE_AFTER

    def take_foresight(self) -> Foresight | None:
        """What was read ahead: once, and not when it is old."""
        foresight, self._foresight = self._foresight, None
        return foresight if foresight is not None and self.is_open() else None
