# SPDX-License-Identifier: MIT
"""Commits: all or nothing, at a moment, and told of."""

from __future__ import annotations

from typing import Final

from pyqless.core.effects import Batch, Factory, Replies, Transition
from pyqless.core.transaction import Transaction
from pyqless.errors import JobNotFound
from pyqless.testing.storages.bench import Bench, Check
from pyqless.testing.storages.requirements import raised, require

__all__ = ["CHECKS"]


async def failed_transitions(bench: Bench) -> None:
    """A transition that raises has changed nothing and published nothing, whenever it raises."""
    key, ear = bench.key("key"), await bench.subscribe(bench.key("told"))
    await bench.stage(("hset", key, "a", "1"))
    before = bench.other.dump()
    for error in (JobNotFound("there is no such job"), ZeroDivisionError("a fault of the caller")):
        for batches in range(3):
            for last in (False, True):
                caught = await raised(bench.run(_failing(bench, error, batches, last=last)))
                require(f"what was raised after {batches} batches", caught, error)
                require(f"the store after {error!r}", bench.other.dump(), before)
    await bench.stage(("hset", key, "a", "2"))
    require("the key after a later write", await bench.read(("HGET", key, "a")), ["2"])
    require("the messages", await ear.heard(), [])


def _failing(bench: Bench, error: Exception, batches: int, *, last: bool) -> Factory[None]:
    def transition(tx: Transaction) -> Transition[None]:
        tx.hset(bench.key("new"), "a", "1")
        tx.publish(bench.key("told"), "never")
        for _ in range(batches):
            yield from tx.read(("HGETALL", bench.key("key")), last=last)
            tx.hset(bench.key("key"), "a", "never")
        raise error

    return transition


async def values(bench: Bench) -> None:
    """What a transition returns is what the call returns."""
    value = object()

    def transition(tx: Transaction) -> Transition[object]:
        yield from tx.read(("EXISTS", bench.key("key")))
        return value

    require("the value", await bench.run(transition) is value, expected=True)


async def hint_that_was_wrong(bench: Bench) -> None:
    """A batch may follow one that was announced as the last, and all the others."""
    key = bench.key("key")
    await bench.stage(("hset", key, "a", "1", "b", "2"), ("rpush", bench.key("list"), "x"))

    def transition(tx: Transaction) -> Transition[Replies]:
        replies = yield from tx.read(("HGET", key, "a"), last=True)
        replies += yield from tx.read(("LLEN", bench.key("list")), last=True)
        tx.hset(key, "c", "3")
        replies += yield from tx.read(("HLEN", key), free=[("EXISTS", key)])
        replies += yield from tx.read(("HGET", key, "c"), last=True)
        return replies

    require("the replies", await bench.run(transition), ["1", 1, 3, 1, "3"])
    require("the write", await bench.read(("HMGET", key, "a", "c")), [["1", "3"]])


async def snapshots_at_one_instant(bench: Bench) -> None:
    """While others move a member from set to set, a snapshot shows it in exactly one of them."""
    places = [bench.key(f"place{number}") for number in range(3)]
    await bench.stage(("sadd", places[0], "member"))
    mover = await bench.open()

    async def move() -> list[int]:
        for number in range(60):
            await mover.run(_moving(places[number % 3], places[(number + 1) % 3]))
        return [1]

    async def look() -> list[int]:
        return [sum(await bench.run(_looking(places))) for _ in range(60)]

    seen = await bench.at_once(move, look, look)
    require("members in all sets together", {count for counts in seen for count in counts}, {1})


def _moving(source: str, target: str) -> Factory[None]:
    def transition(tx: Transaction) -> Transition[None]:
        tx.srem(source, "member")
        tx.sadd(target, "member")
        return
        yield

    return transition


def _looking(places: list[str]) -> Factory[Replies]:
    def transition(_: Transaction) -> Transition[Replies]:
        return (yield Batch([("SCARD", place) for place in places], snapshot=True))

    return transition


CHECKS: Final = (
    Check(failed_transitions),
    Check(values),
    Check(hint_that_was_wrong),
    Check(snapshots_at_one_instant),
)
