# SPDX-License-Identifier: MIT
"""
Conflicts: what a guarded read saw still holds at the commit.

The interference comes from inside a transition, through another storage. A storage that lets only one
transition run at a time may refuse it, with an error; what it lets through must not be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Final

from pyqless.core.effects import Command, Factory, Transition
from pyqless.core.transaction import Transaction
from pyqless.errors import ConflictError, StorageError
from pyqless.storage import AsyncStorage, Storage
from pyqless.testing.storages.bench import Bench, Check
from pyqless.testing.storages.requirements import plain, require
from pyqless.testing.storages.transitions import staging

__all__ = ["CHECKS"]


class _Intruder:
    """Writes through another storage in the middle of a transition."""

    def __init__(self, bench: Bench) -> None:
        self._storage: Storage = bench.another(**bench.store.impatient)
        #: how many writes the store has let through
        self.writes = 0

    def write(self, *calls: tuple[Any, ...]) -> None:
        try:
            self._storage.run(staging(*calls))
        except StorageError:
            return
        self.writes += 1


#: a change to the key, what makes the key beforehand, and the guarded read
_CHANGES: Final[tuple[tuple[tuple[Any, ...], tuple[tuple[Any, ...], ...], Command], ...]] = (
    (("hset", "a", "2"), (("hset", "a", "1"),), ("HGET", "a")),
    (("hset", "b", "2"), (("hset", "a", "1"),), ("HGETALL",)),
    (("hset", "a", "1"), (), ("HGETALL",)),
    (("hset", "a", "1"), (), ("EXISTS",)),
    (("delete",), (("hset", "a", "1"),), ("EXISTS",)),
    (("rpush", "b"), (("rpush", "a"),), ("LRANGE", 0, -1)),
    (("lpush", "a"), (("rpush", "a"),), ("LINDEX", 0)),
    (("sadd", "b"), (("sadd", "a"),), ("SMEMBERS",)),
    (("srem", "a"), (("sadd", "a"),), ("SISMEMBER", "a")),
    (("zadd", 2.0, "a"), (("zadd", 1.0, "a"),), ("ZSCORE", "a")),
    (("zadd", 0.5, "b"), (("zadd", 1.0, "a"),), ("ZRANGE", 0, 0)),
    (("zrem", "a"), (("zadd", 1.0, "a"),), ("ZRANGEBYSCORE", "-inf", "+inf")),
    (("zadd", 1.0, "a"), (), ("ZCARD",)),
)


async def changes_of_every_kind(bench: Bench) -> None:
    """Whatever changes in a guarded key between the read and the commit, the attempt is void."""
    for number, (change, before, read) in enumerate(_CHANGES):
        key, seen = bench.key(f"{number}"), bench.key(f"{number} seen")
        await bench.stage(*((name, key, *arguments) for name, *arguments in before))
        intruder = _Intruder(bench)

        def transition(
            tx: Transaction,
            read: Command = (read[0], key, *read[1:]),
            change: tuple[Any, ...] = (change[0], key, *change[1:]),
            seen: str = seen,
            intruder: _Intruder = intruder,
        ) -> Transition[Any]:
            (reply,) = yield from tx.read(read, last=True)
            tx.rpush(seen, str(tx.attempt))
            if not tx.attempt:
                intruder.write(change)
            return reply

        reply = await bench.run(transition)
        now, attempts = await bench.read((read[0], key, *read[1:]), ("LRANGE", seen, 0, -1))
        require("the attempt that was committed", attempts, [str(intruder.writes)])
        if intruder.writes:
            require(f"what {read} saw after {change}", plain(reply), now)


async def nothing_of_a_void_attempt(bench: Bench) -> None:
    """Of an attempt that met a conflict nothing is stored and nothing published."""
    ear, intruder = await bench.subscribe(bench.key("told")), _Intruder(bench)
    key = bench.key("key")

    def transition(tx: Transaction) -> Transition[int]:
        yield from tx.read(("HGETALL", key))
        if not tx.attempt:
            intruder.write(("hset", key, "intruder", "1"))
        tx.hset(key, f"attempt {tx.attempt}", "1")
        tx.sadd(bench.key("attempts"), str(tx.attempt))
        tx.publish(bench.key("told"), str(tx.attempt))
        return tx.attempt

    committed = await bench.run(transition)
    require("the attempt that was committed", committed, intruder.writes)
    fields, attempts = await bench.read(("HGETALL", key), ("SMEMBERS", bench.key("attempts")))
    wanted = {f"attempt {committed}": "1"} | ({"intruder": "1"} if intruder.writes else {})
    require("the fields", fields, wanted)
    require("the attempts stored", attempts, {str(committed)})
    require("the attempts published", [m.data for m in await ear.heard()], [str(committed)])


async def conflicts_at_any_batch(bench: Bench) -> None:
    """What an early batch has guarded holds to the end, also behind a batch announced as the last."""
    for batches in (1, 2, 3):
        for intrusion in range(batches):
            for last in (False, True):
                await _count_up(bench, batches, intrusion, last=last)


async def _count_up(bench: Bench, batches: int, intrusion: int, *, last: bool) -> None:
    key, intruder = bench.key(f"{batches} {intrusion} {last}"), _Intruder(bench)

    def transition(tx: Transaction) -> Transition[None]:
        (text,) = yield from tx.read(("HGET", key, "n"), last=last)
        for number in range(batches):
            if number == intrusion and not tx.attempt:
                intruder.write(("hincrby", key, "n", 1))
            if number:
                yield from tx.read(("EXISTS", bench.key(f"other {number}")), last=last)
        tx.hset(key, "n", str(int(text or 0) + 1))

    await bench.run(transition)
    counted = await bench.read(("HGET", key, "n"))
    what = f"a counter, changed by another in batch {intrusion + 1} of {batches} (last={last})"
    require(what, counted, [str(1 + intruder.writes)])


async def reads_that_agree(bench: Bench) -> None:
    """A transition without writes of several batches has seen what held at one instant."""
    one, two, intruder = bench.key("one"), bench.key("two"), _Intruder(bench)
    await bench.stage(("sadd", one, "member"))

    def transition(tx: Transaction) -> Transition[int]:
        (before,) = yield from tx.read(("SCARD", one))
        if not tx.attempt:
            intruder.write(("srem", one, "member"), ("sadd", two, "member"))
        (after,) = yield from tx.read(("SCARD", two))
        return int(before + after)

    require("members in both sets together", await bench.run(transition), 1)


async def endless_conflicts(bench: Bench) -> None:
    """Where others never cease, the call fails with the guarded keys, those marked that changed."""
    storage, intruder = await bench.open(**bench.store.impatient), _Intruder(bench)
    hot, quiet = bench.key("hot"), bench.key("quiet")
    attempts: list[int] = []

    def transition(tx: Transaction) -> Transition[None]:
        attempts.append(tx.attempt)
        yield from tx.read(("HGET", hot, "n"), ("EXISTS", quiet), last=True)
        intruder.write(("hincrby", hot, "n", 1))
        tx.hset(hot, "mine", "1")

    try:
        await storage.run(transition)
    except ConflictError as conflict:
        require(
            "the guarded keys, and whether they changed", conflict.value, {hot: True, quiet: False}
        )
        require("the conflicts counted", storage.metrics.conflicts, len(attempts))
        expected = {"n": str(intruder.writes)}
    else:
        expected = {"mine": "1"} | ({"n": str(intruder.writes)} if intruder.writes else {})
        require(
            "the attempts of a call that ended well", len(attempts) > intruder.writes, expected=True
        )
    require("the key", await bench.read(("HGETALL", hot)), [expected])


async def many_at_the_same_key(bench: Bench) -> None:
    """Several callers that count up the same field at once lose no count, and give none out twice."""
    callers, calls = 4, 8
    for storages in ([bench.storage] * callers, [await bench.open() for _ in range(callers)]):
        await bench.stage(("delete", bench.key("counter")))
        given = await bench.at_once(*(_counting(bench, storage, calls) for storage in storages))
        flat = sorted(number for numbers in given for number in numbers)
        require("the numbers given out", flat, list(range(1, callers * calls + 1)))


def _counting(
    bench: Bench, storage: AsyncStorage, calls: int
) -> Callable[[], Coroutine[Any, Any, list[int]]]:
    async def count() -> list[int]:
        return [await storage.run(_next(bench)) for _ in range(calls)]

    return count


def _next(bench: Bench) -> Factory[int]:
    key = bench.key("counter")

    def transition(tx: Transaction) -> Transition[int]:
        (text,) = yield from tx.read(("HGET", key, "n"), last=True)
        number = int(text or 0) + 1
        tx.hset(key, "n", str(number))
        return number

    return transition


CHECKS: Final = (
    Check(changes_of_every_kind),
    Check(nothing_of_a_void_attempt),
    Check(conflicts_at_any_batch),
    Check(reads_that_agree),
    Check(endless_conflicts),
    Check(many_at_the_same_key),
)
