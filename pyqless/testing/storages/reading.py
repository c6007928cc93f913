# SPDX-License-Identifier: MIT
"""Reads: the reply to each, in its one form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from pyqless.core.effects import Command, Replies, Transition
from pyqless.core.transaction import Transaction
from pyqless.errors import StoreCorrupted
from pyqless.testing.storages.bench import Bench, Check
from pyqless.testing.storages.requirements import plain, require
from pyqless.testing.storages.transitions import reading, stage
from pyqless.testing.storages.values import FILLED, MISSING, READS, TEXTS

__all__ = ["CHECKS"]

#: which keys of ``FILLED`` a read is for, by the first letter of its name
_FAMILIES: Final = {"H": {"hash"}, "L": {"list"}, "S": {"set"}, "Z": {"zset", "tied"}}

#: more than a storage may put into one statement or packet without thinking
MANY: Final = 3000


def _prefixed(bench: Bench, calls: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Calls and reads with the whole names of their keys."""
    return [(name, bench.key(key), *arguments) for name, key, *arguments in calls]


def _require_replies(
    reads: Iterable[Command], replies: Replies, expected: Iterable[Any], where: str = ""
) -> None:
    for read, reply, wanted in zip(reads, replies, expected, strict=True):
        require(f"the reply to {read!r}{where}", reply, wanted)


async def missing_keys(bench: Bench) -> None:
    """A missing key reads as an empty value of any type."""
    reads = _prefixed(bench, (read for read, _ in MISSING))
    _require_replies(reads, await bench.read(*reads), [reply for _, reply in MISSING])


async def replies(bench: Bench) -> None:
    """Every read gives what Redis gives, in the forms of the small command set."""
    await bench.stage(*_prefixed(bench, FILLED))
    reads = _prefixed(bench, (read for read, _ in READS))
    _require_replies(reads, await bench.read(*reads), [reply for _, reply in READS])


async def snapshot_replies(bench: Bench) -> None:
    """The replies of a snapshot are no others."""
    await bench.stage(*_prefixed(bench, FILLED))
    reads = _prefixed(bench, (read for read, _ in (*READS, *MISSING)))

    def transition(tx: Transaction) -> Transition[Replies]:
        return (yield from tx.snapshot(*reads))

    expected = [reply for _, reply in (*READS, *MISSING)]
    _require_replies(reads, await bench.run(transition), expected, " in a snapshot")


async def replies_from_the_overlay(bench: Bench) -> None:
    """A transition reads what it has staged as it would read what is stored."""
    calls = _prefixed(bench, FILLED)
    reads = _prefixed(bench, (read for read, _ in READS))

    def transition(tx: Transaction) -> Transition[Replies]:
        stage(tx, calls)
        replies: Replies = []
        for read in reads:
            replies += yield from tx.read(read)
        return [plain(reply) for reply in replies]

    expected = [reply for _, reply in READS]
    _require_replies(reads, await bench.run(transition), expected, " of what is staged")


async def wrong_types(bench: Bench) -> None:
    """A read of a key of another type gives a fault in the place of its reply, and spoils no other."""
    await bench.stage(*_prefixed(bench, FILLED))
    wrong = [
        (read[0], bench.key(key), *read[2:])
        for read, _ in MISSING
        for family, keys in _FAMILIES.items()
        for key in sorted(keys)
        if read[0][0] in _FAMILIES and read[0][0] != family
    ]
    good = ("HGET", bench.key("hash"), "a")
    replies = await bench.read(good, *wrong, good)
    require("the replies around faults", [replies[0], replies[-1]], ["7", "7"])
    for read, reply in zip(wrong, replies[1:-1], strict=True):
        require(f"the reply to {read!r}", type(reply), StoreCorrupted)
        require("the fault's argument, the key", reply.argument, read[1])
        require("the fault's value, the command", reply.value, read[0])


async def odd_texts(bench: Bench) -> None:
    """Any text comes back as it was: as a key, a field, a value, an element, a member."""
    for text in TEXTS:
        key = bench.key(f"odd {text}")
        for name, call, read, expected in (
            ("a hash", ("hset", key, text, text), ("HGETALL", key), {text: text}),
            ("a list", ("rpush", key, text), ("LRANGE", key, 0, 0), [text]),
            ("a set", ("sadd", key, text), ("SMEMBERS", key), {text}),
            ("a sorted set", ("zadd", key, 1.0, text), ("ZRANGE", key, 0, -1), [text]),
        ):
            await bench.stage(call)
            require(f"{text!r} in {name}", (await bench.read(read))[0], expected)
            require(f"{text!r} in the store", sorted(bench.other.dump()), [key])
            await bench.stage(("delete", key))


async def many_at_once(bench: Bench) -> None:
    """Neither many members, nor many arguments, nor many reads are too many."""
    zset, plain, fields = bench.key("zset"), bench.key("set"), bench.key("hash")
    names = [f"{number:05}" for number in range(MANY)]
    await bench.stage(
        *(("zadd", zset, float(number // 2), name) for number, name in enumerate(names)),
        ("sadd", plain, *names),
        ("hset", fields, *(text for name in names for text in (name, name))),
    )
    ranked, scored, present, values, *each = await bench.read(
        ("ZRANGE", zset, 0, -1),
        ("ZRANGEBYSCORE", zset, 700, 1200, "LIMIT", 500, 2),
        ("SMEMBERS", plain),
        ("HMGET", fields, *names),
        *(("ZSCORE", zset, name) for name in names[::10]),
    )
    require("a range of many members", ranked, names)
    require("a page of many members", scored, names[1900:1902])
    require("the members of a large set", present, set(names))
    require("many fields of a hash", values, names)
    require("many replies", each, [float(number // 2) for number in range(0, MANY, 10)])
    await bench.stage(("zrem", zset, *names[1:]), ("srem", plain, *names[1:]))
    left = await bench.read(("ZRANGE", zset, 0, -1), ("SMEMBERS", plain))
    require("what many removals leave", left, [names[:1], set(names[:1])])


async def replies_are_copies(bench: Bench) -> None:
    """Whoever changes what he was given changes nothing in the store."""
    await bench.stage(*_prefixed(bench, FILLED))
    before = bench.other.dump()
    reads = _prefixed(bench, (("HGETALL", "hash"), ("LRANGE", "list", 0, -1), ("SMEMBERS", "set")))

    def transition(tx: Transaction) -> Transition[Replies]:
        images = yield from tx.read(*reads)
        tx.hset(bench.key("hash"), "a", "7")
        tx.ltrim(bench.key("list"), 0, -1)
        tx.sadd(bench.key("set"), "a")
        return images

    for given in (reading(*reads), transition):
        for reply in await bench.run(given):
            reply.clear()
        require("the store behind the replies", bench.other.dump(), before)


CHECKS: Final = (
    Check(missing_keys),
    Check(replies),
    Check(snapshot_replies),
    Check(replies_from_the_overlay),
    Check(wrong_types),
    Check(odd_texts),
    Check(many_at_once),
    Check(replies_are_copies),
)
