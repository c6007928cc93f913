# SPDX-License-Identifier: MIT
"""
What workers tell of themselves, in keys of pyqless's own that Lua clients ignore.

``ql:py:workers`` lists the names by the moment of the last word; ``ql:py:worker:NAME`` is that word, a hash.
A word that is not renewed grows old, and counts as that of a dead worker; no store has to forget it by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pyqless.core.effects import Transition
from pyqless.core.keys import Keys
from pyqless.core.transaction import Transaction

__all__ = [
    "Presence",
    "announce",
    "present",
    "record_key",
    "register_key",
    "withdraw",
    "word_of",
    "word_on",
]


class Presence(NamedTuple):
    """What a worker has told last."""

    name: str
    #: Unix time of that, seconds
    seen: float
    #: texts by name, some of them JSON
    fields: dict[str, str]


def register_key(keys: Keys) -> str:
    """Zset: the workers that tell of themselves, by the moment of the last word."""
    return f"{keys.own}workers"


def record_key(keys: Keys, worker: str) -> str:
    """Hash: what a worker tells of itself."""
    return f"{keys.own}worker:{worker}"


def announce(tx: Transaction, worker: str, fields: Mapping[str, str]) -> Transition[None]:
    """Renew what a worker tells of itself."""
    (old,) = yield from tx.read(("HGETALL", record_key(tx.keys, worker)), last=True)
    gone = [name for name in old if name not in fields]
    tx.hset(record_key(tx.keys, worker), *(text for pair in fields.items() for text in pair))
    if gone:
        tx.hdel(record_key(tx.keys, worker), *gone)
    tx.zadd(register_key(tx.keys), tx.now, worker)


def withdraw(tx: Transaction, worker: str) -> Transition[None]:
    """Take back all that a worker has told, and strike it from the list of known ones; its jobs stay."""
    tx.delete(record_key(tx.keys, worker))
    tx.zrem(register_key(tx.keys), worker)
    tx.zrem(tx.keys.workers, worker)
    return
    yield


def word_of(tx: Transaction, worker: str) -> Transition[Presence | None]:
    """What a worker has told last; None if that is nothing, or was taken back."""
    seen, fields = yield from tx.snapshot(
        ("ZSCORE", register_key(tx.keys), worker), ("HGETALL", record_key(tx.keys, worker))
    )
    return None if seen is None or not fields else Presence(worker, seen, dict(fields))


def word_on(tx: Transaction, jid: str) -> Transition[Presence | None]:
    """What the worker has told last that has a job in hand; None if nobody has."""
    (held,) = yield from tx.snapshot(("HMGET", tx.keys.job(jid), "state", "worker"))
    state, worker = held
    return (yield from word_of(tx, worker)) if state == "running" and worker else None


def present(tx: Transaction) -> Transition[list[Presence]]:
    """All that workers tell, the last word first; a word may be of a slightly later moment than the list."""
    (names,) = yield from tx.snapshot(("ZREVRANGE", register_key(tx.keys), 0, -1, "WITHSCORES"))
    if not names:
        return []
    words = yield from tx.snapshot(*(("HGETALL", record_key(tx.keys, name)) for name, _ in names))
    return [
        Presence(name, seen, dict(fields))
        for (name, seen), fields in zip(names, words, strict=True)
        if fields
    ]
