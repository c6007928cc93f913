# SPDX-License-Identifier: MIT
"""How much room is left in the store, where some of it is kept for the work that is there."""

from __future__ import annotations

import math
from typing import Final

from pyqless.errors import StoreRefused

__all__ = ["Room"]

#: seconds after which the store is asked anew
_VALID: Final = 1.0


class Room:
    """
    What is known of the store's memory.

    Args:
        headroom: which part of it new jobs must leave free; 0 where nobody needs to know.
    """

    def __init__(self, headroom: float) -> None:
        self.headroom = headroom
        #: which part is free
        self._free = 1.0
        self._asked_at = -math.inf

    def is_due(self, now: float) -> bool:
        """Whether it is time to ask the store."""
        return now - self._asked_at >= _VALID

    def ask(self, now: float) -> None:
        """Note that the store was asked."""
        self._asked_at = now

    def learn(self, reply: str) -> None:
        """Take the store's word; one that would rather lose keys than refuse has room."""
        said = dict(line.split(":", 1) for line in reply.splitlines() if ":" in line)
        limit = int(said.get("maxmemory", 0))
        evicts = said.get("maxmemory_policy") != "noeviction"
        self._free = 1.0 if evicts or not limit else 1.0 - int(said.get("used_memory", 0)) / limit

    def require(self) -> None:
        """
        Make sure that there is room for new jobs.

        Raises:
            StoreRefused: there is not.
        """
        if self._free < self.headroom:
            raise StoreRefused(
                f"the store has {max(self._free, 0):.1%} of its memory left, and the last"
                f" {self.headroom:.1%} are for the work that is there",
                argument="headroom",
                value=self._free,
            )
