# SPDX-License-Identifier: MIT
"""Reads and writes of lists."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import Any, Final

from pyqless.core.keyspace.numbers import integer
from pyqless.core.keyspace.values import Outcome, Value, expect
from pyqless.core.ranges import span

__all__ = ["READS", "WRITES"]


def _lrange(value: Value | None, start: int | str, stop: int | str) -> list[str]:
    items = expect(deque, value)
    if start == 0 and stop == -1:
        return list(items)
    length = len(items)
    begin, end = span(integer(start), integer(stop), length)
    if begin + end <= length:
        return list(islice(items, begin, end))
    return list(islice(reversed(items), length - end, length - begin))[::-1]


def _lindex(value: Value | None, index: int | str) -> str | None:
    found = _lrange(value, index, index)
    return found[0] if found else None


def _lpush(value: Value | None, *elements: str) -> Outcome:
    items = expect(deque, value)
    items.extendleft(elements)
    return items, True


def _rpush(value: Value | None, *elements: str) -> Outcome:
    items = expect(deque, value)
    items.extend(elements)
    return items, True


def _lpop(value: Value | None) -> Outcome:
    items = expect(deque, value)
    if items:
        items.popleft()
    return items, value is not None


def _ltrim(value: Value | None, start: int | str, stop: int | str) -> Outcome:
    items = expect(deque, value)
    begin, end = span(integer(start), integer(stop), len(items))
    for _ in range(len(items) - end):
        items.pop()
    for _ in range(begin):
        items.popleft()
    return items, value is not None


def _lrem(value: Value | None, count: int | str, element: str) -> Outcome:
    if integer(count):
        raise ValueError(f"LREM removes all or nothing here, so count must be 0, not {count!r}")
    items = expect(deque, value)
    found = items.count(element)
    for _ in range(found):
        items.remove(element)
    return items, found > 0


#: See ``commands.READS``.
READS: Final[dict[str, Callable[..., Any]]] = {
    "LINDEX": _lindex,
    "LLEN": lambda value: len(expect(deque, value)),
    "LRANGE": _lrange,
}

#: See ``commands.WRITES``.
WRITES: Final[dict[str, Callable[..., Outcome]]] = {
    "LPOP": _lpop,
    "LPUSH": _lpush,
    "LREM": _lrem,
    "LTRIM": _ltrim,
    "RPUSH": _rpush,
}
