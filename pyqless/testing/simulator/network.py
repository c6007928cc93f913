# SPDX-License-Identifier: MIT
"""
Streams of bytes between clients and the store, and what can happen to them.

A stream delivers in order, and once: so nothing is delivered twice unless somebody sends it twice.
But it may break at any byte, and what had been sent may be lost, or land much later.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from pyqless.core.effects import Command
from pyqless.storage.redis.steps import LinkLost
from pyqless.testing.simulator.scheduler import Scheduler
from pyqless.testing.simulator.server import Server
from pyqless.testing.simulator.session import Session

__all__ = ["Faults", "Link"]


@dataclass(frozen=True)
class Faults:
    """How often what goes wrong; probabilities from 0 to 1, each for one packet, step or call."""

    #: the connection breaks before the last byte was handed over; what was, may land
    cut: float = 0.0
    #: it breaks behind the last byte, and nothing of it arrives
    lost_request: float = 0.0
    #: it breaks, or is too slow, behind the last byte; the packet has landed, or will
    lost_reply: float = 0.0
    #: others get in between two commands of a packet
    torn: float = 0.0
    #: a client is stopped for some seconds, longer than locks last
    slow: float = 0.0
    #: a client is killed; another takes its place
    crash: float = 0.0
    #: a client's clock jumps
    jump: float = 0.0
    #: a client finds the store gone when it connects
    unreachable: float = 0.0
    #: the store restarts, with all its data
    restart: float = 0.0
    #: it restarts without the last second of writes
    amnesia: float = 0.0
    #: a replica takes its place, which may lack what was written last; drawn twice
    failover: float = 0.0
    #: a key vanishes: it is evicted, expires, or is renamed; drawn eight times
    vanishing: float = 0.0
    #: a WATCH or MULTI is refused, as by a proxy
    refused_control: float = 0.0
    #: a write is refused when it is queued, as where memory is short
    refused_write: float = 0.0


class Link:
    """
    A client's end of a connection.

    Subclasses show what comes of a driver without one of its safeguards, whatever the driver looks like.
    """

    #: seconds that a packet takes, and that a client waits for replies
    TRIP, TIMEOUT = 0.1, 2.0

    def __init__(self, scheduler: Scheduler, server: Server, faults: Faults) -> None:
        self._scheduler = scheduler
        self._faults = faults
        self._server = server
        #: the server's end
        self.session = Session(server)
        #: replies that have arrived, and that nobody has read
        self._inbox: deque[Any] = deque()
        self._waiting: _Waiting | None = None
        #: when the last packet lands, and the last replies arrive; later ones cannot overtake them
        self._lands_at = self._heard_at = 0.0

    @classmethod
    def opened(
        cls,
        scheduler: Scheduler,
        server: Server,
        faults: Faults,
        previous: Link | None,  # noqa: ARG003 - for those that are not opened anew
    ) -> Link:
        """Open a connection in the place of the client's previous one."""
        return cls(scheduler, server, faults)

    def exchange(
        self, commands: tuple[Command, ...], origin: Any, then: Callable[[Any], None]
    ) -> None:
        """
        Send commands in one packet.

        Args:
            origin: whose they are.
            then: is given the replies, or a ``LinkLost``.
        """
        commands = self.outgoing(commands)

        def answer(found: Any) -> None:
            then(found if isinstance(found, LinkLost) else self.incoming(commands, found))

        self._waiting = _Waiting(len(commands), answer)
        draw, faults = self._scheduler.happens, self._faults
        if draw(faults.cut):
            whole = self._scheduler.chance.randrange(len(commands))
            self._land(commands[:whole], origin, late=draw(0.5))
            self._break(0.0, sent=False)
        elif draw(faults.lost_request):
            self._break(self.TIMEOUT, sent=True)
        elif draw(faults.lost_reply):
            self._land(commands, origin, late=draw(0.7), heard=draw(0.5))
            self._break(draw(0.5) * self.TIMEOUT, sent=True)
        else:
            self._land(commands, origin)

    def outgoing(self, commands: tuple[Command, ...]) -> tuple[Command, ...]:
        """What is sent in their place."""
        return commands

    def incoming(self, commands: tuple[Command, ...], replies: list[Any]) -> list[Any]:  # noqa: ARG002
        """What is given back in the place of replies."""
        return replies

    def renew(self) -> None:
        """Connect anew; what was sent before lands all the same."""
        self.close()
        self.session = Session(self._server)
        self._inbox = deque()
        self._lands_at = self._heard_at = 0.0

    def abandon(self) -> None:
        """Wait for nothing any longer."""
        self._waiting = None

    def close(self) -> None:
        """Close the connection; what has been sent on it lands all the same."""
        self.abandon()
        self._at_landing(0.0, self.session.close)

    # -- what happens on the way ------------------------------------------------------------

    def _break(self, seconds: float, *, sent: bool) -> None:
        waiting = self._waiting
        lost = LinkLost("the simulated connection broke", sent=sent)
        self._scheduler.after(seconds, lambda: self._resume(waiting, lost))

    def _land(
        self, commands: tuple[Command, ...], origin: Any, *, late: bool = False, heard: bool = True
    ) -> None:
        delay = self._scheduler.about(self.TIMEOUT * 2 if late else self.TRIP)
        whole = len(commands)
        cut = self._scheduler.chance.randrange(whole + 1) if self._tears() else whole
        waiting = self._waiting
        for part in filter(None, (commands[:cut], commands[cut:])):
            self._at_landing(
                delay, partial(self._arrive, self.session, part, origin, waiting, heard)
            )
            delay += self._scheduler.about(self.TRIP * 3)

    def _tears(self) -> bool:
        return self._scheduler.happens(self._faults.torn)

    def _at_landing(self, delay: float, act: Callable[[], None]) -> None:
        self._lands_at = max(self._lands_at, self._scheduler.now + delay)
        self._scheduler.after(self._lands_at - self._scheduler.now, act)

    def _arrive(
        self,
        session: Session,
        commands: tuple[Command, ...],
        origin: Any,
        waiting: _Waiting | None,
        heard: bool,  # noqa: FBT001 - handed over by partial
    ) -> None:
        if not session.is_open:
            self._resume(waiting, LinkLost("the simulated store is gone", sent=True))
            return
        replies = [session.handle(command, origin) for command in commands]
        answer = partial(self._answer, session, replies, waiting)
        if heard and (seconds := session.take_wait()):
            self._scheduler.after(seconds, answer)
        elif heard:
            answer()

    def _answer(self, session: Session, replies: list[Any], waiting: _Waiting | None) -> None:
        if not session.is_open:
            self._resume(waiting, LinkLost("the simulated store is gone", sent=True))
            return
        now = self._scheduler.now
        self._heard_at = max(self._heard_at, now + self._scheduler.about(self.TRIP))
        self._scheduler.after(self._heard_at - now, lambda: self._hear(replies))

    def _hear(self, replies: list[Any]) -> None:
        self._inbox.extend(replies)
        waiting = self._waiting
        if waiting and len(self._inbox) >= waiting.wanted:
            self._resume(waiting, [self._inbox.popleft() for _ in range(waiting.wanted)])

    def _resume(self, waiting: _Waiting | None, found: Any) -> None:
        if waiting is not None and waiting is self._waiting:
            self._waiting = None
            waiting.then(found)


@dataclass(eq=False)
class _Waiting:
    """An exchange whose replies have not come."""

    wanted: int
    then: Callable[[Any], None]
