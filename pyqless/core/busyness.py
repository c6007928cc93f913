# SPDX-License-Identifier: MIT
"""
Queues that many workers use at once, known by their conflicts.

In a quiet queue every rule does what the Lua core does, in one transaction. In a busy one that would be in vain
for all but one: there pop picks among the jobs that stand level with the head, and samples are deferred. Where few
stand level, so that many want the same one, pops wait for their turn, if the store is one where that can be had; and so
does one that has met a conflict.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, NamedTuple

from pyqless.core.transaction import Transaction

__all__ = ["Busy", "choice", "is_busy", "level", "notice", "seldom", "spread", "turn"]

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
    #: whether fewer than are worth it stood level with the head
    is_scarce: bool = False


def notice(tx: Transaction, queue: str) -> None:
    """Remember that attempts met conflicts, if they did."""
    if tx.attempt and tx.memory is not None:
        wide = min(_FEWEST << min(tx.attempt - 1, 8), _MOST)
        known = _known(tx, queue) or Busy(0.0, 1)
        until, spread = tx.now + _LASTING, max(wide, known.spread)
        tx.memory["busy", queue] = known._replace(until=until, spread=spread)


def choice(tx: Transaction, queue: str, work: list[tuple[str, float]]) -> int:
    """How many of the first waiting jobs there are to choose from, which is remembered; in a quiet queue one."""
    known = _known(tx, queue)
    if known is None or tx.memory is None:
        return 1
    count = level(work) if work else 0
    tx.memory["busy", queue] = known._replace(is_scarce=count < _FEWEST)
    return count


def is_busy(tx: Transaction, queue: str) -> bool:
    """Whether there have been conflicts lately."""
    return _known(tx, queue) is not None


def spread(tx: Transaction, queue: str) -> int:
    """Among how many jobs pop picks; 1 if it takes the head."""
    known = _known(tx, queue)
    if known is None:
        return 1
    # whoever has its turn looks whether turns are still needed
    return _FEWEST if turn(tx, queue) else known.spread


def turn(tx: Transaction, queue: str) -> str | None:
    """What a pop waits for before it reads, where it would probably meet a conflict; see ``Batch``."""
    known = _known(tx, queue) if tx.takes_turns else None
    return tx.keys.turn(queue) if known and (known.is_scarce or tx.attempt) else None


def _known(tx: Transaction, queue: str) -> Busy | None:
    known: Busy | None = tx.memory.get(("busy", queue)) if tx.memory else None
    return None if known is None or known.until <= tx.now else known


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
