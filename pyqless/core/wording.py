# SPDX-License-Identifier: MIT
"""Numbers and moments in sentences for people."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

__all__ = ["counted", "day_time", "distance", "listed"]

#: how many names are told
_NAMED: Final = 10

#: seconds, and the unit of so many
_UNITS: Final = ((86400, "days"), (3600, "h"), (60, "min"))


def counted(number: float, one: str, many: str | None = None) -> str:
    """So many of something, such as ``1 job waits`` and ``2 jobs wait``; with an s for several unless they are given."""
    return f"{number:,.0f} {one if number == 1 else many or f'{one}s'}"


def listed(names: Sequence[str]) -> str:
    """Names one after the other; of many only the first, and how many more there are."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def day_time(moment: float) -> str:
    """A moment, Unix time in seconds, as day and time in UTC; as the number where no calendar has it."""
    try:
        return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError, OSError):
        return f"{moment:g}"


def distance(moment: float, now: float) -> str:
    """How far away a moment is, such as ``in 12 s`` and ``3 h ago``."""
    seconds = abs(moment - now)
    size, unit = next((pair for pair in _UNITS if seconds >= 2 * pair[0]), (1, "s"))
    number = seconds / size
    span = f"{number:.2g} {unit}" if number < 10 else f"{number:.0f} {unit}"
    return f"in {span}" if moment > now else f"{span} ago"
