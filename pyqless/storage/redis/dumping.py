# SPDX-License-Identifier: MIT
"""All that lies in a database, as plain values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pyqless.core.effects import Transition
from pyqless.core.transaction import Transaction
from pyqless.errors import StoreCorrupted

__all__ = ["dump", "flush"]

#: the read of a whole key, and what makes plain data of its reply, by type
_READS: Final[dict[str, tuple[tuple[Any, ...], Callable[[Any], Any]]]] = {
    "hash": (("HGETALL",), dict),
    "list": (("LRANGE", 0, -1), list),
    "set": (("SMEMBERS",), sorted),
    "string": (("GET",), str),
    "zset": (
        ("ZRANGE", 0, -1, "WITHSCORES"),
        lambda pairs: [[member, repr(score)] for member, score in pairs],
    ),
}


def dump(tx: Transaction) -> Transition[dict[str, dict[str, Any]]]:
    """
    Read every key but pyqless's own; nothing should change meanwhile.

    Returns:
        dict: by key its ``type`` and ``value``, in the form of the recorded traces.

    Raises:
        StoreCorrupted: a key is of a type that no storage here has.
    """
    (found,) = yield from tx.snapshot(("KEYS", "*"))
    keys = sorted(key for key in found if not key.startswith(tx.keys.own))
    if not keys:
        return {}
    kinds = yield from tx.snapshot(*(("TYPE", key) for key in keys))
    for key, kind in zip(keys, kinds, strict=True):
        if kind not in _READS:
            raise StoreCorrupted(f"{key} is a {kind}", argument=key, value=kind)
    wanted = [(key, kind, *_READS[kind]) for key, kind in zip(keys, kinds, strict=True)]
    values = yield from tx.snapshot(*((name, key, *rest) for key, _, (name, *rest), _ in wanted))
    return {
        key: {"type": kind, "value": plain(value)}
        for (key, kind, _, plain), value in zip(wanted, values, strict=True)
    }


def flush(tx: Transaction) -> Transition[None]:
    """Delete everything; the transaction has no fence to write, so that nothing at all is left."""
    yield from tx.snapshot(("FLUSHDB",))
