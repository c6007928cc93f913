# SPDX-License-Identifier: MIT
"""What happened: calls, their attempts with what they read, and what the store committed in which order."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from pyqless.core.commands import Call as Wanted
from pyqless.core.effects import Batch, Command, Factory, Replies
from pyqless.core.transaction import Transaction
from pyqless.errors import NotReplicated, QlessError
from pyqless.testing.simulator.staleness import may_be_old, may_be_stale

__all__ = [
    "Attempt",
    "Call",
    "Commit",
    "Deposed",
    "Event",
    "History",
    "Restart",
    "Stray",
    "Unit",
    "Vanished",
]


class Unit(NamedTuple):
    """Reads that must have seen one state, at some moment of an attempt."""

    reads: tuple[Command, ...]
    replies: tuple[Any, ...]


@dataclass(eq=False)
class Attempt:
    """One run of a transition."""

    call: Call
    factory: Factory[Any]
    tx: Transaction
    #: how many events there had been when it began
    begin: int
    #: when it began, Unix time in seconds, whatever the client took it for
    moment: float
    #: which transaction of a chain it is for; housekeeping behind the reply has negative numbers
    link: int
    #: what it read that may be stale: for each batch its reads, and replies by position
    stale: list[tuple[tuple[Command, ...], dict[int, Any]]] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)
    #: what it read under guards in its only batch; an answer that rests on nothing else is not confirmed
    unconfirmed: list[Unit] = field(default_factory=list)
    is_over: bool = False
    #: what the transaction was given, as it was then
    given: dict[str, Any] = field(init=False)
    #: its moment until it had read something; whoever waits for its turn comes later
    first_now: float = field(init=False)
    reply: Any = None
    error: QlessError | None = None
    writes: list[Command] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)
    #: it was talking to a master that was none any more, and what that carried out
    is_astray: bool = False
    lost: list[list[Command]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.first_now = self.tx.now
        names = ("attempt", "chance", "memory", "takes_turns")
        found = {name: getattr(self.tx, name, None) for name in names}
        self.given = {name: copy.copy(value) for name, value in found.items() if value is not None}

    def note(self, batch: Batch, replies: Replies) -> None:
        """Note what a batch has read, as far as it may be stale."""
        reads = tuple(batch.reads)
        if batch.snapshot:
            self.stale.append((reads, dict(enumerate(replies))))
            self.units.append(Unit(reads, tuple(replies)))
            return
        is_first = not self.stale
        guarded = range(batch.guarded if is_first else 0)
        self.unconfirmed = [Unit((reads[at],), (copy.copy(replies[at]),)) for at in guarded]
        free = range(batch.guarded, len(reads))
        stale = [at for at in free if may_be_stale(self.call.name, reads[at])]
        old = [at for at in free if may_be_old(self.call.name, reads[at])]
        self.stale.append((reads, {at: copy.copy(replies[at]) for at in stale + old}))
        self.units += [Unit((reads[at],), (copy.copy(replies[at]),)) for at in stale]

    def end(self, reply: Any) -> None:
        """Note how the transition ended; what it staged waits for the commit."""
        self.is_over, self.reply, self.writes = True, reply, list(self.tx.writes)


@dataclass(eq=False)
class Call:
    """A call of a client."""

    client: str
    words: tuple[str, ...]
    wanted: Wanted
    #: how many events there had been when it began, and when it ended
    begin: int
    end: int | None = None
    attempts: list[Attempt] = field(default_factory=list)
    #: what the client was told; neither, if it was killed
    value: Any = None
    error: Exception | None = None

    @property
    def name(self) -> str:
        """The name of the command."""
        return self.words[0]

    @property
    def is_done(self) -> bool:
        """Whether the client was told that it has been carried out."""
        return self.end is not None and isinstance(self.error, NotReplicated | None)

    @property
    def result(self) -> Any:
        """What it came to, if it is done."""
        return self.error.result if isinstance(self.error, NotReplicated) else self.value

    def __str__(self) -> str:
        told = "killed" if self.end is None else repr(self.error or self.value)
        return f"{self.client}: {' '.join(self.words)} -> {told}"


class Commit(NamedTuple):
    """An EXEC that carried out writes."""

    attempt: Attempt
    writes: list[Command]
    moment: float
    #: its place among the events
    number: int


class Vanished(NamedTuple):
    """A key was evicted, has expired, or was renamed."""

    key: str
    moment: float


class Restart(NamedTuple):
    """The store restarted, or a replica took its place, and these changes are still there."""

    kept: tuple[Commit | Vanished, ...]
    is_failover: bool


class Stray(NamedTuple):
    """A write outside a transaction."""

    attempt: Attempt
    write: Command


#: what changes the store
Event: TypeAlias = Commit | Vanished | Restart | Stray


class History:
    """
    All that happened in a run.

    Args:
        time: what time it is, Unix time in seconds.
    """

    def __init__(self, time: Callable[[], float]) -> None:
        self.calls: list[Call] = []
        self.events: list[Event] = []
        #: the changes that no restart has undone
        self.timeline: list[Commit | Vanished] = []
        self._time = time

    # -- what the server tells --------------------------------------------------------------

    def committed(self, origin: Attempt, writes: list[Command]) -> None:
        """Note an EXEC that carried out writes."""
        kept = _visible(writes)
        if kept:
            commit = Commit(origin, kept, self._time(), len(self.events))
            origin.commits.append(commit)
            self.events.append(commit)
            self.timeline.append(commit)

    def stray(self, origin: Attempt, write: Command) -> None:
        """Note a write outside a transaction."""
        self.events.append(Stray(origin, write))

    def vanished(self, key: str) -> None:
        """Note that a key is gone."""
        if ":py:fence:" not in key:
            self.events.append(gone := Vanished(key, self._time()))
            self.timeline.append(gone)

    def restarted(self, kept_until: float, *, is_failover: bool = False) -> None:
        """Note a restart, and up to when what was written is still there."""
        self.timeline = [change for change in self.timeline if change.moment <= kept_until]
        self.events.append(Restart(tuple(self.timeline), is_failover))

    def had(self, commit: Commit, end: int) -> bool:
        """Whether a commit had taken place, and was not undone, before the event of a number."""
        after = self.events[commit.number : end]
        return bool(after) and all(
            commit in event.kept for event in after if isinstance(event, Restart)
        )

    @property
    def commits(self) -> list[Commit]:
        """What no restart has undone of what clients did."""
        return [change for change in self.timeline if isinstance(change, Commit)]

    @property
    def is_undisturbed(self) -> bool:
        """Whether all changes are the clients': else jobs may be missing where they stand."""
        return not any(isinstance(event, Vanished) for event in self.events)

    # -- what the clients tell --------------------------------------------------------------

    def begin(self, client: str, words: tuple[str, ...], wanted: Wanted) -> Call:
        """Note that a call begins."""
        call = Call(client, words, wanted, len(self.events))
        self.calls.append(call)
        return call

    def attempt(self, call: Call, factory: Factory[Any], tx: Transaction, link: int) -> Attempt:
        """Note that an attempt at one of its transactions begins."""
        attempt = Attempt(call, factory, tx, len(self.events), self._time(), link)
        call.attempts.append(attempt)
        return attempt

    def end(self, call: Call, value: Any, error: Exception | None) -> None:
        """Note what its caller was told."""
        call.end, call.value, call.error = len(self.events), value, error


class Deposed:
    """What a master does that is none any more: it is not part of the history, and nothing of it stays."""

    def __init__(self, history: History) -> None:
        self.stray = history.stray

    def committed(self, origin: Attempt, writes: list[Command]) -> None:
        """Note an EXEC that carried out writes, in vain."""
        if kept := _visible(writes):
            origin.lost.append(kept)

    def vanished(self, key: str) -> None:
        """Note nothing."""


def _visible(writes: list[Command]) -> list[Command]:
    """The writes of which others see anything."""
    return [write for write in writes if ":py:fence:" not in write[1]]
