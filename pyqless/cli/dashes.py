# SPDX-License-Identifier: MIT
"""What begins with a minus and is an argument all the same: numbers, texts of any form, and ``--url`` where a URL is one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

__all__ = ["told_apart", "url_in_place"]

#: no option is named by a figure
_is_number: Final = re.compile(r"-\.?\d").match

#: arguments that may be any text, as the help names them
_FREE: Final = ("VALUE", "TAG...")


def told_apart(params: Sequence[Any], args: Sequence[str]) -> list[str]:
    """
    Arrange a command line so that no value is taken for an option.

    Args:
        params: of the command.

    Returns:
        list: all options, and behind ``--`` all arguments; the command line as it is if that makes no difference.
    """
    arguments = [each for each in params if each.param_type_name == "argument"]
    options = {name: each for each in params for name in _names(each)}
    said, values, left = list[str](), list[str](), iter(args)
    for token in left:
        if token == "--":  # noqa: S105 - no secret
            values += left
        elif _is_value(token, options, arguments[len(values) :] or arguments[-1:]):
            values.append(token)
        else:
            said.append(token)
            if _awaits_value(token, options):
                if (value := next(left, None)) is None:
                    return said  # the parser misses it, and must not find another
                said.append(value)
    return [*said, "--", *values] if any(map(_has_minus, values)) else [*args]


def url_in_place(params: Sequence[Any], args: Sequence[str]) -> list[str]:
    """
    Take ``--url URL``, as most commands have it, for the next of the arguments that some have in its place.

    Args:
        params: of the command.
    """
    if not any(each.param_type_name == "argument" and _is_url(each) for each in params):
        return [*args]
    placed, left = list[str](), iter(args)
    for token in left:
        name, has_value, value = token.partition("=")
        if token == "--":  # noqa: S105 - no secret
            placed += [token, *left]
        elif name == "--url":
            placed.append(value if has_value else next(left, token))
        else:
            placed.append(token)
    return placed


def _is_url(argument: Any) -> bool:
    return str(argument.metavar).endswith("URL")


def _names(param: Any) -> list[str]:
    return [] if param.param_type_name == "argument" else [*param.opts, *param.secondary_opts]


def _is_value(token: str, options: Mapping[str, Any], arguments: Sequence[Any]) -> bool:
    """Whether a token is the next of the arguments that remain, rather than an option."""
    if not _has_minus(token):
        return True
    if _awaits_value(token, options) is not None or not arguments:
        return False
    is_free = arguments[0].metavar in _FREE and not token.startswith("--")
    return is_free or _is_number(token) is not None


def _has_minus(token: str) -> bool:
    return token.startswith("-") and token != "-"  # noqa: S105


def _awaits_value(token: str, options: Mapping[str, Any]) -> bool | None:
    """Whether the option that a token names has its value in the next one; None if it names none."""
    if token.startswith("--"):
        name, has_value, _ = token.partition("=")
        return _takes_value(options[name]) and not has_value if name in options else None
    for place, letter in enumerate(token[1:], start=2):
        option = options.get(f"-{letter}")
        if option is None:
            return None
        if _takes_value(option):
            return place == len(token)
    return False


def _takes_value(option: Any) -> bool:
    return not option.is_flag and not option.count
