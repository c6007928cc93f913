# SPDX-License-Identifier: MIT
"""
Queues that many workers use at once, known by their conflicts.

In a quiet queue every rule does what the Lua core does, in one transaction. In a busy one that would be in vain
for all but one: there pop picks among the jobs that stand level with the head, and samples are deferred.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, NamedTuple

from pyqless.core.transaction import Transaction

__all__ = ["Busy", "is_busy", "level", "notice", "seldom", "spread"]

#: seconds after its last conflict until which a queue counts as busy
_LASTING: Final = 2.0

#: among how many jobs pop picks: at first, and twice as many with each further conflict, up to this
_FEWEST, _MOST = 16, 128

#: what the scores of jobs of one priority differ by that are put within thirty days; see ``places.work_score``
_LEVEL: Final = 30 * 86400 / 10000000000


class Busy(NamedTuple):
    """What is remembered of a busy queue."""

    #: Unix time, seconds
    until: float
    #: among how many jobs to pick
    spread: int


def notice(tx: Transaction, queue: str) -> None:
    """Remember that attempts met conflicts, if they did."""
    if tx.attempt and tx.memory is not None:
        wide = min(_FEWEST << min(tx.attempt - 1, 8), _MOST)
        tx.memory["busy", queue] = Busy(tx.now + _LASTING, max(wide, spread(tx, queue)))


def is_busy(tx: Transaction, queue: str) -> bool:
    """Whether there have been conflicts lately."""
    return spread(tx, queue) > 1


def spread(tx: Transaction, queue: str) -> int:
    """Among how many jobs pop picks; 1 if it takes the head."""
    known: Busy | None = tx.memory.get(("busy", queue)) if tx.memory else None
    return 1 if known is None or known.until <= tx.now else known.spread


def seldom(tx: Transaction, what: Hashable, one_in: int) -> bool:
    """Whether it is time for something that is done once in so many times, the first time among them."""
    if tx.memory is None:
        return True
    count = tx.memory[what] = tx.memory.get(what, 0) + 1
    return bool(count % one_in == 1)


def level(work: list[tuple[str, float]]) -> int:
    """
    How many of the first waiting jobs have the priority of the very first.

    A score is the priority less a small part for the moment; so those of one priority differ by little. Priorities
    that differ by less are taken for one.
    """
    first = work[0][1]
    return max(1, sum(first - score <= _LEVEL for _, score in work))
