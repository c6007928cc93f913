# SPDX-License-Identifier: MIT
"""Large sorted sets and large sets: a row a member."""

from __future__ import annotations

import math
from typing import Any, Final

from pyqless.core.ranges import span
from pyqless.core.sortedset import SortedSet
from pyqless.storage.parts import in_bytes
from pyqless.storage.sqlite import statements as sql
from pyqless.storage.sqlite.packing import SET, SORTED_SET, text_of
from pyqless.storage.sqlite.rows import Rows

__all__ = ["SetRows", "SortedSetRows"]

_Pairs = list[tuple[str, float]]

#: the score of what has none
_NO_SCORE: Final = 0.0


class _Members(Rows):
    """What sorted sets and sets have in common."""

    def remove(self, *members: str) -> None:
        """ZREM, SREM."""
        self._drop(sql.DROP_MEMBER, *[(self.key, in_bytes(member)) for member in members])

    def clear(self) -> None:
        """See ``Rows.clear``."""
        self._drop(sql.DROP_MEMBERS, (self.key,))

    def _score(self, member: str) -> float | None:
        score: float | None = self._execute(sql.SCORE, (self.key, in_bytes(member))).get
        return score


class SetRows(_Members):
    """A set in rows."""

    kind = SET
    name = "set"

    def fill(self, value: set[str]) -> None:
        """See ``Rows.fill``."""
        self.add(*value)

    def whole(self) -> set[str]:
        """SMEMBERS."""
        return {text_of(row[0]) for row in self._execute(sql.MEMBERS, (self.key,)).fetchall()}

    def add(self, *members: str) -> None:
        """SADD."""
        rows = [(self.key, in_bytes(member), _NO_SCORE) for member in members]
        self._add(sql.ADD_MEMBER, rows)

    def contains(self, member: str) -> int:
        """SISMEMBER."""
        return int(self._score(member) is not None)


class SortedSetRows(_Members):
    """A sorted set in rows."""

    kind = SORTED_SET
    name = "zset"

    def fill(self, value: SortedSet) -> None:
        """See ``Rows.fill``."""
        rows = [(self.key, in_bytes(member), score) for member, score in value.items()]
        self._add(sql.ADD_MEMBER, rows)

    def whole(self) -> SortedSet:
        """See ``Rows.whole``."""
        return SortedSet(self._pairs(sql.RANGE, -1, 0))

    # -- reads ------------------------------------------------------------------------------

    def score(self, member: str) -> float | None:
        """ZSCORE."""
        return self._score(member)

    def count(self, lo: float | str, hi: float | str) -> int:
        """ZCOUNT."""
        bounds = (self.key, _number(lo), _number(hi))
        counted: int = self._execute(sql.COUNT_SCORES, bounds).get
        return counted

    def range(self, start: int, stop: int, *options: Any) -> _Pairs | list[str]:
        """ZRANGE."""
        begin, end = span(int(start), int(stop), self.size)
        if begin + end <= self.size:
            return _shown(self._pairs(sql.RANGE, end - begin, begin), options)
        # the end is nearer: rows that are passed over cost as much as those that are read
        pairs = self._pairs(sql.REVERSE_RANGE, end - begin, self.size - end)
        return _shown(pairs[::-1], options)

    def reverse_range(self, start: int, stop: int, *options: Any) -> _Pairs | list[str]:
        """ZREVRANGE."""
        return self.range(-1 - int(stop), -1 - int(start), *options)[::-1]

    def by_score(self, lo: float | str, hi: float | str, *options: Any) -> _Pairs | list[str]:
        """ZRANGEBYSCORE."""
        return self._between(sql.BY_SCORE, lo, hi, options)

    def reverse_by_score(
        self, hi: float | str, lo: float | str, *options: Any
    ) -> _Pairs | list[str]:
        """ZREVRANGEBYSCORE."""
        return self._between(sql.REVERSE_BY_SCORE, lo, hi, options)

    def _between(
        self, statement: str, lo: float | str, hi: float | str, options: tuple[Any, ...]
    ) -> _Pairs | list[str]:
        offset, count = _limit(options)
        if offset < 0:
            return []
        bindings = (self.key, _number(lo), _number(hi), count, offset)
        return _shown(_decoded(self._execute(statement, bindings).fetchall()), options)

    def _pairs(self, statement: str, count: int, offset: int) -> _Pairs:
        return _decoded(self._execute(statement, (self.key, count, offset)).fetchall())

    # -- writes -----------------------------------------------------------------------------

    def add(self, *arguments: Any) -> None:
        """ZADD."""
        option = arguments[0] if arguments[0] in ("NX", "XX") else None
        pairs = arguments[1:] if option else arguments
        scores = map(_number, pairs[::2])
        rows = [
            (self.key, in_bytes(member), score)
            for score, member in zip(scores, pairs[1::2], strict=True)
        ]
        are_new = option != "XX" and self._add(sql.ADD_MEMBER, rows) == len(rows)
        if not are_new and option != "NX":
            self._execute_many(sql.SET_SCORE, rows)

    def increase(self, increment: float | str, member: str) -> None:
        """ZINCRBY."""
        self.add((self._score(member) or 0.0) + _number(increment), member)

    def remove_by_score(self, lo: float | str, hi: float | str) -> None:
        """ZREMRANGEBYSCORE."""
        self._drop(sql.DROP_SCORES, (self.key, _number(lo), _number(hi)))


def _number(score: float | str) -> float:
    number = float(score) + 0.0  # -0.0 becomes 0.0
    if math.isnan(number):
        raise ValueError(f"{score!r} is not a valid score")
    return number


def _limit(options: tuple[Any, ...]) -> tuple[int, int]:
    """Find the offset and the count among a range's options; a negative count means all, as in SQL."""
    if "LIMIT" not in options:
        return 0, -1
    place = options.index("LIMIT")
    return int(options[place + 1]), int(options[place + 2])


def _decoded(rows: list[tuple[bytes, float]]) -> _Pairs:
    return [(text_of(member), score) for member, score in rows]


def _shown(pairs: _Pairs, options: tuple[Any, ...]) -> _Pairs | list[str]:
    return pairs if "WITHSCORES" in options else [member for member, _ in pairs]


SetRows.reads = {
    "EXISTS": SetRows.exists,
    "SCARD": SetRows.length,
    "SISMEMBER": SetRows.contains,
    "SMEMBERS": SetRows.whole,
}
SetRows.writes = {"DEL": SetRows.clear, "SADD": SetRows.add, "SREM": SetRows.remove}

SortedSetRows.reads = {
    "EXISTS": SortedSetRows.exists,
    "ZCARD": SortedSetRows.length,
    "ZCOUNT": SortedSetRows.count,
    "ZRANGE": SortedSetRows.range,
    "ZRANGEBYSCORE": SortedSetRows.by_score,
    "ZREVRANGE": SortedSetRows.reverse_range,
    "ZREVRANGEBYSCORE": SortedSetRows.reverse_by_score,
    "ZSCORE": SortedSetRows.score,
}
SortedSetRows.writes = {
    "DEL": SortedSetRows.clear,
    "ZADD": SortedSetRows.add,
    "ZINCRBY": SortedSetRows.increase,
    "ZREM": SortedSetRows.remove,
    "ZREMRANGEBYSCORE": SortedSetRows.remove_by_score,
}
