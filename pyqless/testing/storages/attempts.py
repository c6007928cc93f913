# SPDX-License-Identifier: MIT
"""Attempts: each begins afresh, there is an end to them, and they are told of."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from pyqless.core.effects import Factory, Transition
from pyqless.core.transaction import Stale, Transaction
from pyqless.errors import ConflictError, JobNotFound, StoreCorrupted
from pyqless.testing.storages.bench import Bench, Check
from pyqless.testing.storages.requirements import raised, require

__all__ = ["CHECKS"]


async def moments(bench: Bench) -> None:
    """Each attempt begins afresh, at the moment given, or else at the clock's, read anew."""
    ticks = iter(range(1000, 2000))
    storage = await bench.open(clock=lambda: float(next(ticks)))
    for now, expected in (
        (None, [(1000.0, 0), (1001.0, 1), (1002.0, 2)]),
        (5.5, [(5.5, 0), (5.5, 1), (5.5, 2)]),
    ):
        begun: list[tuple[float, int]] = []
        value = await storage.run(_stale_twice(bench, begun), now)
        require("the moments and numbers of the attempts", begun, expected)
        require("the value", value, expected[-1][0])
    require("what stale attempts have staged", bench.other.dump(), {})


def _stale_twice(bench: Bench, begun: list[tuple[float, int]]) -> Factory[float]:
    def transition(tx: Transaction) -> Transition[float]:
        begun.append((tx.now, tx.attempt))
        yield from tx.read(("EXISTS", bench.key("key")))
        if tx.attempt < 2:
            tx.hset(bench.key("key"), "attempt", str(tx.attempt))
            raise Stale
        return tx.now

    return transition


async def giving_up(bench: Bench) -> None:
    """A transition that is stale for ever ends in a conflict, which names what was guarded."""
    storage = await bench.open(**bench.store.impatient)
    key, free = bench.key("key"), bench.key("free")
    attempts: list[int] = []

    def transition(tx: Transaction) -> Transition[None]:
        attempts.append(tx.attempt)
        yield from tx.read(("HGETALL", key), free=[("EXISTS", free)])
        tx.hset(key, "a", "never")
        raise Stale

    conflict = await raised(storage.run(transition))
    require("what was raised", type(conflict), ConflictError)
    require("its keys, and whether they changed", getattr(conflict, "value", None), {key: False})
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
    await raised(storage.run(failing))
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
        await raised(bench.run(_reporting(bench, stale=0, fails=True)))
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
    Check(moments),
    Check(giving_up),
    Check(metrics),
    Check(reports),
)
