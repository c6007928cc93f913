# SPDX-License-Identifier: MIT
"""What the parsers of several commands have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from pyqless.core import replies
from pyqless.core.arguments import Arguments
from pyqless.core.effects import Transition
from pyqless.core.transaction import Transaction

__all__ = ["Parsed", "Parser", "jid_of", "of_all", "of_names", "page_of", "queue_of"]

#: A transition, ready to begin, and how its value is written.
Parsed: TypeAlias = tuple[Callable[[Transaction], Transition[Any]], Callable[[Any], replies.Reply]]

#: What reads the arguments of a command.
Parser: TypeAlias = Callable[[Arguments], Parsed]

_RuleOfMany: TypeAlias = Callable[[Transaction, list[str]], Transition[Any]]


def jid_of(arguments: Arguments, position: int = 0) -> str:
    """The jid of a job that is to be there."""
    return arguments.text(position, "jid", "Job(): no jid provided")


def queue_of(arguments: Arguments, position: int = 0) -> str:
    """The name of a queue."""
    return arguments.text(position, "queue", "Queue(): no queue name provided")


def page_of(arguments: Arguments, position: int, command: str) -> tuple[float, float]:
    """Where a page begins, and how much is on it."""
    offset = arguments.number(position, "offset", f'{command}(): Arg "offset" not a number: ', 0.0)
    count = arguments.number(
        position + 1, "count", f'{command}(): Arg "count" not a number: ', 25.0
    )
    return offset, count


def of_all(rule: _RuleOfMany, render: Callable[[Any], replies.Reply]) -> Parser:
    """The parser of a command on all its arguments, be there any or not."""

    def parse(arguments: Arguments) -> Parsed:
        words = arguments.rest(0)
        return lambda tx: rule(tx, words), render

    return parse


def of_names(rule: _RuleOfMany, argument: str) -> Parser:
    """The parser of a command on what is named, one at least, that replies nothing."""

    def parse(arguments: Arguments) -> Parsed:
        names = arguments.some(0, argument)
        return lambda tx: rule(tx, names), replies.nothing

    return parse
