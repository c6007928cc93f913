# SPDX-License-Identifier: MIT
"""
Numbers as Lua 5.1 holds them: doubles, read by C's ``strtod`` and written by its ``printf``.

Python reads and prints doubles with the same digits, but differs in what it takes for a number
and in what it does at the edges: signed zeros, infinities, the limits of a 64-bit integer.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache

__all__ = [
    "STRTOD",
    "argument",
    "ceil",
    "concat",
    "day",
    "floor",
    "integer_argument",
    "integer_text",
    "strtod",
    "timestamp",
    "to_integer_reply",
    "to_number",
]

#: What ``strtod`` reads in the C locale, without the white space that it skips.
#: ASCII only: else a dotless i would match the i of ``inf``.
STRTOD = (
    r"(?ai:[-+]?(?:"
    r"0x(?:[0-9a-f]+(?:\.[0-9a-f]*)?|\.[0-9a-f]+)(?:p[-+]?[0-9]+)?"
    r"|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[-+]?[0-9]+)?"
    r"|inf(?:inity)?"
    r"|nan(?:\(\w*\))?"
    r"))"
)

_SPACE = r"[ \t\n\v\f\r]*"
_match_number = re.compile(f"{_SPACE}({STRTOD}){_SPACE}").fullmatch

#: Text without any of these is a decimal number to ``float`` exactly when it is one to Lua.
_is_unusual = re.compile(r"[^-+.0-9eE]").search

_is_integer = re.compile(r"0|-?[1-9][0-9]*").fullmatch

#: What numbers in jobs mostly are, priorities and retries for instance.
_SMALL = {str(number): float(number) for number in range(100)}

_DAY_SECONDS = 86400.0
_INT64_MIN = -(2**63)
_INT64_END = 2**63


def to_number(value: str | float | None) -> float | None:
    """
    Read a number as Lua's ``tonumber`` does.

    Args:
        value: text, a number, or None for nil; bytes that are no UTF-8 come as surrogates.

    Returns:
        The number, possibly an infinity or a NaN; None where Lua gives nil.
    """
    if isinstance(value, str):
        number = _SMALL.get(value)
        if number is not None:
            return number
        if _is_unusual(value):
            return _to_number_carefully(value)
        try:
            return float(value)
        except ValueError:
            return None
    if value is None or isinstance(value, bool):
        return None
    return float(value)


def _to_number_carefully(text: str) -> float | None:
    # Lua hands C a pointer, so a NUL ends the text.
    number = _match_number(text.partition("\0")[0])
    return strtod(number[1]) if number else None


def strtod(text: str) -> float:
    """Return the double that C's ``strtod`` makes of text that matches ``STRTOD`` as a whole."""
    if "(" in text:
        return math.nan
    try:
        return float(text)
    except ValueError:
        return _hexadecimal(text)


def _hexadecimal(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        return -math.inf if text[0] == "-" else math.inf


def concat(value: float | str) -> str:
    """Return the text that Lua's ``..`` makes of a value, in keys and messages: 14 digits."""
    return value if isinstance(value, str) else f"{value:.14g}"


def argument(value: float | str) -> str:
    """
    Return the text that a value becomes as an argument of ``redis.call``: 17 digits.

    So does Redis up to 7.0; later servers write the shortest text that reads back the same.
    """
    if isinstance(value, str):
        return value
    # to a cache -0.0 would be the same as 0.0
    return _argument(value) if value else f"{value:.17g}"


#: there are few priorities and numbers of retries, and many locks expire at one moment
_argument = lru_cache(maxsize=256)("{:.17g}".format)


def timestamp(now: float) -> str:
    """Return the text of a moment (Unix time, seconds) in a job's ``time`` field: 20 decimals."""
    # to a cache -0.0 would be the same as 0.0
    return _timestamp(now) if now else f"{now:.20f}"


#: many jobs are written at one moment
_timestamp = lru_cache(maxsize=16)("{:.20f}".format)


def to_integer_reply(value: float) -> int:
    """
    Return the integer that Redis replies for a number of a script's: cut toward zero.

    What 64 bits cannot hold, NaN included, becomes -2**63, as on x86-64.
    """
    if _INT64_MIN <= value < _INT64_END:
        return int(value)
    return _INT64_MIN


def integer_argument(value: float) -> int | None:
    """
    Return the integer that Redis reads from a number given as an argument.

    Returns:
        The integer, or None where Redis says "value is not an integer or out of range":
        for fractions, ``-0``, and from 1e17 on, where ``argument`` writes an exponent.
    """
    return integer_text(argument(value))


def integer_text(text: str) -> int | None:
    """Return the integer in the one form that Redis reads and writes, or None for any other text."""
    return int(text) if _is_integer(text) else None


def day(now: float) -> float:
    """
    Return the midnight (UTC) that begins the day of a moment (both Unix time, seconds).

    The steps are those of Lua's ``now - now % 86400``, and so are the roundings of huge moments.
    """
    return now - (now - floor(now / _DAY_SECONDS) * _DAY_SECONDS)


def floor(value: float) -> float:
    """Round down as Lua's ``math.floor`` does: to a double; -0.0, infinities and NaN stay."""
    return value // 1.0 if math.isfinite(value) else value


def ceil(value: float) -> float:
    """Round up as Lua's ``math.ceil`` does: to a double; -0.5 gives -0.0, infinities stay."""
    return -floor(-value)
