# SPDX-License-Identifier: MIT
"""Commands on jobs, whoever gives them."""

from __future__ import annotations

from typing import Final

from pyqless.core import cancelling, dependencies, jobs, replies, timing_out
from pyqless.core.arguments import Arguments, json_value
from pyqless.core.commands.shared import Parsed, Parser, jid_of, of_all

__all__ = ["COMMANDS"]


def _get(arguments: Arguments) -> Parsed:
    jid = jid_of(arguments)
    return lambda tx: jobs.get(tx, jid), replies.job


def _depends(arguments: Arguments) -> Parsed:
    jid = jid_of(arguments)
    command = arguments.text(1, "command", 'Depends(): Arg "command" missing')
    others = arguments.rest(2)
    return lambda tx: dependencies.depends(tx, jid, command, others), replies.one


def _priority(arguments: Arguments) -> Parsed:
    jid = jid_of(arguments)
    text = 'Priority(): Arg "priority" missing or not a number: '
    priority = arguments.number(1, "priority", text)
    return lambda tx: jobs.set_priority(tx, jid, priority), replies.integer


def _log(arguments: Arguments) -> Parsed:
    jid = arguments.text(0, "jid", "Log(): Argument 'jid' missing")
    message = arguments.text(1, "message", "Log(): Argument 'message' missing")
    text = arguments.at(2)
    if text is not None:
        json_value(text, "data", "Log(): Argument 'data' not cjson: ")
    data = arguments.new_data(2)
    return lambda tx: jobs.log(tx, jid, message, data), replies.nothing


COMMANDS: Final[dict[str, Parser]] = {
    "cancel": of_all(cancelling.cancel, replies.as_is),
    "depends": _depends,
    "get": _get,
    "log": _log,
    "multiget": of_all(jobs.views, replies.job_list),
    "priority": _priority,
    "timeout": of_all(timing_out.timeout, replies.nothing),
}
