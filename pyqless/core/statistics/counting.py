# SPDX-License-Identifier: MIT
"""What is only counted, by the day."""

from __future__ import annotations

import math
from functools import lru_cache

from pyqless.core import lua
from pyqless.core.transaction import Transaction

__all__ = ["count", "day_of"]


@lru_cache(maxsize=64)
def day_of(moment: float) -> str:
    """The day of a moment, as it stands in the keys of statistics."""
    if 0 <= moment < 1e12:
        return str(math.floor(moment / 86400.0) * 86400)
    return lua.concat(lua.day(moment))


def count(tx: Transaction, queue: str, moment: float, **increments: int) -> None:
    """Add to the ``retries``, ``failed`` and ``failures`` of a queue on the day of a moment."""
    key = tx.keys.statistics("stats", day_of(moment), queue)
    for field, increment in increments.items():
        tx.hincrby(key, field, increment)
