# SPDX-License-Identifier: MIT
"""Commits: all or nothing, at a moment, and told of."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

from pyqless.core.effects import Batch, Factory, Replies, Transition
from pyqless.core.transaction import Stale, Transaction
from pyqless.errors import ConflictError, JobNotFound, StoreCorrupted
from pyqless.testing.storages.bench import Bench, Check, NotConformant, require

__all__ = ["CHECKS"]


async def failed_transitions(bench: Bench) -> None:
    """A transition that raises has changed nothing and published nothing, whenever it raises."""
    key, ear = bench.key("key"), await bench.subscribe(bench.key("told"))
    await bench.stage(("hset", key, "a", "1"))
    before = bench.other.dump()
    for error in (JobNotFound("there is no such job"), ZeroDivisionError("a fault of the caller")):
        for batches in range(3):
            for last in (False, True):
                caught = await _failure(bench, _failing(bench, error, batches, last=last))
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


async def _failure(bench: Bench, transition: Factory[Any]) -> Exception:
    try:
        await bench.run(transition)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is asked for
        return error
    raise NotConformant("what a transition raised was swallowed")


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


# -- moments and attempts ---------------------------------------------------------------------


async def moments(bench: Bench) -> None:
    """Each attempt begins afresh, at the moment given, or else at the clock's, read anew."""
    ticks = iter(range(1000, 2000))
    storage = await bench.open(clock=lambda: float(next(ticks)))
    for now, expected in ((None, [1000.0, 1001.0, 1002.0]), (5.5, [5.5, 5.5, 5.5])):
        begun: list[tuple[float, int]] = []

        def transition(
            tx: Transaction, begun: list[tuple[float, int]] = begun
        ) -> Transition[float]:
            begun.append((tx.now, tx.attempt))
            yield from tx.read(("EXISTS", bench.key("key")))
            if tx.attempt < 2:
                tx.hset(bench.key("key"), "attempt", str(tx.attempt))
                raise Stale
            return tx.now

        value = await storage.run(transition, now)
        require(
            "the moments and numbers of the attempts",
            begun,
            list(zip(expected, (0, 1, 2), strict=True)),
        )
        require("the moment of the last one", value, expected[-1])
    require("what stale attempts have staged", bench.other.dump(), {})


async def giving_up(bench: Bench) -> None:
    """An attempt that is stale for ever ends in a conflict, which names what was guarded."""
    storage = await bench.open(**bench.store.impatient)
    key, free = bench.key("key"), bench.key("free")
    attempts: list[int] = []

    def transition(tx: Transaction) -> Transition[None]:
        attempts.append(tx.attempt)
        yield from tx.read(("HGETALL", key), free=[("EXISTS", free)])
        tx.hset(key, "a", "never")
        raise Stale

    try:
        await storage.run(transition)
    except ConflictError as conflict:
        require("the guarded keys, and whether they changed", conflict.value, {key: False})
    else:
        raise NotConformant("a transition that is always stale has ended well")
    require("the attempts", attempts, list(range(len(attempts))))
    require("more than one attempt", len(attempts) > 1, expected=True)
    require("the attempts counted", storage.metrics.attempts, len(attempts))
    require("the conflicts counted", storage.metrics.conflicts, len(attempts))
    require("the store", bench.other.dump(), {})


# -- counters and reports ---------------------------------------------------------------------


async def metrics(bench: Bench) -> None:
    """Attempts, commits and conflicts are counted; a call that fails is no commit."""
    storage = await bench.open()

    def stale_at_first(tx: Transaction) -> Transition[None]:
        yield from tx.read(("EXISTS", bench.key("key")))
        if not tx.attempt:
            raise Stale

    def failing(tx: Transaction) -> Transition[None]:
        yield from tx.read(("EXISTS", bench.key("key")))
        raise JobNotFound("there is no such job")

    await storage.run(stale_at_first)
    try:
        await storage.run(failing)
    except JobNotFound:
        counts = storage.metrics
        require("attempts", counts.attempts, 3)
        require("commits", counts.commits, 1)
        require("conflicts", counts.conflicts, 1)
        require("damaged", counts.damaged, 0)


async def reports(bench: Bench) -> None:
    """Faults that a transition passed over are logged and counted once, when it is committed."""
    records: list[logging.LogRecord] = []
    handler = _Collecting(records.append)
    logger = logging.getLogger("pyqless")
    logger.addHandler(handler)
    propagates, logger.propagate = logger.propagate, False
    try:
        await bench.run(_reporting(bench, stale=1, fails=False))
        await _failure(bench, _reporting(bench, stale=0, fails=True))
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagates
    require("the level of the records", [r.levelname for r in records], ["WARNING"])
    require("the fault in it", "the entry is damaged" in records[0].getMessage(), expected=True)
    require("damaged", bench.storage.metrics.damaged, 1)


class _Collecting(logging.Handler):
    def __init__(self, collect: Callable[[logging.LogRecord], None]) -> None:
        super().__init__()
        self._collect = collect

    def emit(self, record: logging.LogRecord) -> None:
        self._collect(record)


def _reporting(bench: Bench, *, stale: int, fails: bool) -> Factory[None]:
    def transition(tx: Transaction) -> Transition[None]:
        yield from tx.read(("EXISTS", bench.key("key")))
        tx.reports.append(StoreCorrupted("the entry is damaged", argument=bench.key("key")))
        if tx.attempt < stale:
            raise Stale
        if fails:
            raise JobNotFound("there is no such job")

    return transition


CHECKS: Final = (
    Check(failed_transitions),
    Check(values),
    Check(hint_that_was_wrong),
    Check(snapshots_at_one_instant),
    Check(moments),
    Check(giving_up),
    Check(metrics),
    Check(reports),
)
