# SPDX-License-Identifier: MIT
"""
Everything in a namespace of a Redis, key by key.

What others change meanwhile may show or not: each packet of keys is read at one instant, and so is each
further part of a large key, but no two of these at the same one.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from itertools import count
from typing import Final

from pyqless.core.effects import Command, Factory, Replies, Transition
from pyqless.core.keys import Keys
from pyqless.core.transaction import Transaction
from pyqless.errors import StoreCorrupted
from pyqless.storage.base import AsyncStorage, Storage
from pyqless.storage.ordering import in_order
from pyqless.storage.parts import PART_ITEMS, Part, batched, parts_of

__all__ = ["clear", "clear_async", "scan"]

#: keys that are read in one packet, and names that the server is asked to look at in one call
PACKET_KEYS: Final = 100
SCAN_COUNT: Final = 1000

#: the read of a key, whole or from one rank to another
_WHOLE: Final = {"hash": "HGETALL", "set": "SMEMBERS", "string": "GET"}
_PAGED: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "list": ("LRANGE", ()),
    "zset": ("ZRANGE", ("WITHSCORES",)),
}


def _look(keys: Keys, cursor: str) -> Factory[Replies]:
    """Ask for some keys of the namespace, pyqless's own included, in no order and some perhaps repeatedly."""
    pattern = re.sub(r"([*?\[\]\\])", r"\\\1", keys.prefix) + "*"
    return _reading([("SCAN", cursor, "MATCH", pattern, "COUNT", SCAN_COUNT)])


def _names(storage: Storage) -> Iterator[str]:
    """All of them."""
    cursor = "0"
    while True:
        ((cursor, found),) = storage.run(_look(storage.keys, cursor))
        yield from found
        if cursor == "0":
            return


def scan(storage: Storage) -> Generator[Part, None, None]:
    """See ``Storage.scan``."""
    own = storage.keys.own
    wanted = in_order(key for key in _names(storage) if not key.startswith(own))
    for keys in batched(wanted, PACKET_KEYS):
        kinds = storage.run(_reading([("TYPE", key) for key in keys]))
        present = [(key, kind) for key, kind in zip(keys, kinds, strict=True) if kind != "none"]
        reads = [_read(key, kind, 0) for key, kind in present]
        values = storage.run(_reading(reads)) if reads else []
        for (key, kind), value in zip(present, values, strict=True):
            if value is None:  # a string that has gone away since
                continue
            yield from parts_of(key, kind, value)
            if kind in _PAGED and len(value) == PART_ITEMS:
                yield from _rest(storage, key, kind)


def clear(storage: Storage) -> None:
    """See ``Storage.clear``."""
    for keys in batched(_names(storage), PACKET_KEYS):
        storage.run(_deleting(keys))


async def clear_async(storage: AsyncStorage) -> None:
    """See ``AsyncStorage.clear``."""
    cursor = ""
    while cursor != "0":
        ((cursor, found),) = await storage.run(_look(storage.keys, cursor or "0"))
        for keys in batched(found, PACKET_KEYS):
            await storage.run(_deleting(keys))


def _rest(storage: Storage, key: str, kind: str) -> Iterator[Part]:
    """The parts of a large key behind the first one."""
    for start in count(PART_ITEMS, PART_ITEMS):
        (value,) = storage.run(_reading([_read(key, kind, start)]))
        yield from parts_of(key, kind, value)
        if len(value) < PART_ITEMS:
            return


def _read(key: str, kind: str, start: int) -> Command:
    if kind in _WHOLE:
        return (_WHOLE[kind], key)
    if kind not in _PAGED:
        raise StoreCorrupted(f"{key} is a {kind}, which is no qless data", argument=key, value=kind)
    name, options = _PAGED[kind]
    return (name, key, start, start + PART_ITEMS - 1, *options)


def _reading(reads: list[Command]) -> Factory[Replies]:
    def transition(tx: Transaction) -> Transition[Replies]:
        return (yield from tx.snapshot(*reads))

    return transition


def _deleting(keys: Iterable[str]) -> Factory[None]:
    def transition(tx: Transaction) -> Transition[None]:
        for key in keys:
            tx.delete(key)
        return
        yield

    return transition
