# SPDX-License-Identifier: MIT
"""Integers and scores, as Redis reads them in texts."""

from __future__ import annotations

import math
import re
from typing import Final

__all__ = ["INT64", "NotAnInteger", "integer", "score"]

INT64: Final = range(-(2**63), 2**63)

_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,18}")
_DECIMAL: Final = re.compile(
    r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.ASCII | re.IGNORECASE
)
_INFINITY: Final = re.compile(r"[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)


class NotAnInteger(ValueError):
    """A text, or a sum, is no integer of 64 bits in the one form that Redis writes."""


def integer(value: int | str) -> int:
    """
    Read an integer.

    Raises:
        NotAnInteger: it is none.
    """
    if isinstance(value, int):
        return value
    if _INTEGER.fullmatch(value) and (number := int(value)) in INT64:
        return number
    raise NotAnInteger(f"{value!r} is no 64-bit integer")


def score(value: float | str) -> float:
    """
    Read a score, which may be infinite.

    Raises:
        ValueError: it is none.
    """
    number = _parsed(value) if isinstance(value, str) else value
    if math.isnan(number):
        raise ValueError(f"{value!r} is not a valid score")
    return number


def _parsed(text: str) -> float:
    """Read a number as ZADD does, but refuse hexadecimal, which not every store takes."""
    if _INFINITY.fullmatch(text):
        return float(text)
    if match := _DECIMAL.fullmatch(text):
        number = float(text)
        underflow = not number and match[1].strip("0.")
        if math.isfinite(number) and not underflow:
            return number
    return math.nan
