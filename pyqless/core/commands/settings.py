# SPDX-License-Identifier: MIT
"""Commands on settings."""

from __future__ import annotations

from typing import Final

from pyqless.core import replies, settings
from pyqless.core.arguments import Arguments
from pyqless.core.commands.shared import Parsed, Parser

__all__ = ["COMMANDS"]


def _get(arguments: Arguments) -> Parsed:
    name = arguments.at(0)
    if name is None:
        return settings.get_all, replies.json
    return lambda tx: settings.get(tx, name), replies.as_is


def _set(arguments: Arguments) -> Parsed:
    name = arguments.text(0, "option", 'config.set(): Arg "option" missing')
    value = arguments.text(1, "value", 'config.set(): Arg "value" missing')
    return lambda tx: settings.set_(tx, name, value), replies.nothing


def _unset(arguments: Arguments) -> Parsed:
    name = arguments.text(0, "option", 'config.unset(): Arg "option" missing')
    return lambda tx: settings.unset(tx, name), replies.nothing


COMMANDS: Final[dict[str, Parser]] = {
    "config.get": _get,
    "config.set": _set,
    "config.unset": _unset,
}
