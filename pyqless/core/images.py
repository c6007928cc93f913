# SPDX-License-Identifier: MIT
"""Images of keys: what a key held when it was read whole, and what staged writes have made of that."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Final

from pyqless.core.effects import Command
from pyqless.core.keyspace import WRITES, Image
from pyqless.core.sortedset import SortedSet

__all__ = ["KINDS", "apply", "image_of", "is_whole", "whole_read"]

#: the reads whose replies can serve as images, and what these are; sorted sets, which can be large, are left out
KINDS: Final[dict[str, type[dict[str, str] | deque[str] | set[str]]]] = {
    "HGETALL": dict,
    "LRANGE": deque,
    "SMEMBERS": set,
}

#: The read that fetches a key whole, by the first letter of any command on a key of that type.
_WHOLE_READ: Final[dict[str, tuple[Any, ...]]] = {
    "H": ("HGETALL",),
    "L": ("LRANGE", 0, -1),
    "R": ("LRANGE", 0, -1),
    "S": ("SMEMBERS",),
    "Z": ("ZRANGE", 0, -1, "WITHSCORES"),
}

#: The value of a key by the read that fetches it whole; a sorted set needs its scores.
_VALUES: Final[dict[str, Callable[[Any], Image]]] = {
    "HGETALL": lambda fields: fields,
    "LRANGE": deque,
    "SMEMBERS": lambda members: members,
    "ZRANGE": SortedSet,
}


def is_whole(read: Command) -> bool:
    """Whether the reply to a read can serve as an image."""
    return read[0] in KINDS and (read[0] != "LRANGE" or read[2:] == (0, -1))


def whole_read(read: Command, staged: str) -> Command:
    """
    The read that fetches the key of a read whole.

    Args:
        staged: the name of a write to the key.
    """
    family = read[0][0] if staged == "DEL" else staged[0]
    name, *arguments = _WHOLE_READ[family]
    return (name, read[1], *arguments)


def image_of(name: str, reply: Any) -> Image:
    """
    Rebuild the value of a key from what a read of the whole key gave.

    Args:
        name: HGETALL, LRANGE, SMEMBERS, or ZRANGE with scores.
        reply: in the form of ``READS``; it may become the image.
    """
    return _VALUES[name](reply)


def apply(image: Image, write: Command) -> None:
    """Let an image change with a write to its key."""
    value, _ = WRITES[write[0]](image, *write[2:])
    if value is None:
        image.clear()
