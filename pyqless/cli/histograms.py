# SPDX-License-Identifier: MIT
"""Histograms of times, drawn in text."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from pyqless.cli.printing import number
from pyqless.core.statistics import BINS

__all__ = ["bars"]

#: characters of the longest bar, and of what stands beside it: a name, and a number of any likely size
_WIDEST, _NARROWEST, _BESIDE = 50, 10, 30


class _Band(NamedTuple):
    """Bins that are drawn as one, from one to the one before the next band's."""

    name: str
    first: str


_BANDS: Final = (
    _Band("below 1 s", "s0"),
    _Band("1 to 2 s", "s1"),
    _Band("2 to 5 s", "s2"),
    _Band("5 to 10 s", "s5"),
    _Band("10 to 30 s", "s10"),
    _Band("30 to 60 s", "s30"),
    _Band("1 to 5 min", "m1"),
    _Band("5 to 15 min", "m5"),
    _Band("15 to 60 min", "m15"),
    _Band("1 to 3 h", "h1"),
    _Band("3 to 12 h", "h3"),
    _Band("12 to 24 h", "h12"),
    _Band("1 day and more", "d1"),
)


def bars(histogram: Sequence[float]) -> Iterator[str]:
    """
    Draw a histogram, a line a band, from the first band with anything in it to the last.

    Args:
        histogram: one count a bin, as in ``BINS``.
    """
    starts = [*(BINS.index(band.first) for band in _BANDS), len(BINS)]
    counts = [sum(histogram[first:end]) for first, end in pairwise(starts)]
    filled = [place for place, count in enumerate(counts) if count > 0]
    if not filled:
        return
    longest, width = max(counts), _width()
    for place in range(filled[0], filled[-1] + 1):
        count = max(0.0, counts[place])
        # what is there at all shows
        length = max(round(width * count / longest), 1 if count else 0)
        yield f"  {_BANDS[place].name:>14} |{'#' * length} {number(count)}"


def _width() -> int:
    """Characters of the longest bar, as this terminal has room for them."""
    return max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size().columns - _BESIDE))
