# SPDX-License-Identifier: MIT
"""What the kit asks of a core, and what one call of it looks like from outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from pyqless.core.replies import Reply

__all__ = [
    "Call",
    "CommandError",
    "Core",
    "Entry",
    "InternalError",
    "Message",
    "Outcome",
    "Snapshot",
    "observe",
]

#: the command, the moment, the arguments
Call: TypeAlias = tuple[str, ...]
#: channel and data
Message: TypeAlias = tuple[str, str]
#: a key's ``type`` and ``value``
Entry: TypeAlias = dict[str, Any]
Snapshot: TypeAlias = dict[str, Entry]


class CommandError(Exception):
    """
    What a client gets when a command fails.

    Its text is the Lua core's message without the script's position, or the core's own where Lua has none.
    """


class InternalError(CommandError):
    """The core broke down over a call: Lua or the store complained, not the core."""


class Core(Protocol):
    """
    A core under test, alone with its database.

    ``Target`` is one, ``LuaCore`` another; so is whatever has these methods.
    """

    @property
    def error(self) -> type[Exception]:
        """What ``call`` raises where a client gets an error."""

    def call(self, *words: str) -> Reply:
        """
        Send a command as a client on the wire does: its name, the moment, its arguments.

        Returns:
            what the client gets: text, an integer, None or a list; JSON as text.
        """

    def flush(self) -> None:
        """Empty the database."""

    def record(self) -> None:
        """Begin to record messages, from now on."""

    def recorded(self) -> list[Message]:
        """The messages published since ``record`` or the last call, in order."""

    def snapshot(self) -> Snapshot:
        """
        All keys of the core.

        Returns:
            ``{key: {"type": name, "value": content}}``: a hash as {field: text}, a sorted set as
            [[member, repr of the score], ...] in rank order, a list as one, a set as a sorted list.
        """

    def close(self) -> None:
        """Let go of connections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one call did."""

    reply: Reply = None
    #: the text of the error, or None
    error: str | None = None
    #: whether the error is an internal one
    internal: bool = False
    messages: list[Message]
    #: everything stored after the call
    state: Snapshot


def observe(core: Core, call: Call) -> Outcome:
    """Send a call and look at what it does; messages are recorded already."""
    core.recorded()  # what others said meanwhile: all databases of a server share their channels
    reply, error, internal = None, None, False
    try:
        reply = core.call(*call)
    except core.error as fault:
        error, internal = str(fault), isinstance(fault, InternalError)
    return Outcome(
        reply=reply,
        error=error,
        internal=internal,
        messages=core.recorded(),
        state=core.snapshot(),
    )
