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
    return _rank(value, argument, value)


def page(
    offset: float, count: float, names: tuple[str, str] = ("offset", "count")
) -> tuple[int, int]:
    """
    The first and last rank of a page; negative ones count from the end, as in the store.

    Args:
        names: of the two arguments, for errors.
    """
    return _rank(offset, names[0], offset), _rank(offset + count - 1, names[1], count)


def limits(offset: float, count: float) -> tuple[int, int]:
    """Offset and count of a ``LIMIT``; a negative count means all."""
    return whole("offset", offset), whole("count", count)


def _rank(number: float, argument: str, value: float) -> int:
    """A rank that was computed from an argument."""
    rank = lua.integer_argument(number)
    if rank is None:
        raise InvalidArgument(
            f"{argument} must be a whole number, not {value!r}", argument=argument, value=value
        )
    return rank
