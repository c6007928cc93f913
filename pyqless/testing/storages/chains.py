# SPDX-License-Identifier: MIT
"""Chains: transitions that say what is to follow them."""

from __future__ import annotations

import logging
from typing import Any, Final

from pyqless.core.effects import Continue, Factory, FollowedBy, Transition
from pyqless.core.transaction import Stale, Transaction
from pyqless.errors import JobNotFound
from pyqless.testing.storages.bench import Bench, Check
from pyqless.testing.storages.requirements import NotConformant, require

__all__ = ["CHECKS"]


def _link(bench: Bench, name: str, end: Any, *, fails: bool = False) -> Factory[Any]:
    """A transition that notes its name and moment, is stale once, and ends as told."""

    def transition(tx: Transaction) -> Transition[Any]:
        yield from tx.read(("LLEN", bench.key("log")), last=True)
        tx.rpush(bench.key("log"), f"{name} at {tx.now}")
        tx.publish(bench.key("told"), name)
        if not tx.attempt:
            raise Stale
        if fails:
            raise JobNotFound(f"{name} has failed")
        return end

    return transition


async def _require_log(bench: Bench, *expected: str) -> None:
    require("what was done", await bench.read(("LRANGE", bench.key("log"), 0, -1)), [[*expected]])


async def continued(bench: Bench) -> None:
    """Links are committed one after another, at the moment of the first; the last one has the value."""
    ticks = iter(range(1000, 2000))
    storage = await bench.open(clock=lambda: float(next(ticks)))
    ear = await bench.subscribe(bench.key("told"))
    second = _link(bench, "two", Continue(_link(bench, "three", "value")))
    require("the value", await storage.run(_link(bench, "one", Continue(second))), "value")
    await _require_log(bench, "one at 1001.0", "two at 1001.0", "three at 1001.0")
    require("the messages", [m.data for m in await ear.heard()], ["one", "two", "three"])
    require("the commits counted", storage.metrics.commits, 3)


async def failure_in_a_continuation(bench: Bench) -> None:
    """A link that fails fails the call; those before it stay."""
    rest = Continue(_link(bench, "two", None, fails=True))
    try:
        await bench.run(_link(bench, "one", rest), 5.0)
    except JobNotFound:
        await _require_log(bench, "one at 5.0")
    else:
        raise NotConformant("the failure of a continuation was swallowed")


async def followed(bench: Bench) -> None:
    """What follows is done at the same moment, and its value is of no interest."""
    rest = _link(
        bench, "two", Continue(_link(bench, "three", FollowedBy("no", _link(bench, "four", "no"))))
    )
    value = await bench.run(_link(bench, "one", FollowedBy("value", rest)), 5.0)
    require("the value", value, "value")
    await _require_log(bench, "one at 5.0", "two at 5.0", "three at 5.0", "four at 5.0")


async def followed_at_the_end(bench: Bench) -> None:
    """The last link of a chain may be followed, too."""
    end = FollowedBy("value", _link(bench, "three", "no"))
    value = await bench.run(_link(bench, "one", Continue(_link(bench, "two", end))), 5.0)
    require("the value", value, "value")
    await _require_log(bench, "one at 5.0", "two at 5.0", "three at 5.0")


async def failure_in_what_follows(bench: Bench) -> None:
    """A fault in what follows does not touch the value."""
    rest = _link(bench, "two", Continue(_link(bench, "three", None, fails=True)))
    logger = logging.getLogger("pyqless")
    disabled, logger.disabled = logger.disabled, True
    try:
        value = await bench.run(_link(bench, "one", FollowedBy("value", rest)), 5.0)
    finally:
        logger.disabled = disabled
    require("the value", value, "value")
    await _require_log(bench, "one at 5.0", "two at 5.0")


CHECKS: Final = (
    Check(continued),
    Check(failure_in_a_continuation),
    Check(followed),
    Check(followed_at_the_end),
    Check(failure_in_what_follows),
)
