# SPDX-License-Identifier: MIT
"""Many writes to a key as fewer commands that do the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, groupby
from typing import Final

from pyqless.core.effects import Command

__all__ = ["merge"]

#: the writes that take any number of members, fields or values
_VARIADIC: Final = {"HDEL", "HSET", "LPUSH", "RPUSH", "SADD", "SREM", "ZREM"}


def merge(writes: Sequence[Command]) -> list[Command]:
    """
    Make one command of neighbours that differ in their arguments only.

    Args:
        writes: to one key, in order.
    """
    merged: list[Command] = []
    for name, group in groupby(writes, _variadic):
        if name is None:
            merged += group
        elif name == "NX":
            merged += dict.fromkeys(group)  # the first of the same has done it
        else:
            arguments = chain.from_iterable(write[2:] for write in group)
            merged.append((name, writes[0][1], *arguments))
    return merged


def _variadic(write: Command) -> str | None:
    """The name of a write that takes more, or NX for a ZADD of that option; None for others."""
    name: str = write[0]
    if name == "ZADD":
        return name if len(write) % 2 == 0 else "NX" if write[2] == "NX" else None
    return name if name in _VARIADIC else None
