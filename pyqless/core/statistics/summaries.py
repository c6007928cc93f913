# SPDX-License-Identifier: MIT
"""Summaries of times: their number, their mean, and the sum of the squares of their distances from it."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

from pyqless.core import lua
from pyqless.errors import StoreCorrupted

__all__ = ["Summary", "added", "parsed", "welford"]

Summary: TypeAlias = tuple[float, float, float]


def parsed(key: str, texts: list[str | None] | StoreCorrupted) -> Summary | StoreCorrupted | None:
    """Read a summary as the store has it, or what is wrong with it; None where there is no sample yet."""
    if isinstance(texts, StoreCorrupted):
        return texts
    if texts[0] is None:
        return None
    total, mean, squares = map(lua.to_number, texts)
    if total is None or mean is None or squares is None:
        return _no_statistics(key, texts)
    return total, mean, squares


def added(key: str, summary: Summary | StoreCorrupted | None, sample: float) -> Summary:
    """
    A summary with one more sample.

    Raises:
        StoreCorrupted: there is none to which it could be added, or it is none.
    """
    if isinstance(summary, StoreCorrupted):
        raise summary
    if not math.isfinite(sample):
        raise StoreCorrupted(f"{key} takes no sample of {sample} seconds", argument=key)
    if summary is None:
        return 1.0, sample, 0.0
    if summary[0] == -1:
        raise _no_statistics(key, summary)
    return welford(*summary, sample)


def welford(total: float, mean: float, squares: float, sample: float) -> Summary:
    """A summary with one more sample, in the core's order of operations."""
    total += 1
    new_mean = mean + (sample - mean) / total
    return total, new_mean, squares + (sample - new_mean) * (sample - mean)


def _no_statistics(key: str, found: Any) -> StoreCorrupted:
    return StoreCorrupted(f"{key} holds no statistics: {found!r}", argument=key, value=found)
