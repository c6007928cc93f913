# SPDX-License-Identifier: MIT
"""All commands by name, and how one is called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from pyqless.core import lua, replies
from pyqless.core.arguments import Arguments, number, refuse
from pyqless.core.commands import (
    failures,
    jobs,
    marks,
    putting,
    queues,
    recurring,
    settings,
    workers,
    working,
)
from pyqless.core.commands.shared import Parser
from pyqless.core.effects import Factory
from pyqless.errors import UnknownCommand

__all__ = ["COMMANDS", "Call", "call"]

#: Every command of the core; nothing else may be called by name.
COMMANDS: Final[dict[str, Parser]] = {
    **putting.COMMANDS,
    **working.COMMANDS,
    **jobs.COMMANDS,
    **marks.COMMANDS,
    **failures.COMMANDS,
    **recurring.COMMANDS,
    **queues.COMMANDS,
    **workers.COMMANDS,
    **settings.COMMANDS,
}


class Call(NamedTuple):
    """A command ready to run."""

    #: Unix time, seconds
    now: float
    transition: Factory[Any]
    #: makes the wire's reply of the transition's value
    render: Callable[[Any], replies.Reply]


def call(words: Sequence[str]) -> Call:
    """
    Read a command as it comes over the wire: its name, the moment, its arguments.

    Raises:
        UnknownCommand: there is no such command.
        InvalidArgument: the moment or an argument is no good.
    """
    parse = _parser(words)
    now = _moment(words)
    transition, render = parse(Arguments(words[2:]))
    return Call(now, transition, render)


def _parser(words: Sequence[str]) -> Parser:
    if not words:
        raise UnknownCommand("no command was given", lua="Must provide a command")
    name = words[0]
    if name not in COMMANDS:
        raise UnknownCommand(
            f"there is no command {name!r}",
            argument="command",
            value=name,
            lua=f"Unknown command {name}",
        )
    return COMMANDS[name]


def _moment(words: Sequence[str]) -> float:
    if len(words) == 1:
        refuse("now", None, "is missing")
    if lua.to_number(words[1]) is None:
        text = 'Arg "now" missing or not a number: nil'
        refuse("now", words[1], "is not a number", text)
    return number(words[1], "now", "")
