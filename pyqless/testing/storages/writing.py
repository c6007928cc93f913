# SPDX-License-Identifier: MIT
"""Writes: the effect of each."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

from pyqless.core.effects import Command, Factory, Replies, Transition
from pyqless.core.transaction import Transaction
from pyqless.errors import StoreCorrupted
from pyqless.testing.storages.bench import Bench, Check
from pyqless.testing.storages.requirements import NotConformant, plain, require
from pyqless.testing.storages.transitions import stage, staging

__all__ = ["CHECKS"]

_FIELDS: Final = (("hset", "key", "a", "1", "b", "2"),)
_ITEMS: Final = tuple(("rpush", "key", item) for item in "abcbd")
_MEMBERS: Final = (("sadd", "key", "a", "b"),)
_SCORES: Final = (
    ("zadd", "key", 1.0, "a"),
    ("zadd", "key", 2.0, "b"),
    ("zadd", "key", 3.0, "c"),
)

#: the read that shows a key whole, by the type of what it shows
_WHOLE: Final[dict[type, tuple[Any, ...]]] = {
    dict: ("HGETALL",),
    list: ("LRANGE", 0, -1),
    set: ("SMEMBERS",),
    tuple: ("ZRANGE", 0, -1, "WITHSCORES"),
}


class _Effect(NamedTuple):
    before: tuple[tuple[Any, ...], ...]
    call: tuple[Any, ...]
    #: what the key holds then: a dict, list or set; a tuple of pairs for a sorted set
    after: Any


_EFFECTS: Final = (
    _Effect((), ("hset", "a", "1", "a", "2"), {"a": "2"}),
    _Effect(_FIELDS, ("hset", "b", "", "c", "3"), {"a": "1", "b": "", "c": "3"}),
    _Effect(_FIELDS, ("hdel", "a", "z"), {"b": "2"}),
    _Effect(_FIELDS, ("hdel", "a", "b"), {}),
    _Effect((), ("hdel", "a"), {}),
    _Effect((), ("hincrby", "n", -3), {"n": "-3"}),
    _Effect(_FIELDS, ("hincrby", "b", 2**53), {"a": "1", "b": str(2**53 + 2)}),
    _Effect((), ("rpush", "a"), ["a"]),
    _Effect((), ("lpush", "a"), ["a"]),
    _Effect(_ITEMS, ("rpush", "a"), ["a", "b", "c", "b", "d", "a"]),
    _Effect(_ITEMS, ("lpush", "a"), ["a", "a", "b", "c", "b", "d"]),
    _Effect(_ITEMS, ("lpop",), ["b", "c", "b", "d"]),
    _Effect((), ("lpop",), []),
    _Effect(_ITEMS, ("lrem", "b"), ["a", "c", "d"]),
    _Effect(_ITEMS, ("lrem", "z"), ["a", "b", "c", "b", "d"]),
    _Effect(_ITEMS, ("ltrim", 0, 1), ["a", "b"]),
    _Effect(_ITEMS, ("ltrim", -2, 99), ["b", "d"]),
    _Effect(_ITEMS, ("ltrim", 3, 2), []),
    _Effect((), ("ltrim", 0, 1), []),
    _Effect(_MEMBERS, ("sadd", "b", "c"), {"a", "b", "c"}),
    _Effect(_MEMBERS, ("srem", "b", "c"), {"a"}),
    _Effect(_MEMBERS, ("srem", "a", "b"), set()),
    _Effect((), ("srem", "a"), set()),
    _Effect(_SCORES, ("zadd", 2.5, "a"), (("b", 2.0), ("a", 2.5), ("c", 3.0))),
    _Effect(_SCORES, ("zadd_new", 2.5, "a"), (("a", 1.0), ("b", 2.0), ("c", 3.0))),
    _Effect((), ("zadd_new", 2.5, "a"), (("a", 2.5),)),
    _Effect(_SCORES, ("zadd_existing", 2.5, "a"), (("b", 2.0), ("a", 2.5), ("c", 3.0))),
    _Effect(_SCORES, ("zadd_existing", 0.5, "z"), (("a", 1.0), ("b", 2.0), ("c", 3.0))),
    _Effect((), ("zadd_existing", 0.5, "z"), ()),
    _Effect(_SCORES, ("zincrby", 0.1, "b"), (("a", 1.0), ("b", 2.0 + 0.1), ("c", 3.0))),
    _Effect((), ("zincrby", -1.0, "z"), (("z", -1.0),)),
    _Effect(_SCORES, ("zrem", "a", "z", "c"), (("b", 2.0),)),
    _Effect(_SCORES, ("zrem", "a", "b", "c"), ()),
    _Effect((), ("zrem", "a"), ()),
    _Effect(_SCORES, ("zremrangebyscore", 2.0, math.inf), (("a", 1.0),)),
    _Effect(_SCORES, ("zremrangebyscore", -math.inf, math.inf), ()),
    _Effect((), ("zremrangebyscore", 0.0, 9.0), ()),
    _Effect(_ITEMS, ("delete",), []),
    _Effect((), ("delete",), {}),
)


def _keyed(key: str, calls: tuple[tuple[Any, ...], ...]) -> list[tuple[Any, ...]]:
    return [(name, key, *arguments) for name, _, *arguments in calls]


def _whole_read(key: str, value: Any) -> Command:
    name, *arguments = _WHOLE[type(value)]
    return (name, key, *arguments)


def _wanted(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


async def effects(bench: Bench) -> None:
    """Every write does what it does in Redis; a key that becomes empty goes away."""
    for number, (before, (name, *arguments), after) in enumerate(_EFFECTS):
        key = bench.key(f"{number}")
        await bench.stage(*_keyed(key, before))
        await bench.stage((name, key, *arguments))
        value, exists = await bench.read(_whole_read(key, after), ("EXISTS", key))
        require(f"{name} {arguments} after {before}", value, _wanted(after))
        require(f"EXISTS after {name} {arguments}", exists, int(bool(after)))


async def effects_in_the_overlay(bench: Bench) -> None:
    """A transition sees each of its writes at once, whether it has read the key before or not."""
    for number, (before, (name, *arguments), after) in enumerate(_EFFECTS):
        for has_read in (False, True):
            key = bench.key(f"{number} {has_read}")
            read = _whole_read(key, after)
            await bench.stage(*_keyed(key, before))
            seen = await bench.run(_write_and_read((name, key, *arguments), read, first=has_read))
            require(f"{name} {arguments} after {before}, staged", seen, _wanted(after))
            (stored,) = await bench.read(read)
            require(f"{name} {arguments} after {before}, stored", stored, _wanted(after))


def _write_and_read(call: tuple[Any, ...], read: Command, *, first: bool) -> Factory[Any]:
    def transition(tx: Transaction) -> Transition[Any]:
        if first:
            yield from tx.read(read)
        stage(tx, [call])
        (value,) = yield from tx.read(read)
        return plain(value)

    return transition


async def order(bench: Bench) -> None:
    """Writes take effect in the order in which they were staged, and an emptied key may change its type."""
    key, log = bench.key("key"), bench.key("log")
    await bench.stage(
        ("hset", key, "a", "1"),
        ("hdel", key, "a"),
        ("rpush", key, "x"),
        ("lpop", key),
        ("zadd", key, 1.0, "x"),
        ("delete", key),
        ("sadd", key, "a"),
        *(("rpush", log, str(number)) for number in range(500)),
    )
    replies = await bench.read(("SMEMBERS", key), ("LRANGE", log, 0, -1))
    require("a key of many types", replies[0], {"a"})
    require("a log", replies[1], [str(number) for number in range(500)])


async def writes_that_do_not_fit(bench: Bench) -> None:
    """A write to a key of another type is a fault that names both, and leaves the key alone."""
    key = bench.key("key")
    for before, call, command in (
        (_ITEMS, ("hset", "a", "1"), "HSET"),
        (_FIELDS, ("zadd", 1.0, "a"), "ZADD"),
        (_FIELDS, ("rpush", "a"), "RPUSH"),
        (_SCORES, ("sadd", "a"), "SADD"),
        ((("hset", "key", "n", "1.5"),), ("hincrby", "n", 1), "HINCRBY"),
        ((("hset", "key", "n", str(2**63 - 1)),), ("hincrby", "n", 1), "HINCRBY"),
    ):
        await bench.stage(("delete", key), *_keyed(key, before))
        stored = bench.other.dump()
        try:
            await bench.stage((call[0], key, *call[1:]))
        except StoreCorrupted as fault:
            require("the fault's argument, the key", fault.argument, key)
            require("the fault's value, the command", fault.value, command)
        else:
            raise NotConformant(f"no fault of {call} after {before}")
        require(f"the store after {call}", bench.other.dump(), stored)


async def reads_without_writes(bench: Bench) -> None:
    """A transition that stages nothing changes nothing; it may also do nothing at all."""
    await bench.stage(*_keyed(bench.key("key"), _FIELDS))
    before = bench.other.dump()

    def transition(tx: Transaction) -> Transition[Replies]:
        first = yield from tx.read(("HGET", bench.key("key"), "a"))
        second = yield from tx.read(("HGET", bench.key("key"), "b"), last=True)
        return [*first, *second]

    require("the replies to two batches", await bench.run(transition), ["1", "2"])
    require("the value of a transition without effects", await bench.run(staging()), None)
    require("the store", bench.other.dump(), before)


CHECKS: Final = (
    Check(effects),
    Check(effects_in_the_overlay),
    Check(order),
    Check(writes_that_do_not_fit),
    Check(reads_without_writes),
)
