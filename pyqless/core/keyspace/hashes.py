# SPDX-License-Identifier: MIT
"""Reads and writes of hashes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pyqless.core.keyspace.numbers import INT64, NotAnInteger, integer
from pyqless.core.keyspace.values import Outcome, Value, expect

__all__ = ["READS", "WRITES"]


def _hset(value: Value | None, *pairs: str) -> Outcome:
    fields = value if type(value) is dict else expect(dict, value)
    each = iter(pairs)
    fields.update(zip(each, each, strict=True))
    return fields, True


def _hdel(value: Value | None, *names: str) -> Outcome:
    fields = expect(dict, value)
    before = len(fields)
    for name in names:
        fields.pop(name, None)
    return fields, len(fields) < before


def _hincrby(value: Value | None, field: str, increment: int | str) -> Outcome:
    fields = expect(dict, value)
    total = integer(fields.get(field, "0")) + integer(increment)
    if total not in INT64:
        raise NotAnInteger(f"{field!r} would become {total}, which is no 64-bit integer")
    fields[field] = str(total)
    return fields, True


#: See ``commands.READS``.
READS: Final[dict[str, Callable[..., Any]]] = {
    "HGET": lambda value, field: expect(dict, value).get(field),
    "HGETALL": lambda value: (value if type(value) is dict else expect(dict, value)).copy(),
    "HLEN": lambda value: len(expect(dict, value)),
    "HMGET": lambda value, *fields: list(map(expect(dict, value).get, fields)),
}

#: See ``commands.WRITES``.
WRITES: Final[dict[str, Callable[..., Outcome]]] = {
    "HDEL": _hdel,
    "HINCRBY": _hincrby,
    "HSET": _hset,
}
