# SPDX-License-Identifier: MIT
"""
A chain of transactions ends where one large transaction would: the same replies, errors, messages and keyspace.

One core deals with one job a transaction at most, the other with all at once, as the Lua core does.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest

from pyqless.conformance import Call, Outcome, Target, observe, read_traces, replay_trace
from pyqless.testing.simulator import simulate
from tests.links import bounded_by
from tests.property.machines import RulesMachine, explore

#: what the Lua core did, in one transaction each
TRACES: Final = Path(__file__).parent.parent / "conformance" / "data" / "qless-core.jsonl.gz"

#: how many simulated runs; each takes some ten milliseconds
RUNS: Final = 100

pytestmark = pytest.mark.timeout(3600)  # to make a failure small takes minutes


class Bounded(Target):
    """A core all of whose work comes in chains."""

    def __init__(self, url: str, jobs: int) -> None:
        super().__init__(url)
        self._jobs = jobs

    def call(self, *words: str) -> Any:
        with bounded_by(self._jobs):
            return super().call(*words)


Messages: TypeAlias = list[tuple[str, str]]
Part: TypeAlias = Callable[[Messages], Messages]


def everything(messages: Messages) -> Messages:
    return messages


def popped(messages: Messages) -> Messages:
    return [message for message in messages if message[0] == "ql:popped"]


def others(messages: Messages) -> Messages:
    return [message for message in messages if message[0] != "ql:popped"]


#: what comes in the same order, by the call: a job is handed out before the next lock is looked at,
#: and cancelled before those that it waits for
PARTS: Final[dict[str, tuple[Part, ...]]] = {"pop": (popped, others), "cancel": (sorted,)}


class ChainsMachine(RulesMachine):
    """Any calls; docs/deviations.md says in which order chains tell of what they do."""

    def send(self, call: Call) -> Outcome | None:
        outcome, chained = [observe(core, call) for core in self.cores]
        assert chained.error == outcome.error
        assert chained.reply == outcome.reply
        assert chained.state == outcome.state
        for part in PARTS.get(call[0] if call else "", (everything,)):
            assert part(chained.messages) == part(outcome.messages)
        return outcome


@pytest.mark.parametrize("jobs", [1, 2])
def test_chains_end_where_one_transaction_would(jobs: int) -> None:
    with Target("memory://") as whole, Bounded("memory://", jobs) as chained:
        explore(lambda: ChainsMachine(whole, chained), share=1.5)


@pytest.mark.parametrize("jobs", [1, 2])
def test_chains_do_what_the_lua_core_did(jobs: int) -> None:
    for trace in read_traces(TRACES):
        with bounded_by(jobs), Target("memory://") as chained:
            difference = replay_trace(chained, trace)
        assert difference is None, str(difference)


@pytest.mark.parametrize("jobs", [1, 2])
def test_chains_stand_whatever_goes_wrong(jobs: int) -> None:
    """Among clients that are killed, networks that lose, and others who come between two links."""
    with bounded_by(jobs):
        for seed in range(RUNS):
            run = simulate(seed)
            if run.faults:
                pytest.fail(str(run), pytrace=False)
