# SPDX-License-Identifier: MIT
"""
What goes wrong: one in five packets with an EXEC, and as many of those by which clients ask what became of one.

Each client has a sequence of faults of its own: the seed decides what happens to its first EXEC, to its second, ...
"""

from __future__ import annotations

import contextlib
import math
import random
import socket
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias

from tests.ordeal.gate import Gate, Link, say

__all__ = ["AWAY", "KINDS", "SHARE", "TIMEOUT", "FaultyGate"]

#: which part of the packets goes wrong
SHARE: Final = 0.2

#: seconds after which clients are to give up on a reply, and which part of what is delayed comes only then
TIMEOUT: Final = 0.25
TOO_LATE: Final = 0.03

#: seconds for which a client gets no new connection, and how many of those that break bring that with them
AWAY: Final = 0.25
OFTEN: Final = 0.015

_EXEC: Final = b"$4\r\nEXEC\r\n"
#: the field of a fence that a client writes when it recovers
_EPOCH: Final = b"$5\r\nepoch\r\n"
_NIL: Final = b"*-1\r\n"

Fault: TypeAlias = Callable[["FaultyGate", Link, bytes, random.Random], None]


class FaultyGate(Gate):
    """
    A gate that lets packets go wrong.

    Args:
        port: the server's.
        clients: how many there are.
        seed: of all that is drawn.

    Attributes:
        passed: how many packets with an EXEC clients have sent.
        faults: what went wrong with how many of them.
        hindered: how many recoveries went wrong.
        landed: what became of the EXECs that had been parked.
        away: how often a client got no new connection for a while.
    """

    def __init__(self, port: int, clients: int, seed: int) -> None:
        super().__init__(port, clients)
        self.passed = self.hindered = self.away = 0
        self.faults: Counter[str] = Counter()
        self.landed: Counter[str] = Counter()
        self._drawn = [random.Random(f"{seed}/{number}") for number in range(clients)]
        self._away_until = [-math.inf] * clients
        self._parked: list[list[Link]] = [[] for _ in range(clients)]

    def admits(self, number: int) -> bool:
        return time.monotonic() >= self._away_until[number]

    def pass_on(self, link: Link, data: bytes) -> None:
        link.asks = _EPOCH in data
        fault = self._for_exec(link.number) if _EXEC in data else None
        fault = self._for_question(link.number) if link.asks else fault
        if fault is None:
            say(link.server, data)
        else:
            fault(self, link, data, self._drawn[link.number])

    def _for_exec(self, number: int) -> Fault | None:
        self.passed += 1
        for link in self._parked[number]:
            link.wait -= 1
        self._let_land(number, before=0)
        if self._drawn[number].random() >= SHARE:
            return None
        kind = self._drawn[number].choice(list(KINDS))
        self.faults[kind] += 1
        return KINDS[kind]

    def _for_question(self, number: int) -> Fault | None:
        if self._drawn[number].random() >= SHARE:
            return None
        self.hindered += 1
        return self._drawn[number].choice([_cut, _leave_unanswered, _delay, _close_half])

    def break_off(self, link: Link, drawn: random.Random) -> None:
        """End a client's connection; now and then it gets no other for a while."""
        self.send_away(link, abruptly=drawn.random() < 0.5)
        if drawn.random() < OFTEN:
            self.away += 1
            self._away_until[link.number] = time.monotonic() + AWAY

    # -- what is parked ---------------------------------------------------------------------------

    def park(self, link: Link) -> None:
        """Let the rest land when its time has come."""
        self._parked[link.number].append(link)

    def before_reply(self, link: Link) -> None:
        """What a client is about to hear of its last EXEC must stay true, whatever lands now."""
        if link.asks:
            link.asks = False
            self._let_land(link.number, before=1)

    def _let_land(self, number: int, before: float) -> None:
        for link in [link for link in self._parked[number] if link.wait < before]:
            self.land(link)

    def settle(self) -> None:
        for number in range(len(self._parked)):
            self._let_land(number, before=math.inf)

    def land(self, link: Link) -> None:
        """Let the server have what is parked, unless it has it, and wait until it has done with it."""
        if link in self._parked[link.number]:
            self._parked[link.number].remove(link)
            say(link.server, link.rest)
            is_void = _NIL in self.finish(link)
            self.landed["void" if is_void else "done"] += 1


# -- the faults -----------------------------------------------------------------------------------


def _cut(gate: FaultyGate, link: Link, data: bytes, drawn: random.Random) -> None:
    """The server gets a part at most."""
    say(link.server, data[: _inside(data, drawn)], last=True)
    gate.break_off(link, drawn)


def _leave_unanswered(gate: FaultyGate, link: Link, data: bytes, drawn: random.Random) -> None:
    """The server gets EXEC, if not all that stands behind it, and the client a part of the replies at most."""
    say(link.server, data[: drawn.randint(_end(data), len(data))], last=True)
    if drawn.random() < 0.5:
        gate.break_off(link, drawn)
    else:
        link.limit = drawn.randint(1, 200)


def _park(gate: FaultyGate, link: Link, data: bytes, drawn: random.Random) -> None:
    """
    The server gets EXEC after the client has recovered.

    At once, before the client is answered; or after some further EXECs; or in the end. Some land by chance, about then.
    """
    at = _inside(data, drawn)
    say(link.server, data[:at])
    link.rest, link.wait = data[at:], drawn.choice([0, 0, 1, drawn.randint(2, 6), 10**9])
    gate.break_off(link, drawn)
    gate.park(link)
    if drawn.random() < 0.3:
        gate.later(drawn.random() * 0.01, partial(gate.land, link))


def _delay(gate: FaultyGate, link: Link, data: bytes, drawn: random.Random) -> None:
    """The server gets it late; sometimes too late for the client."""
    link.rest = data
    late = TIMEOUT if drawn.random() < TOO_LATE else 0.0
    gate.later(late + drawn.random() * 0.005, partial(_deliver, link))


def _deliver(link: Link) -> None:
    rest, link.rest = link.rest, b""
    say(link.server, rest, last=link.client is None)


def _close_half(gate: FaultyGate, link: Link, data: bytes, drawn: random.Random) -> None:
    """One side hears that the other has said its last word: the server inside or behind EXEC, or the client."""
    way = drawn.choice(["inside", "behind", "client"])
    say(
        link.server, data[: _inside(data, drawn)] if way == "inside" else data, last=way != "client"
    )
    if way == "client" and link.client is not None:
        with contextlib.suppress(OSError):
            link.client.shutdown(socket.SHUT_WR)


#: what may happen to an EXEC, by name
KINDS: Final[dict[str, Fault]] = {
    "cut": _cut,
    "unanswered": _leave_unanswered,
    "parked": _park,
    "delayed": _delay,
    "half-closed": _close_half,
}


def _end(data: bytes) -> int:
    """The byte behind EXEC, behind which there may be more, which is read ahead."""
    return data.index(_EXEC) + len(_EXEC) if _EXEC in data else len(data)


def _inside(data: bytes, drawn: random.Random) -> int:
    """A byte before which not all of it has arrived: the first, or any, or the last."""
    last = _end(data) - 1
    return drawn.choice([0, drawn.randint(0, last), last])
