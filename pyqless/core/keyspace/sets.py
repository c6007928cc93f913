# SPDX-License-Identifier: MIT
"""Reads and writes of sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pyqless.core.keyspace.values import Outcome, Value, expect

__all__ = ["READS", "WRITES"]


def _sadd(value: Value | None, *members: str) -> Outcome:
    present = expect(set, value)
    before = len(present)
    present.update(members)
    return present, len(present) > before


def _srem(value: Value | None, *members: str) -> Outcome:
    present = expect(set, value)
    before = len(present)
    present.difference_update(members)
    return present, len(present) < before


#: See ``commands.READS``.
READS: Final[dict[str, Callable[..., Any]]] = {
    "SCARD": lambda value: len(expect(set, value)),
    "SISMEMBER": lambda value, member: int(member in expect(set, value)),
    "SMEMBERS": lambda value: expect(set, value).copy(),
}

#: See ``commands.WRITES``.
WRITES: Final[dict[str, Callable[..., Outcome]]] = {
    "SADD": _sadd,
    "SREM": _srem,
}
