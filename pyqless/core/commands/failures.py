# SPDX-License-Identifier: MIT
"""Commands on jobs that have failed."""

from __future__ import annotations

from typing import Final

from pyqless.core import failures, replies
from pyqless.core.arguments import Arguments
from pyqless.core.commands.shared import Parsed, Parser, queue_of

__all__ = ["COMMANDS"]


def _failed(arguments: Arguments) -> Parsed:
    group = arguments.at(0)
    start = arguments.number(1, "start", 'Failed(): Arg "start" is not a number: ', 0.0)
    limit = arguments.number(2, "limit", 'Failed(): Arg "limit" is not a number: ', 25.0)
    if group is None:
        return failures.groups, replies.json
    return lambda tx: failures.failed(tx, group, start, limit), replies.failed_page


def _unfail(arguments: Arguments) -> Parsed:
    queue = queue_of(arguments)
    group = arguments.text(1, "group", 'Unfail(): Arg "group" missing')
    count = arguments.number(2, "count", 'Unfail(): Arg "count" not a number: ', 25.0)
    return lambda tx: failures.unfail(tx, queue, group, count), replies.integer


COMMANDS: Final[dict[str, Parser]] = {
    "failed": _failed,
    "unfail": _unfail,
}
