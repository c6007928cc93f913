# SPDX-License-Identifier: MIT
"""
The grammar that cjson reads: JSON, and whatever C's ``strtod`` takes for a number.

This reader is exact, and slower than Python's; it is for the texts that Python's refuses or misjudges.
It does not recurse: cjson takes 1,000 levels, more than Python's stack may have left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from json import JSONDecoder
from typing import Any

from pyqless.core.lua.numbers import STRTOD, strtod

__all__ = ["MAX_DEPTH", "WHITE_SPACE", "JSONError", "escapes_are_valid", "read"]

#: How deep containers may nest, in reading and in writing.
MAX_DEPTH = 1000

WHITE_SPACE = " \t\n\r"

#: One escape sequence; that of a surrogate only as half of a pair.
_ESCAPE = (
    r"\\(?:"
    r'["\\/bfnrt]'
    r"|u(?:[0-9a-cefA-CEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2})"
    r"|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r")"
)
escapes_are_valid = re.compile(rf"(?:[^\\]++|{_ESCAPE})*+").fullmatch

_TOKEN = re.compile(
    rf"""[{WHITE_SPACE}]*+(?:
        (?P<mark> [][{{}}:,] )
      | (?P<string> "(?:[^"\\]++|{_ESCAPE})*+" )
      | (?P<number> (?!\.) {STRTOD} )
      | (?P<word> true | false | null )
    )""",
    re.VERBOSE,
)
_WORDS = {"true": True, "false": False, "null": None}
_STRINGS = JSONDecoder(strict=False)

#: The kinds of tokens that make a container: s is a string, v any other value.
_is_array = re.compile(r"\[(?:[sv](?:,[sv])*+)?\]").fullmatch
_is_object = re.compile(r"\{(?:s:[sv](?:,s:[sv])*+)?\}").fullmatch


class JSONError(ValueError):
    """cjson refuses to read this text, or to write this value."""


class _Level:
    """The tokens from an opening bracket on: a letter each for their kinds, and the values."""

    __slots__ = ("kinds", "values")

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.values: list[Any] = []

    def close(self) -> list[Any] | dict[str, Any]:
        kinds = "".join(self.kinds)
        if _is_array(kinds):
            return self.values
        if _is_object(kinds):
            return dict(zip(self.values[::2], self.values[1::2], strict=True))
        raise JSONError("what stands between two brackets is neither an array nor an object")


def read(text: str) -> Any:
    """
    Read one JSON text that holds no NUL, with no white space at its end.

    Raises:
        JSONError: the text is not in the grammar.
    """
    levels = [_Level()]
    for kind, value in _tokens(text):
        if kind in "[{":
            if len(levels) > MAX_DEPTH:
                raise JSONError(f"nested more than {MAX_DEPTH:,} deep")
            levels.append(_Level())
        levels[-1].kinds.append(kind)
        if kind in "sv":
            levels[-1].values.append(value)
        elif kind in "]}":
            container = levels.pop().close()
            levels[-1].kinds.append("v")
            levels[-1].values.append(container)
    if len(levels) > 1 or levels[0].kinds not in (["s"], ["v"]):
        raise JSONError("the text is not one whole value")
    return levels[0].values[0]


def _tokens(text: str) -> Iterator[tuple[str, Any]]:
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise JSONError(f"no token begins at character {position + 1:,}")
        match token.lastgroup:
            case "mark":
                yield token["mark"], None
            case "string":
                yield "s", _STRINGS.decode(token["string"])
            case "number":
                yield "v", strtod(token["number"])
            case _:
                yield "v", _WORDS[token["word"]]
        position = token.end()
