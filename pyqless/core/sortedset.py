# SPDX-License-Identifier: MIT
"""A set ordered by score, with the order and the index rules of a Redis sorted set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from pyqless.core.blocks import Blocks
from pyqless.core.ranges import span

__all__ = ["SortedSet"]

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

    __slots__ = ("_entries", "_scores")

    def __init__(self, pairs: Iterable[tuple[str, float]] = ()) -> None:
        self._scores: dict[str, float] = {}
        #: (score, order key, member)
        self._entries = Blocks()
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
            self._entries.discard((old, key, member))
        self._scores[member] = score
        self._entries.insert((score, key, member))
        return True

    def remove(self, member: str) -> bool:
        """Remove a member; tell whether it was there."""
        score = self._scores.pop(member, None)
        if score is None:
            return False
        self._entries.discard((score, _order_key(member), member))
        return True

    def clear(self) -> None:
        """Remove all members."""
        self._scores.clear()
        self._entries = Blocks()

    def copy(self) -> SortedSet:
        """Give an independent copy."""
        twin = SortedSet()
        twin._scores = self._scores.copy()
        twin._entries = self._entries.copy()
        return twin

    def items(self) -> Iterator[tuple[str, float]]:
        """Iterate over (member, score) in order; the set must not change meanwhile."""
        return ((member, score) for score, _, member in self._entries)

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
        begin, end = self._below(lo), self._up_to(hi)
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
        return max(0, self._up_to(hi) - self._below(lo))

    def _below(self, score: float) -> int:
        """Count the members with lower scores."""
        return self._entries.rank((score, "", ""))

    def _up_to(self, score: float) -> int:
        """Count the members with lower scores or this one."""
        return self._entries.rank((score, _BEHIND_ALL, ""))

    def _between(self, begin: int, end: int, *, reverse: bool) -> list[tuple[str, float]]:
        """Give the (member, score) pairs from one rank up to, but without, another."""
        entries = self._entries.between(begin, end)
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
