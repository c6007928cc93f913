# SPDX-License-Identifier: MIT
"""
A sorted list that is cheap to change and to count in at any place.

The entries lie in a list of sorted blocks, between which *fences* stand:
a block's entries are not below the fence on its left and below the one on its right.
A fence is an entry that once began a block. It need not be there any longer,
so that neither additions nor removals, at the ends or elsewhere, move a fence.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from itertools import chain
from typing import Final, TypeAlias

__all__ = ["Blocks", "Entry"]

#: (score, order key, member)
Entry: TypeAlias = tuple[float, str, str]

#: The most entries in a block; one that falls below a quarter joins its neighbour if they fit.
_BLOCK: Final = 1024


class Blocks:
    """Entries in order; none is in it twice."""

    __slots__ = ("_blocks", "_fences", "_size")

    def __init__(self) -> None:
        self._blocks: list[list[Entry]] = [[]]
        self._fences: list[Entry] = []
        self._size = 0

    def __iter__(self) -> Iterator[Entry]:
        return chain.from_iterable(self._blocks)

    def copy(self) -> Blocks:
        """Give an independent copy."""
        twin = Blocks()
        twin._blocks = [block.copy() for block in self._blocks]
        twin._fences = self._fences.copy()
        twin._size = self._size
        return twin

    def insert(self, entry: Entry) -> None:
        """Put in an entry that is not there."""
        self._size += 1
        index = bisect_right(self._fences, entry) if self._fences else 0
        block = self._blocks[index]
        insort(block, entry)
        if len(block) > _BLOCK:
            half = len(block) // 2
            self._blocks.insert(index + 1, block[half:])
            self._fences.insert(index, block[half])
            del block[half:]

    def discard(self, entry: Entry) -> None:
        """Remove an entry that is there."""
        self._size -= 1
        index = bisect_right(self._fences, entry) if self._fences else 0
        block = self._blocks[index]
        del block[bisect_left(block, entry)]
        if self._fences and len(block) < _BLOCK // 4:
            self._join(max(index, 1))

    def _join(self, index: int) -> None:
        """Append a block to the one on its left if they fit; an empty one always does."""
        left, right = self._blocks[index - 1 : index + 1]
        if len(left) + len(right) <= _BLOCK:
            left += right
            del self._blocks[index], self._fences[index - 1]

    def rank(self, bound: Entry) -> int:
        """Count the entries below a bound."""
        blocks = self._blocks
        if not self._fences:
            return bisect_left(blocks[0], bound)
        index = bisect_right(self._fences, bound)
        within = bisect_left(blocks[index], bound)
        if 2 * index < len(blocks):
            return sum(map(len, blocks[:index])) + within
        return self._size - sum(map(len, blocks[index:])) + within

    def between(self, begin: int, end: int) -> list[Entry]:
        """Give the entries from one rank up to, but without, another; there are so many."""
        if begin >= end:
            return []
        if not self._fences:
            return self._blocks[0][begin:end]
        index, place = self._find(begin)
        entries = self._blocks[index][place : place + end - begin]
        while missing := end - begin - len(entries):
            index += 1
            entries += self._blocks[index][:missing]
        return entries

    def _find(self, rank: int) -> tuple[int, int]:
        """Find the block, and the place in it, of a rank that there is, from the nearer end."""
        blocks = self._blocks
        if 2 * rank < self._size:
            index = 0
            while rank >= len(blocks[index]):
                rank -= len(blocks[index])
                index += 1
        else:
            index = len(blocks) - 1
            rank += len(blocks[index]) - self._size
            while rank < 0:
                index -= 1
                rank += len(blocks[index])
        return index, rank
