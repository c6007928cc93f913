# SPDX-License-Identifier: MIT
"""Commands on recurring jobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pyqless.core import recurring, replies
from pyqless.core.arguments import Arguments, encoded, json_value, number, options, refuse
from pyqless.core.commands.shared import Parsed, Parser, queue_of
from pyqless.core.effects import Transition
from pyqless.core.recurring import RecurSpec
from pyqless.core.transaction import Transaction

__all__ = ["COMMANDS"]


def _recur(arguments: Arguments) -> Parsed:
    queue = queue_of(arguments)
    jid = arguments.text(1, "jid", 'RecurringJob On(): Arg "jid" missing')
    spec = _spec(arguments)
    return lambda tx: recurring.recur(tx, queue, jid, spec), replies.as_is


def _spec(arguments: Arguments) -> RecurSpec:
    klass = arguments.text(2, "klass", 'RecurringJob On(): Arg "klass" missing')
    kind = arguments.text(4, "spec", 'RecurringJob On(): Arg "spec" missing')
    data = arguments.data(3, 'RecurringJob On(): Arg "data" not JSON: ')
    if kind != "interval":
        refuse("spec", kind, "is unknown", f'Recur(): schedule type "{kind}" unknown')
    interval, offset = _schedule(arguments)
    given = options(arguments.rest(7))
    tag_text = given.get("tags", "[]")
    tags = json_value(tag_text, "tags", 'Recur(): Arg "tags" must be JSON string array: ')
    encoded(tags, "tags", tag_text)

    def optional(name: str) -> float:
        return number(given.get(name), name, f'Recur(): Arg "{name}" not a number: ', 0.0)

    priority, retries, backlog = optional("priority"), optional("retries"), optional("backlog")
    return RecurSpec(klass, data, interval, offset, priority, tags, retries, backlog)


def _schedule(arguments: Arguments) -> tuple[float, float]:
    """Interval and offset."""
    interval = arguments.number(5, "interval", 'Recur(): Arg "interval" not a number: ')
    offset = arguments.number(6, "offset", 'Recur(): Arg "offset" not a number: ')
    if interval <= 0:
        text = 'Recur(): Arg "interval" must be greater than 0'
        refuse("interval", arguments.at(5), "is not greater than 0", text)
    return interval, offset


def _jid(arguments: Arguments) -> str:
    return arguments.text(0, "jid", "Recurring(): no jid provided")


def _unrecur(arguments: Arguments) -> Parsed:
    jid = _jid(arguments)
    return lambda tx: recurring.unrecur(tx, jid), replies.one


def _get(arguments: Arguments) -> Parsed:
    jid = _jid(arguments)
    return lambda tx: recurring.get(tx, jid), replies.recurring_job


def _update(arguments: Arguments) -> Parsed:
    jid, pairs = _jid(arguments), arguments.rest(1)
    changes = [
        (name, arguments.at(position + 1)) for position, name in enumerate(pairs, 1) if position % 2
    ]
    return lambda tx: recurring.update(tx, jid, changes), replies.one


def _tagging(rule: Callable[[Transaction, str, list[str]], Transition[Any]]) -> Parser:
    def parse(arguments: Arguments) -> Parsed:
        jid, names = _jid(arguments), arguments.rest(1)
        return lambda tx: rule(tx, jid, names), replies.json

    return parse


COMMANDS: Final[dict[str, Parser]] = {
    "recur": _recur,
    "recur.get": _get,
    "recur.tag": _tagging(recurring.tag),
    "recur.untag": _tagging(recurring.untag),
    "recur.update": _update,
    "unrecur": _unrecur,
}
