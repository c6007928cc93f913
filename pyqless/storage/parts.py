# SPDX-License-Identifier: MIT
"""
Keys on their way from one storage to another, large ones in parts.

Their order is the same wherever they come from: keys, the fields of a hash and the members of a set by their
bytes, sorted sets by rank, lists as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, Final, NamedTuple, TypeVar

from pyqless.core.effects import Command
from pyqless.core.sortedset import SortedSet

__all__ = [
    "PART_ITEMS",
    "Part",
    "batched",
    "in_bytes",
    "packets",
    "parts_of",
]

T = TypeVar("T")

#: the most items in a part
PART_ITEMS: Final = 1000

#: the most commands in a packet, and characters after which it is full
PACKET_COMMANDS: Final = 1000
PACKET_LENGTH: Final = 1 << 20


class Part(NamedTuple):
    """A key with what it holds, or some of that."""

    key: str
    #: hash, list, set, string or zset
    kind: str
    #: (field, text) of a hash, (member, score) of a sorted set, texts of a list or set, a string's text
    items: tuple[Any, ...]

    @property
    def command(self) -> Command:
        """The write that adds the items to the key."""
        return _COMMANDS[self.kind](self.key, self.items)


_COMMANDS: Final[dict[str, Callable[[str, tuple[Any, ...]], Command]]] = {
    "hash": lambda key, items: ("HSET", key, *chain.from_iterable(items)),
    "list": lambda key, items: ("RPUSH", key, *items),
    "set": lambda key, items: ("SADD", key, *items),
    "string": lambda key, items: ("SET", key, *items),
    "zset": lambda key, items: ("ZADD", key, *(part for pair in items for part in reversed(pair))),
}


def in_bytes(text: str) -> bytes:
    """A text as a store keeps it, and by which it is ordered."""
    return text.encode("utf-8", "surrogateescape")


def parts_of(key: str, kind: str, value: Any) -> Iterator[Part]:
    """
    Cut a key into parts.

    Args:
        value: as ``pyqless.core.keyspace`` keeps it, or what a read gives; a sorted set with its scores.
    """
    for items in batched(_ITEMS[kind](value), PART_ITEMS):
        yield Part(key, kind, items)


_ITEMS: Final[dict[str, Callable[[Any], Iterable[Any]]]] = {
    "hash": lambda fields: ((name, fields[name]) for name in sorted(fields, key=in_bytes)),
    "list": iter,
    "set": lambda members: sorted(members, key=in_bytes),
    "string": lambda text: [text],
    "zset": lambda pairs: pairs.items() if isinstance(pairs, SortedSet) else pairs,
}


def packets(parts: Iterable[Part]) -> Iterator[list[Command]]:
    """The writes of parts, as many together as should go to a store at once."""
    packet: list[Command] = []
    length = 0
    for part in parts:
        packet.append(part.command)
        length += sum(len(argument) for argument in packet[-1] if isinstance(argument, str))
        if length >= PACKET_LENGTH or len(packet) >= PACKET_COMMANDS:
            yield packet
            packet, length = [], 0
    if packet:
        yield packet


def batched(items: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """Items in groups of a size, the last one smaller."""
    remaining = iter(items)
    while group := tuple(islice(remaining, size)):
        yield group
