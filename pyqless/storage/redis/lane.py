# SPDX-License-Identifier: MIT
"""
A lane: one connection, what state the server has it in, and its fence.

A connection that breaks after EXEC was sent leaves it open whether EXEC took place, and it may still take
place later. So each lane has a *fence*: a hash that every transaction of the lane guards and writes its
number to. After such a break, the fence is written to on a new connection, so that the old EXEC can no longer
succeed, and tells which transaction was the last.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from enum import Enum, auto
from typing import Any

from pyqless.core.effects import Ahead, Command
from pyqless.core.keys import Keys
from pyqless.errors import OutcomeUnknown, StorageError, StoreUnavailable
from pyqless.storage.metrics import Metrics
from pyqless.storage.redis.clock import StoreClock
from pyqless.storage.redis.foresight import Foresight, Trust
from pyqless.storage.redis.outcomes import Kind, Outcome
from pyqless.storage.redis.policy import Policy, Replication
from pyqless.storage.redis.protocol import ServerError, fault_of
from pyqless.storage.redis.steps import Close, Connect, Exchange, LinkLost, Pause, Steps
from pyqless.storage.redis.turns import Turns

__all__ = ["Lane", "State"]

#: seconds after its last use at which a fence expires, give or take the next
FENCE_LIFE = 86400

#: seconds after which the next transaction puts off its fence's expiry
_EXTEND_AFTER = 3600.0

#: what keeps a fence; EXPIRE tells whether it is there
_KEEPING = frozenset(("HSET", "EXPIRE"))

#: seconds after which the store is asked anew for its memory
_ROOM_VALID = 1.0

#: seconds after which a commit that was opened ahead is of no use
_STALE_AFTER = 60.0


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
        metrics: where exchanges and recoveries are counted.
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
        self.fence = keys.fence(os.urandom(8).hex())
        self.state = State.CLOSED
        #: the store has been reached at least once
        self.has_answered = False
        self.policy = policy
        self.replication = replication
        self.headroom = headroom
        #: the connection is new, and the store's clock may be another's
        self.is_new = True
        #: which part of its memory the store has left, and when it was asked, on the policy's clock
        self.room = 1.0
        self._asked_at = -math.inf
        self._metrics = metrics
        #: the number of the last transaction that was sent
        self._sent = 0
        #: how often the fence was to be made: one that has another number is not the one that was made last
        self._births = 0
        #: when to put off the fence's expiry, on the policy's clock
        self._extend_at = -math.inf
        #: a commit has succeeded on this connection
        self._has_written = False
        #: when a commit was opened ahead, on the policy's clock, and what was read with that
        self._opened_at = -math.inf
        self._foresight: Foresight | None = None
        self.trust = Trust()
        self.turns = Turns(policy)

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
            self.state, self._has_written, self.is_new = State.IDLE, False, True
        self._metrics.trips += 1
        # whatever is sent may drop the guards that stand
        self._foresight, self._opened_at = None, -math.inf
        try:
            replies: list[Any] = yield Exchange(commands)
        except LinkLost:
            yield from self.close()
            raise
        self.has_answered = True
        return replies

    def close(self) -> Steps[None]:
        """Close the connection, and with it whatever state the server has it in."""
        self.forget()
        yield Close()

    def forget(self) -> None:
        """Know nothing of the connection any more: there is none."""
        self.state, self._foresight, self._extend_at = State.CLOSED, None, -math.inf
        self.turns.begin_anew()

    def leave(self) -> tuple[Command, ...]:
        """The commands that take the connection out of the last transaction's state."""
        if self.state is State.QUEUEING:
            return (("DISCARD",),)
        return (("UNWATCH",),) if self.state is State.WATCHING else ()

    def enter(self) -> tuple[Command, ...]:
        """
        The commands that go before the first guard of a transaction.

        The fence must be there before the first commit whose outcome it may have to tell: only so does one that is
        missing say that it was lost, and not that there was no commit.
        """
        if self.policy.monotonic() < self._extend_at:
            return self.leave()
        self._births += 1
        birth = ("HSET", self.fence, "birth", str(self._births))
        return (*self.leave(), birth, ("EXPIRE", self.fence, FENCE_LIFE))

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
                    self._extend_at = self.policy.monotonic() + _EXTEND_AFTER
            elif reply != "OK":
                yield from self.close()
                if isinstance(reply, ServerError):
                    raise fault_of(reply, command[0])
                raise StoreUnavailable(f"{command[0]} was answered with {reply!r}")

    # -- EXEC -------------------------------------------------------------------------------

    def execute(
        self,
        body: tuple[Command, ...],
        before: tuple[Command, ...] = (),
        behind: tuple[Command, ...] = (),
    ) -> Steps[Outcome]:
        """
        Send commands and EXEC, and name the outcome: the only place that sends EXEC.

        Args:
            body: what is queued.
            before, behind: what stands around it in the packet.
        """
        packet = (*before, *body, ("EXEC",))
        try:
            replies = yield from self.exchange(*packet, *behind)
        except LinkLost as lost:
            # what stands behind EXEC may be all that was not sent
            return Outcome(Kind.UNKNOWN if lost.sent or behind else Kind.NOT_SENT, [])
        self.state = State.IDLE
        results, after = replies[len(packet) - 1], replies[len(packet) :]
        if isinstance(results, list):
            return Outcome(Kind.COMMITTED, results, None, replies[: len(before)], after)
        if results is None:
            return Outcome(Kind.CONFLICT, [], after=after)
        yield from self.close()
        return self._refusal(packet, replies[: len(packet)])

    def _refusal(self, packet: tuple[Command, ...], replies: list[Any]) -> Outcome:
        """What an EXEC means that was answered with neither results nor nil."""
        if not isinstance(replies[-1], ServerError):
            return Outcome(Kind.UNKNOWN, [])
        fault = next(
            fault_of(reply, command[0])
            for command, reply in zip(packet, replies, strict=True)
            if isinstance(reply, ServerError)
        )
        if fault.value == "READONLY" and self._has_written:
            # it was a master and is no more, and whoever connects us may know the new one
            return Outcome(Kind.NOT_SENT, [])
        return Outcome(Kind.REFUSED, [], fault)

    def commit(self, writes: list[Command], ahead: Ahead | None) -> Steps[Outcome]:
        """
        Carry out writes behind a MULTI that the server has acknowledged, and number the transaction.

        Args:
            ahead: what to read for the next one, if it is worth it.
        """
        self._sent += 1
        fence: list[Command] = [("HSET", self.fence, "seq", str(self._sent))]
        now = self.policy.monotonic()
        if now >= self._extend_at:
            fence.append(("EXPIRE", self.fence, FENCE_LIFE))
        if self.replication is not None:
            ahead = None  # what waits for the replicas must not stand behind MULTI
        if ahead is not None and ahead.reads and not self.trust.allows(ahead.topic):
            ahead = None
        guards: list[str] = []
        behind = back = self.turns.end()
        if ahead is not None:
            guards = ahead.guards
            # the fence comes first: it must be guarded in a packet that is acknowledged before the commit
            behind = (*back, ("WATCH", self.fence, *guards), *ahead.reads, ("MULTI",))
        outcome = yield from self.execute((*writes, *fence), behind=behind)
        if outcome.kind is Kind.COMMITTED:
            self._has_written = True
            if len(fence) > 1:
                self._extend_at = now + _EXTEND_AFTER
        if ahead is not None and self.state is State.IDLE:
            yield from self._open(ahead, guards, outcome.after[len(back) :])
            self.turns.nearest = min(self.turns.nearest, self._opened_at - now)
        return outcome

    def give_way(self) -> Steps[None]:
        """Let others have their turn, if it is ours, and nothing is committed."""
        back = self.turns.end()
        if not back:
            return
        try:
            yield from self.exchange(*self.leave(), *back)
        except (LinkLost, StorageError):
            return  # those who wait go on without
        self.state = State.IDLE

    def is_replicated(self) -> Steps[int | None]:
        """
        Wait for the replicas behind a commit.

        Returns:
            int: how many have it, if that is too few; else None. -1 means that it is not known.
        """
        wanted = self.replication
        if wanted is None:
            return None
        milliseconds = max(1, round(wanted.timeout * 1000))
        try:
            (count,) = yield from self.exchange(("WAIT", str(wanted.replicas), str(milliseconds)))
        except (LinkLost, StorageError):
            return -1
        if isinstance(count, ServerError):
            return -1
        return None if count >= wanted.replicas else int(count)

    def learn_time(self, clock: StoreClock) -> Steps[None]:
        """Ask the store for its time."""
        began, leave = self.policy.monotonic(), self.leave()
        replies = yield from self.exchange(*leave, ("TIME",))
        yield from self.require_ok(leave, replies[: len(leave)])
        self.state, self.is_new = State.IDLE, False
        if isinstance(replies[-1], ServerError):
            raise fault_of(replies[-1], "TIME")
        clock.learn(replies[-1], began)

    def learn_room(self) -> Steps[None]:
        """Ask the store for its memory, once in a while; one that would rather lose keys than refuse has room."""
        now, leave = self.policy.monotonic(), self.leave()
        if now - self._asked_at < _ROOM_VALID:
            return
        replies = yield from self.exchange(*leave, ("INFO", "memory"))
        yield from self.require_ok(leave, replies[: len(leave)])
        self.state, self._asked_at = State.IDLE, now
        if isinstance(replies[-1], ServerError):
            raise fault_of(replies[-1], "INFO")
        said = dict(line.split(":", 1) for line in replies[-1].splitlines() if ":" in line)
        limit = int(said.get("maxmemory", 0))
        evicts = said.get("maxmemory_policy") != "noeviction"
        self.room = 1.0 if evicts or not limit else 1.0 - int(said.get("used_memory", 0)) / limit

    # -- reading ahead ----------------------------------------------------------------------

    def _open(self, ahead: Ahead, guards: list[str], replies: Sequence[Any]) -> Steps[None]:
        """Note that the next commit is open; whoever would not have it so is told when it is tried again."""
        if replies[0] != "OK" or replies[-1] != "OK":
            yield from self.close()
            return
        self.state, self._opened_at = State.QUEUEING, self.policy.monotonic()
        if ahead.reads:
            self._foresight = Foresight(ahead, guards, list(replies[1:-1]))

    def is_open(self) -> bool:
        """Whether a commit without further guards can be sent at once."""
        age = self.policy.monotonic() - self._opened_at
        return self.state is State.QUEUEING and age < _STALE_AFTER

    def take_foresight(self) -> Foresight | None:
        """What was read ahead: once, and not when it is old."""
        foresight, self._foresight = self._foresight, None
        return foresight if foresight is not None and self.is_open() else None

    # -- recovery ---------------------------------------------------------------------------

    def recover(self) -> Steps[bool]:
        """
        Find out what became of the last commit, and see to it that it can take place no more.

        Returns:
            bool: whether it has taken place.

        Raises:
            OutcomeUnknown: the store cannot say.
        """
        self._metrics.recoveries += 1
        reason: object = "it did not answer in time"
        pauses = self.policy.patience(self.policy.monotonic())
        seconds: float | None = 0.0
        while seconds is not None:
            try:
                # the write comes first: what is read behind it is final. Sent twice, it does no harm
                bumped, number, birth, _ = yield from self.exchange(
                    ("HINCRBY", self.fence, "epoch", 1),
                    ("HGET", self.fence, "seq"),
                    ("HGET", self.fence, "birth"),
                    ("EXPIRE", self.fence, FENCE_LIFE),
                )
            except (LinkLost, StorageError) as error:
                reason = error
            else:
                if number == str(self._sent):
                    return True
                answers = (bumped, number, birth)
                refused = next((it for it in answers if isinstance(it, ServerError)), None)
                if refused is None:
                    self._require_fence(number, birth)
                    return False
                reason = refused
                yield from self.close()
            seconds = next(pauses, None)
            if seconds is not None:
                yield Pause(seconds)
        raise OutcomeUnknown(
            f"the connection broke during a commit, and the store cannot be asked: {reason};"
            " it may still take place, so a look at the job can come too early; the same call made again cannot",
            argument=self.fence,
        )

    def _require_fence(self, number: str | None, birth: str | None) -> None:
        if number is None and birth != str(self._births):
            raise OutcomeUnknown(
                "the connection broke during a commit, and its fence is gone:"
                " the store was flushed, evicts keys, or failed over;"
                " whether the commit took place shows in the job itself",
                argument=self.fence,
            )
