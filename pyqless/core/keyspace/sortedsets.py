# SPDX-License-Identifier: MIT
"""Reads and writes of sorted sets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias

from pyqless.core.keyspace.numbers import integer, score
from pyqless.core.keyspace.values import Outcome, Value, expect
from pyqless.core.sortedset import SortedSet

__all__ = ["READS", "WRITES"]

_Pairs: TypeAlias = list[tuple[str, float]]

_SCORED: Final = ("WITHSCORES",)


# -- reads --------------------------------------------------------------------------------------


def _zrange(
    value: Value | None, start: int | str, stop: int | str, *options: Any, reverse: bool = False
) -> _Pairs | list[str]:
    zset = value if type(value) is SortedSet else expect(SortedSet, value)
    pairs = zset.range(integer(start), integer(stop), reverse=reverse)
    return pairs if options == _SCORED else _shown(pairs, options)


def _zrangebyscore(
    value: Value | None, lo: float | str, hi: float | str, *options: Any, reverse: bool = False
) -> _Pairs | list[str]:
    zset = expect(SortedSet, value)
    pairs = zset.by_score(score(lo), score(hi), *_limit(options), reverse=reverse)
    return _shown(pairs, options)


def _limit(options: tuple[Any, ...]) -> tuple[int, int]:
    """Find the offset and the count among a range's options."""
    if "LIMIT" not in options:
        return 0, -1
    place = options.index("LIMIT")
    return integer(options[place + 1]), integer(options[place + 2])


def _shown(pairs: _Pairs, options: tuple[Any, ...]) -> _Pairs | list[str]:
    return pairs if "WITHSCORES" in options else [member for member, _ in pairs]


# -- writes -------------------------------------------------------------------------------------


def _zadd(value: Value | None, *arguments: Any) -> Outcome:
    zset = value if type(value) is SortedSet else expect(SortedSet, value)
    if len(arguments) == 2:
        return zset, zset.put(arguments[1], score(arguments[0]))
    option = arguments[0] if arguments[0] in ("NX", "XX") else None
    pairs = arguments[1:] if option else arguments
    # A list, so that a bad score is found before the first member is added.
    entries = list(zip(map(score, pairs[::2]), pairs[1::2], strict=True))
    touched = False
    for number, member in entries:
        if option and (zset.score(member) is None) == (option == "XX"):
            continue
        touched |= zset.put(member, number)
    return zset, touched


def _zincrby(value: Value | None, increment: float | str, member: str) -> Outcome:
    zset = expect(SortedSet, value)
    total = (zset.score(member) or 0.0) + score(increment)
    return zset, zset.put(member, total)


def _zrem(value: Value | None, *members: str) -> Outcome:
    if value is None:
        return None, False
    zset = value if type(value) is SortedSet else expect(SortedSet, value)
    touched = False
    for member in members:
        touched |= zset.remove(member)
    return zset, touched


def _zremrangebyscore(value: Value | None, lo: float | str, hi: float | str) -> Outcome:
    zset = expect(SortedSet, value)
    return _zrem(zset, *(member for member, _ in zset.by_score(score(lo), score(hi))))


#: See ``commands.READS``.
READS: Final[dict[str, Callable[..., Any]]] = {
    "ZCARD": lambda value: len(expect(SortedSet, value)),
    "ZCOUNT": lambda value, lo, hi: expect(SortedSet, value).count(score(lo), score(hi)),
    "ZRANGE": _zrange,
    "ZRANGEBYSCORE": _zrangebyscore,
    "ZREVRANGE": partial(_zrange, reverse=True),
    "ZREVRANGEBYSCORE": lambda value, hi, lo, *options: _zrangebyscore(
        value, lo, hi, *options, reverse=True
    ),
    "ZSCORE": lambda value, member: expect(SortedSet, value).score(member),
}

#: See ``commands.WRITES``.
WRITES: Final[dict[str, Callable[..., Outcome]]] = {
    "ZADD": _zadd,
    "ZINCRBY": _zincrby,
    "ZREM": _zrem,
    "ZREMRANGEBYSCORE": _zremrangebyscore,
}
