# SPDX-License-Identifier: MIT
"""Offsets and counts that a caller gives, as ranks for the store."""

from __future__ import annotations

from pyqless.core import lua
from pyqless.errors import InvalidArgument

__all__ = ["limits", "page", "whole"]


def whole(argument: str, value: float) -> int:
    """
    A number that the store takes for a rank.

    Raises:
        InvalidArgument: it is not whole, or beyond 64 bits.
    """
    number = lua.integer_argument(value)
    if number is None:
        raise InvalidArgument(
            f"{argument} must be a whole number, not {value!r}", argument=argument, value=value
        )
    return number


def page(offset: float, count: float) -> tuple[int, int]:
    """The first and last rank of a page; negative ones count from the end, as in the store."""
    return whole("offset", offset), whole("count", offset + count - 1)


def limits(offset: float, count: float) -> tuple[int, int]:
    """Offset and count of a ``LIMIT``; a negative count means all."""
    return whole("offset", offset), whole("count", count)
