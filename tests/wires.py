# SPDX-License-Identifier: MIT
"""A look at, and a hand in, what goes between a Redis storage and its server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

from pyqless.core.effects import Command
from pyqless.core.keyspace import WRITES
from pyqless.storage.redis.borrowing import borrow
from pyqless.storage.redis.wire import Wire

__all__ = ["Packet", "is_safe", "names", "recorded", "tapped", "writes"]

Packet = tuple[Command, ...]

#: what changes something that others see
WRITING: Final = {*WRITES, "PUBLISH"}


class _Tap:
    """A wire that lets somebody act behind each exchange."""

    def __init__(self, wire: Wire, act: Callable[[Packet, list[Any]], object]) -> None:
        self._wire = wire
        self._act = act

    def exchange(self, commands: Packet) -> list[Any]:
        replies = self._wire.exchange(commands)
        self._act(commands, replies)
        return replies

    def close(self) -> None:
        self._wire.close()


@contextmanager
def tapped(act: Callable[[Packet, list[Any]], object]) -> Iterator[None]:
    """Let ``act`` see each packet with its replies; for the wires that are opened in the block."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pyqless.storage.redis.storage.borrow", lambda pool: _Tap(borrow(pool), act))
        yield


@contextmanager
def recorded() -> Iterator[list[Packet]]:
    """Record the packets that are sent on the wires that are opened in the block."""
    packets: list[Packet] = []
    with tapped(lambda commands, _: packets.append(commands)):
        yield packets


def names(packet: Packet) -> list[str]:
    """The commands of a packet, by name."""
    return [command[0] for command in packet]


def writes(packet: Packet) -> list[str]:
    """Those of them that change something; a connection's fence is nothing to others."""
    return [name for name, *words in packet if name in WRITING and ":py:fence:" not in words[0]]


def is_safe(packet: Packet) -> bool:
    """Whether writes stand only before EXEC, behind a MULTI of an earlier packet."""
    sent = names(packet)
    end = sent.index("EXEC") if "EXEC" in sent else 0
    return writes(packet) == writes(packet[:end]) and "MULTI" not in sent[:end]
