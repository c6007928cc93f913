# SPDX-License-Identifier: MIT
"""
A set ordered by score, with the order and the index rules of a Redis sorted set.

The entries lie in a list of sorted blocks, between which *fences* stand:
a block's entries are not below the fence on its left and below the one on its right.
A fence is an entry that once began a block. It need not be there any longer,
so that neither additions nor removals, at the ends or elsewhere, move a fence.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from pyqless.core.ranges import span

__all__ = ["SortedSet"]

#: (score, order key, member)
_Entry: TypeAlias = tuple[float, str, str]

#: The most entries in a block; one that falls below a quarter joins its neighbour if they fit.
_BLOCK: Final = 1024

#: Sorts behind every order key, since the characters of those stand for bytes.
_BEHIND_ALL: Final = "\u0100"


class SortedSet:
    """
    Members with scores, in the order of the scores, and of the members' bytes where these are equal.

    Args:
        pairs: (member, score) in any order; of a repeated member the last score counts.

    Raises:
        ValueError: a score is not a number (NaN), or a member cannot be UTF-8 with surrogate escapes.
    """

    __slots__ = ("_blocks", "_fences", "_scores")

    def __init__(self, pairs: Iterable[tuple[str, float]] = ()) -> None:
        self._scores: dict[str, float] = {}
        self._blocks: list[list[_Entry]] = [[]]
        self._fences: list[_Entry] = []
        for member, score in pairs:
            self.add(member, score)

    def __len__(self) -> int:
        return len(self._scores)

    def __repr__(self) -> str:
        return f"SortedSet({list(self.items())})"

    def score(self, member: str) -> float | None:
        """Give the score of a member, or None if it is not in the set."""
        return self._scores.get(member)

    def add(self, member: str, score: float) -> bool:
        """
        Add a member, or move it to another score.

        Args:
            member: text; bytes that are no UTF-8 as surrogate escapes.
            score: any number, infinite ones included; -0.0 is kept as 0.0.

        Returns:
            Whether the member is new.

        Raises:
            ValueError: the score is not a number (NaN), or the member is no such text.
        """
        is_new = member not in self._scores
        self.put(member, score)
        return is_new

    def put(self, member: str, score: float) -> bool:
        """As ``add``, but tell whether anything has changed."""
        score += 0.0  # an integer becomes a float, and -0.0 becomes 0.0
        if score != score:  # noqa: PLR0124 - true of NaN alone
            raise ValueError(f"the score of {member!r} is not a number")
        old = self._scores.get(member)
        if old == score:
            return False
        key = member if member.isascii() else _order_key(member)
        if old is not None:
            self._discard((old, key, member))
        self._scores[member] = score
        self._insert((score, key, member))
        return True

    def remove(self, member: str) -> bool:
        """Remove a member; tell whether it was there."""
        score = self._scores.pop(member, None)
        if score is None:
            return False
        self._discard((score, _order_key(member), member))
        return True

    def clear(self) -> None:
        """Remove all members."""
        self._scores.clear()
        self._blocks = [[]]
        self._fences.clear()

    def copy(self) -> SortedSet:
        """Give an independent copy."""
        twin = SortedSet()
        twin._scores = self._scores.copy()
        twin._blocks = [block.copy() for block in self._blocks]
        twin._fences = self._fences.copy()
        return twin

    def items(self) -> Iterator[tuple[str, float]]:
        """Iterate over (member, score) in order; the set must not change meanwhile."""
        return ((member, score) for block in self._blocks for score, _, member in block)

    def range(self, start: int, stop: int, *, reverse: bool = False) -> list[tuple[str, float]]:
        """
        Give the members from one rank to another, as ZRANGE and ZREVRANGE do.

        Args:
            start: the first rank; a negative one counts from the end.
            stop: the last rank, itself included; likewise.
            reverse: ranks run from the highest score to the lowest.

        Returns:
            (member, score) pairs in the order asked for.
        """
        begin, end = span(start, stop, len(self._scores))
        if reverse:
            begin, end = len(self._scores) - end, len(self._scores) - begin
        return self._between(begin, end, reverse=reverse)

    def by_score(
        self, lo: float, hi: float, offset: int = 0, count: int = -1, *, reverse: bool = False
    ) -> list[tuple[str, float]]:
        """
        Give the members whose scores lie in a range, as ZRANGEBYSCORE and ZREVRANGEBYSCORE do.

        Args:
            lo: the lowest score, itself included.
            hi: the highest score, itself included.
            offset: how many to pass over; with a negative one there are none left.
            count: how many to give at most; a negative one means all.
            reverse: begin with the highest score.

        Returns:
            (member, score) pairs in the order asked for.
        """
        if offset < 0:
            return []
        begin, end = self._rank((lo, "", "")), self._rank((hi, _BEHIND_ALL, ""))
        if count < 0:
            count = len(self._scores)
        if reverse:
            end -= offset
            begin = max(begin, end - count)
        else:
            begin += offset
            end = min(end, begin + count)
        return self._between(begin, end, reverse=reverse)

    def count(self, lo: float, hi: float) -> int:
        """Count the members whose scores lie in a range, both ends included."""
        return max(0, self._rank((hi, _BEHIND_ALL, "")) - self._rank((lo, "", "")))

    def _insert(self, entry: _Entry) -> None:
        index = bisect_right(self._fences, entry) if self._fences else 0
        block = self._blocks[index]
        insort(block, entry)
        if len(block) > _BLOCK:
            half = len(block) // 2
            self._blocks.insert(index + 1, block[half:])
            self._fences.insert(index, block[half])
            del block[half:]

    def _discard(self, entry: _Entry) -> None:
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

    def _rank(self, bound: _Entry) -> int:
        """Count the entries below a bound."""
        blocks = self._blocks
        index = bisect_right(self._fences, bound)
        within = bisect_left(blocks[index], bound)
        if 2 * index < len(blocks):
            return sum(map(len, blocks[:index])) + within
        return len(self._scores) - sum(map(len, blocks[index:])) + within

    def _find(self, rank: int) -> tuple[int, int]:
        """Find the block, and the place in it, of a rank that there is, from the nearer end."""
        blocks = self._blocks
        if 2 * rank < len(self._scores):
            index = 0
            while rank >= len(blocks[index]):
                rank -= len(blocks[index])
                index += 1
        else:
            index = len(blocks) - 1
            rank += len(blocks[index]) - len(self._scores)
            while rank < 0:
                index -= 1
                rank += len(blocks[index])
        return index, rank

    def _between(self, begin: int, end: int, *, reverse: bool) -> list[tuple[str, float]]:
        """Give the (member, score) pairs from one rank up to, but without, another."""
        if begin >= end:
            return []
        index, place = self._find(begin)
        entries = self._blocks[index][place : place + end - begin]
        while missing := end - begin - len(entries):
            index += 1
            entries += self._blocks[index][:missing]
        if reverse:
            entries.reverse()
        return [(member, score) for score, _, member in entries]


def _order_key(member: str) -> str:
    """
    Give a text that sorts as the member's bytes do.

    Text sorts by code points, which is also the order of its UTF-8 bytes, but not of bytes that
    stand as surrogates. With a character for each byte it does, and ASCII is that already.
    """
    if member.isascii():
        return member
    return member.encode("utf-8", "surrogateescape").decode("latin-1")
