# SPDX-License-Identifier: MIT
"""Commands by which workers take jobs, hold them, and let them go."""

from __future__ import annotations

from typing import Final

from pyqless.core import completing, failures, locks, lua, popping, replies, retrying
from pyqless.core.arguments import Arguments, jid_list, json_value, number, options, refuse
from pyqless.core.commands.shared import Parsed, Parser, jid_of, queue_of
from pyqless.core.completing import Next
from pyqless.errors import InvalidArgument

__all__ = ["COMMANDS"]


def _pop(arguments: Arguments) -> Parsed:
    queue = queue_of(arguments)
    worker = arguments.text(1, "worker", 'Pop(): Arg "worker" missing')
    count = arguments.number(2, "count", 'Pop(): Arg "count" missing or not a number: ')
    return lambda tx: popping.pop(tx, queue, worker, count), replies.job_list


def _peek(arguments: Arguments) -> Parsed:
    queue = queue_of(arguments)
    count = arguments.number(1, "count", 'Peek(): Arg "count" missing or not a number: ')
    return lambda tx: popping.peek(tx, queue, count), replies.job_list


def _heartbeat(arguments: Arguments) -> Parsed:
    jid = jid_of(arguments)
    worker = arguments.text(1, "worker", 'Heatbeat(): Arg "worker" missing')
    data = arguments.new_data(2)
    return lambda tx: locks.heartbeat(tx, jid, worker, data), replies.integer


def _complete(arguments: Arguments) -> Parsed:
    jid = jid_of(arguments)
    worker = arguments.text(1, "worker", 'Complete(): Arg "worker" missing')
    queue = arguments.text(2, "queue", 'Complete(): Arg "queue" missing')
    data = arguments.data(3, 'Complete(): Arg "data" missing or not JSON: ')
    onward = _onward(options(arguments.rest(4), odd=True))
    if onward is None:
        return lambda tx: completing.complete(tx, jid, worker, queue, data), replies.as_is
    return lambda tx: completing.advance(tx, jid, worker, queue, data, onward), replies.as_is


def _onward(given: dict[str, str]) -> Next | InvalidArgument | None:
    """Where a completed job goes, or what is wrong with that and found out late; None if it goes nowhere."""
    delay = _delay(given)
    depends_text = given.get("depends", "[]")
    json_value(depends_text, "depends", 'Complete(): Arg "depends" not JSON: ')
    if "next" not in given:
        _refuse_what_goes_with_next(given)
        return None
    try:
        return Next(given["next"], delay, jid_list(depends_text, "depends", ""))
    except InvalidArgument as fault:
        return fault


def _delay(given: dict[str, str]) -> float:
    if "delay" not in given:
        return 0.0
    if lua.to_number(given["delay"]) is None:
        refuse("delay", given["delay"], "is not a number", "assertion failed!")
    return number(given["delay"], "delay", "")


def _refuse_what_goes_with_next(given: dict[str, str]) -> None:
    for name in ("delay", "depends"):
        if name in given:
            text = f'Complete(): "{name}" cannot be used without a "next".'
            refuse(name, given[name], "goes with next only", text)


def _fail(arguments: Arguments) -> Parsed:
    jid = jid_of(arguments)
    worker = arguments.text(1, "worker", 'Fail(): Arg "worker" missing')
    group = arguments.text(2, "group", 'Fail(): Arg "group" missing')
    message = arguments.text(3, "message", 'Fail(): Arg "message" missing')
    data = arguments.new_data(4)
    return lambda tx: failures.fail(tx, jid, worker, group, message, data), replies.as_is


def _retry(arguments: Arguments) -> Parsed:
    jid = jid_of(arguments)
    queue = arguments.text(1, "queue", 'Retry(): Arg "queue" missing')
    worker = arguments.text(2, "worker", 'Retry(): Arg "worker" missing')
    delay = arguments.number(3, "delay", 'Retry(): Arg "delay" not a number: ', 0.0)
    group, message = arguments.at(4), arguments.at(5)
    return (
        lambda tx: retrying.retry(tx, jid, queue, worker, delay, group, message),
        replies.integer,
    )


COMMANDS: Final[dict[str, Parser]] = {
    "complete": _complete,
    "fail": _fail,
    "heartbeat": _heartbeat,
    "peek": _peek,
    "pop": _pop,
    "retry": _retry,
}
