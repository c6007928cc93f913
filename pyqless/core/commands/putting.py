# SPDX-License-Identifier: MIT
"""Commands that put jobs into queues."""

from __future__ import annotations

from typing import Final

from pyqless.core import putting, replies
from pyqless.core.arguments import Arguments, jid_list, json_value, number, options, tags_value
from pyqless.core.commands.shared import Parsed, Parser, jid_of, queue_of
from pyqless.core.putting import JobSpec
from pyqless.errors import InvalidArgument

__all__ = ["COMMANDS", "job_spec"]


def job_spec(arguments: Arguments, first: int) -> JobSpec:
    """The arguments that describe a job, from ``klass`` on."""
    klass = arguments.text(first, "klass", 'Put(): Arg "klass" missing')
    data = arguments.data(first + 1, 'Put(): Arg "data" missing or not JSON: ')
    delay = arguments.number(first + 2, "delay", 'Put(): Arg "delay" not a number: ')
    given = options(arguments.rest(first + 3))

    def optional(name: str, text: str) -> float | None:
        return number(given[name], name, text) if name in given else None

    retries = optional("retries", 'Put(): Arg "retries" not a number: ')
    tag_text = given.get("tags")
    if tag_text is not None:
        json_value(tag_text, "tags", 'Put(): Arg "tags" not JSON')
    priority = optional("priority", 'Put(): Arg "priority" not a number')
    depends = jid_list(given.get("depends", "[]"), "depends", 'Put(): Arg "depends" not JSON: ')
    tags = None if tag_text is None else tags_value(tag_text, "tags", "")
    return JobSpec(klass, data, delay, priority, tags, retries, depends)


def _put(arguments: Arguments) -> Parsed:
    queue = queue_of(arguments, 1)
    worker = arguments.text(0, "worker", "")
    jid = arguments.text(2, "jid", 'Put(): Arg "jid" missing')
    spec = job_spec(arguments, 3)
    return lambda tx: putting.put(tx, worker, queue, jid, spec), replies.as_is


def _requeue(arguments: Arguments) -> Parsed:
    jid, queue = jid_of(arguments, 2), queue_of(arguments, 1)
    worker = arguments.text(0, "worker", "")
    spec: JobSpec | InvalidArgument
    try:
        spec = job_spec(arguments, 3)
    except InvalidArgument as fault:
        spec = fault
    return lambda tx: putting.requeue(tx, worker, queue, jid, spec), replies.as_is


COMMANDS: Final[dict[str, Parser]] = {
    "put": _put,
    "requeue": _requeue,
}
