# SPDX-License-Identifier: MIT
"""Whether the order that is promised was kept, as told by those who took the jobs."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import inf

from tests.bench.crowd import PRIORITIES, Told, named

__all__ = ["passed"]


def passed(told: Sequence[Told], waiting: int) -> int:
    """
    Count the jobs that were handed out although one of higher priority was ready all the while.

    Ready all the while is a job whose put had returned before the pop began, and that went to a pop which began after
    this one had returned, or to none.
    """
    began = {jid: start for each in told for jid, start, _ in each.popped}
    ready = [(put, began.get(jid, inf), jid) for each in told for jid, put in each.put]
    known = {jid for _, _, jid in ready}
    ready += [(-inf, start, jid) for jid, start in began.items() if jid not in known]
    taken = Counter(priority(jid) for jid in began if jid not in known)
    for rank in range(PRIORITIES):
        if taken[rank] < waiting:
            ready.append((-inf, inf, named(rank, "left")))
    higher = Ready(ready)
    return sum(
        higher.is_any(priority(jid), start, end) for each in told for jid, start, end in each.popped
    )


def priority(jid: str) -> int:
    """The priority that a jid tells."""
    return int(jid[:2])


class Ready:
    """
    Jobs that were ready.

    Args:
        jobs: from when on, when the pop that took it began, jid.
    """

    def __init__(self, jobs: Iterable[tuple[float, float, str]]) -> None:
        ranks: dict[int, list[tuple[float, float]]] = defaultdict(list)
        for put, start, jid in jobs:
            ranks[priority(jid)].append((put, start))
        self._ranks = {
            rank: (
                [put for put, _ in sorted(each)],
                [-inf, *accumulate((start for _, start in sorted(each)), max)],
            )
            for rank, each in ranks.items()
        }

    def is_any(self, rank: int, start: float, end: float) -> bool:
        """Whether one of higher priority was ready from start to end, and beyond."""
        return any(
            latest[bisect_left(puts, start)] > end
            for other, (puts, latest) in self._ranks.items()
            if other > rank
        )
