# SPDX-License-Identifier: MIT
"""Commands that mark jobs, and find them by their marks: tags and tracking."""

from __future__ import annotations

from typing import Final

from pyqless.core import replies, tags, tracking
from pyqless.core.arguments import Arguments, refuse
from pyqless.core.commands.shared import Parsed, Parser, page_of

__all__ = ["COMMANDS"]


def _tag(arguments: Arguments) -> Parsed:
    text = 'Tag(): Arg "command" must be "add", "remove", "get" or "top"'
    command = arguments.text(0, "command", text)
    if command not in _OF_TAGS:
        unknown = 'Tag(): First argument must be "add", "remove" or "get"'
        refuse("command", command, "is unknown", unknown)
    return _OF_TAGS[command](arguments)


def _add(arguments: Arguments) -> Parsed:
    jid, names = _marked(arguments)
    return lambda tx: tags.add(tx, jid, names), replies.json


def _remove(arguments: Arguments) -> Parsed:
    jid, names = _marked(arguments)
    return lambda tx: tags.remove(tx, jid, names), replies.json


def _marked(arguments: Arguments) -> tuple[str, list[str]]:
    return arguments.text(1, "jid", 'Tag(): Arg "jid" missing'), arguments.rest(2)


def _tagged(arguments: Arguments) -> Parsed:
    tag = arguments.text(1, "tag", 'Tag(): Arg "tag" missing')
    offset, count = page_of(arguments, 2, "Tag")
    return lambda tx: tags.tagged(tx, tag, offset, count), replies.tagged


def _top(arguments: Arguments) -> Parsed:
    offset, count = page_of(arguments, 1, "Tag")
    return lambda tx: tags.top(tx, offset, count), replies.json


def _track(arguments: Arguments) -> Parsed:
    action = arguments.at(0)
    if action is None:
        return tracking.tracked, replies.tracked
    jid = arguments.text(1, "jid", 'Track(): Arg "jid" missing')
    return lambda tx: tracking.set_tracking(tx, action, jid), replies.json


_OF_TAGS: Final[dict[str, Parser]] = {
    "add": _add,
    "get": _tagged,
    "remove": _remove,
    "top": _top,
}

COMMANDS: Final[dict[str, Parser]] = {
    "tag": _tag,
    "track": _track,
}
