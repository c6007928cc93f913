# SPDX-License-Identifier: MIT
"""The bins of the histograms of times."""

from __future__ import annotations

from typing import Final

from pyqless.core import lua

__all__ = ["BINS", "bin_of"]

#: in the order of ``stats``: 60 seconds, 59 minutes, 23 hours, 6 days
BINS: Final = (
    *(f"s{second}" for second in range(60)),
    *(f"m{minute}" for minute in range(1, 60)),
    *(f"h{hour}" for hour in range(1, 24)),
    *(f"d{day}" for day in range(1, 7)),
)


def bin_of(seconds: float) -> str:
    """The bin of a time, which may be none that is shown."""
    whole = lua.floor(seconds)
    for unit, size, end in (("s", 1, 60), ("m", 60, 3600), ("h", 3600, 86400)):
        if whole < end:
            return unit + lua.concat(whole // size)
    return "d" + lua.concat(whole // 86400)
