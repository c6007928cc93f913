# SPDX-License-Identifier: MIT
"""
What the driver of transactions asks of whoever does its I/O.

The driver is a generator, too: every place where it talks to a store is a ``yield``,
so that a blocking loop, asyncio and a simulator run the very same driver.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple, TypeAlias, TypeVar

from pyqless.core.effects import Command

__all__ = ["Close", "Connect", "Exchange", "LinkLost", "Pause", "Step", "Steps"]

T = TypeVar("T")


class Connect(NamedTuple):
    """Open a new connection in the place of the last one."""


class Exchange(NamedTuple):
    """Send commands in one packet, and give back a reply to each; error replies are ``ServerError``."""

    commands: tuple[Command, ...]


class Pause(NamedTuple):
    """Let some time pass."""

    seconds: float


class Close(NamedTuple):
    """Close the connection: what state the server has it in is not known, or not wanted."""


Step: TypeAlias = Connect | Exchange | Pause | Close

#: the driver, or a part of it
Steps: TypeAlias = Generator[Step, Any, T]


class LinkLost(Exception):
    """
    The connection broke, or was too slow, in the middle of an exchange.

    Attributes:
        sent: whether the last byte was handed over, so that the server may have acted.
    """

    def __init__(self, reason: object, *, sent: bool) -> None:
        super().__init__(str(reason) or type(reason).__name__)
        self.sent = sent
