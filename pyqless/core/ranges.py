# SPDX-License-Identifier: MIT
"""Ranges of indices, as Redis gives them."""

from __future__ import annotations

__all__ = ["span"]


def span(start: int, stop: int, length: int) -> tuple[int, int]:
    """
    Turn the inclusive indices of a Redis range, negative ones counting from the end, into a slice.

    Returns:
        begin and end, with 0 <= begin <= end <= length.
    """
    begin = max(start + length, 0) if start < 0 else min(start, length)
    end = min(stop + length if stop < 0 else stop, length - 1) + 1
    return begin, max(begin, end)
