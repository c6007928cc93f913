# SPDX-License-Identifier: MIT
"""
Clients that share a store: each call is one of theirs, and what it does is what it would do if there were but one.

So it makes no difference what a client remembers, has read ahead, or keeps of what it has read.
"""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st
from hypothesis.stateful import rule

from pyqless.conformance import Call, Core, LuaCore, Snapshot, Target
from pyqless.conformance.protocol import CommandError, Message
from pyqless.core.replies import Reply
from tests.property import strategies
from tests.property.machines import RulesMachine

__all__ = ["LuaClient", "Shared", "SharedMachine"]

#: how many clients of ours there are
OURS: Final = 2


class LuaClient(LuaCore):
    """A client of a Lua core that is not alone with its database."""

    def call(self, *words: str) -> Reply:
        """As ``LuaCore.call``, whatever others have done since the last one."""
        self._state = None
        return super().call(*words)


class Shared:
    """
    A store that several clients share; one more, who carries out no calls, looks at it.

    Args:
        url: of the store.
        theirs: a client that is none of ours.

    Attributes:
        speaker: the number of the client whose turn it is.
        guesses: how many transactions were answered with what had been read ahead.
    """

    error = CommandError

    def __init__(self, url: str, theirs: LuaClient | None = None) -> None:
        self._url = url
        self._eye = Target(url)
        self._ours: list[Target] = []
        self._theirs = theirs
        self.speaker = 0
        self.guesses = 0

    def call(self, *words: str) -> Reply:
        """Let the speaker carry out a call."""
        clients: list[Core] = [*self._ours, *((self._theirs,) if self._theirs else ())]
        client = clients[self.speaker % len(clients)]
        try:
            return client.call(*words)
        except CommandError:
            if client is self._theirs:
                self._eye.recorded()  # what is undone was announced
            raise

    def flush(self) -> None:
        """Empty the store; clients who know nothing begin."""
        self.close_ours()
        self._eye.flush()
        self._ours = [Target(self._url) for _ in range(OURS)]

    def record(self) -> None:
        """See ``Core.record``."""
        self._eye.record()

    def recorded(self) -> list[Message]:
        """See ``Core.recorded``."""
        return self._eye.recorded()

    def snapshot(self) -> Snapshot:
        """See ``Core.snapshot``; a look by the speaker itself would take the place of what it has read ahead."""
        return self._eye.snapshot()

    def close_ours(self) -> None:
        """Let the clients go."""
        for client in self._ours:
            self.guesses += client._storage.metrics.guesses
            client.close()
        self._ours = []

    def close(self) -> None:
        """Let go of the store."""
        self.close_ours()
        self._eye.close()


class SharedMachine(RulesMachine):
    """Calls of one client or another, and sometimes several by which a worker lives."""

    shared: Shared

    @rule(call=strategies.calls(), speaker=st.integers(0, OURS))
    def call(self, call: Call | None, speaker: int = 0) -> None:
        self.shared.speaker = speaker
        super().call(call)

    @rule(shift=strategies.shifts(), speaker=st.integers(0, OURS))
    def work(self, shift: strategies.Shift, speaker: int) -> None:
        """Take jobs, keep them and complete them: what comes next can be foreseen."""
        self.shared.speaker = speaker
        for step, jid, elapsed in shift.steps:
            words = self._words(shift, step, jid)
            if words:
                self.carry_out((step, strategies.spelled(self.now + elapsed), *words))

    def _words(self, shift: strategies.Shift, step: str, jid: str) -> Call:
        """What a step says behind its moment; nothing where no job is held that it could be about."""
        queue, worker, _ = shift
        held = [jid for jid, *lock in self.store.running if lock == [worker, queue]]
        match step:
            case "put":
                return (worker, queue, jid, "K", "{}", "0")
            case "recur":
                return (queue, "r1", "K", "{}", "interval", "10", "0")
            case "pop":
                return (queue, worker, "1")
            case "complete":
                return (held[-1], worker, queue, "{}") if held else ()
            case _:
                return (held[-1], worker) if held else ()
