# SPDX-License-Identifier: MIT
"""Commands on queues."""

from __future__ import annotations

from typing import Final

from pyqless.core import queues, replies, statistics
from pyqless.core.arguments import Arguments, refuse
from pyqless.core.commands.shared import Parsed, Parser, of_names, page_of, queue_of

__all__ = ["COMMANDS"]


def _queues(arguments: Arguments) -> Parsed:
    name = arguments.at(0)
    if name is None:
        return queues.all_counts, replies.queue_counts
    return lambda tx: queues.counts(tx, name), replies.queue_counts


def _jobs(arguments: Arguments) -> Parsed:
    state = arguments.text(0, "state", 'Jobs(): Arg "state" missing')
    if state == "complete":
        offset, count = page_of(arguments, 1, "Jobs")
        return lambda tx: queues.completed(tx, offset, count), replies.as_is
    queue = arguments.text(1, "queue", 'Jobs(): Arg "queue" missing')
    offset, count = page_of(arguments, 2, "Jobs")
    if state not in queues.STATES:
        refuse("state", state, "is unknown", f'Jobs(): Unknown type "{state}"')
    return lambda tx: queues.jids(tx, state, queue, offset, count), replies.as_is


def _length(arguments: Arguments) -> Parsed:
    queue = queue_of(arguments)
    return lambda tx: queues.length(tx, queue), replies.integer


def _stats(arguments: Arguments) -> Parsed:
    queue = queue_of(arguments)
    date = arguments.number(1, "date", 'Stats(): Arg "date" missing or not a number: ')
    return lambda tx: statistics.stats(tx, queue, date), replies.statistics


COMMANDS: Final[dict[str, Parser]] = {
    "jobs": _jobs,
    "length": _length,
    "pause": of_names(queues.pause, "queue"),
    "queue.forget": of_names(queues.forget, "queue"),
    "queues": _queues,
    "stats": _stats,
    "unpause": of_names(queues.unpause, "queue"),
}
