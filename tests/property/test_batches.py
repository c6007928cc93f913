# SPDX-License-Identifier: MIT
"""
Many calls in one transaction do what the same calls do one after another at one moment.

The same values and errors, messages in the same order, the same keyspace.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from pyqless.conformance import Call, Outcome, Target
from pyqless.core import batches
from pyqless.core.arguments import Arguments, jid_list, options
from pyqless.core.chaining import in_turn
from pyqless.core.commands import call as read_call
from pyqless.core.commands.putting import job_spec
from pyqless.core.completing import Next, advance, complete
from pyqless.core.effects import Factory, FollowedBy, Transition
from pyqless.core.models import Job
from pyqless.core.popping import pop
from pyqless.core.putting import put_new
from pyqless.core.replies import job
from pyqless.core.transaction import Transaction
from pyqless.core.working import complete_and_pop
from pyqless.errors import QlessError, StoreCorrupted
from tests.property import strategies
from tests.property.machines import RulesMachine, explore
from tests.property.store import Store
from tests.property.strategies import Damage, Turn
from tests.servers import Server

pytestmark = pytest.mark.timeout(3600)  # to make a failure small takes minutes

#: what is put together
BATCHED: Final = (
    *("put", "complete", "heartbeat", "fail", "retry", "cancel"),
    *("requeue", "priority", "depends", "timeout"),
)


class TwoSidesMachine(RulesMachine):
    """Any calls on both sides, and in between some that one side carries out together."""

    def __init__(self, single: Target, joint: Target) -> None:
        super().__init__(single, joint)
        self.single, self.joint = single, joint

    def check(self, call: Call, outcome: Outcome) -> None:
        """What else holds of the rules is looked at elsewhere."""

    def check_sameness(self) -> None:
        assert self.joint.recorded() == self.single.recorded()
        state = self.single.snapshot()
        assert self.joint.snapshot() == state
        self.before, self.store = self.store, Store(state)

    @rule(damage=strategies.damages())
    def damage(self, damage: Damage) -> None:
        if damage.jid not in self.store.jobs:
            return
        for core in (self.single, self.joint):
            core._storage.run(_damaging(damage), self.now)
        self.check_sameness()


def run(core: Target, transition: Factory[Any], now: float) -> Any:
    """What a transition gives, in a form that can be compared: of an error all that it says."""
    try:
        return shown(core._storage.run(transition, now))
    except QlessError as fault:
        return shown(fault)


def shown(value: Any) -> Any:
    if isinstance(value, QlessError):
        # of a key of another type a store tells in words of its own
        words = "" if type(value) is StoreCorrupted else str(value)
        return type(value), words, value.lua, value.argument, value.value
    if isinstance(value, Job):
        return job(value)
    return [shown(each) for each in value] if isinstance(value, list) else value


def _damaging(damage: Damage) -> Factory[None]:
    def begin(tx: Transaction) -> Transition[None]:
        yield from tx.read(last=True)
        if damage.field is None:
            tx.delete(tx.keys.job(damage.jid))
        else:
            tx.hset(tx.keys.job(damage.jid), damage.field, damage.text)

    return begin


# -- batches ------------------------------------------------------------------------------------


class BatchesMachine(TwoSidesMachine):
    """
    Batches of calls, some of which are about the same jobs.

    Args:
        size: how many a transaction takes.
    """

    def __init__(self, single: Target, joint: Target, size: int) -> None:
        super().__init__(single, joint)
        self.size = size
        self.made = 0

    @rule(calls=strategies.batches(BATCHED), are_new=st.booleans())
    def batch(self, calls: Sequence[Call], *, are_new: bool) -> None:
        parts = [part for call in calls if (part := self.part(call, is_new=are_new))]
        if not parts:
            return
        self.now = float(calls[0][1])
        late: list[Factory[Any]] = []
        expected = [run(self.single, _alone(part, late), self.now) for part in parts]
        if late:
            run(self.single, in_turn(*late), self.now)
        assert run(self.joint, batches.together(parts, size=self.size), self.now) == expected
        self.check_sameness()

    def part(self, call: Call, *, is_new: bool) -> Factory[Any] | None:
        """A call to be carried out; None if its words are no good."""
        try:
            transition = read_call(call).transition
        except QlessError:
            return None
        if not is_new or call[0] != "put":
            return transition
        spec = job_spec(Arguments(call[2:]), 3)._replace(depends=None)
        self.made += 1
        return partial(put_new, worker=call[2], queue=call[3], jid=f"{self.made:032x}", spec=spec)


def _alone(part: Factory[Any], late: list[Factory[Any]]) -> Factory[Any]:
    """A call by itself; what is to follow it follows the last one."""

    def begin(tx: Transaction) -> Transition[Any]:
        tx.batched = True
        value = yield from part(tx)
        if not isinstance(value, FollowedBy):
            return value
        late.append(value.rest)
        return value.value

    return begin


@pytest.mark.parametrize("size", [1, 2, 100])
def test_a_batch_does_what_its_calls_do(size: int) -> None:
    with Target("memory://") as single, Target("memory://") as joint:
        explore(lambda: BatchesMachine(single, joint, size), share=0.5)


def test_a_batch_on_a_real_server_does_what_its_calls_do(redis_server: Server) -> None:
    with Target("memory://") as single, Target(redis_server.url) as joint:
        explore(lambda: BatchesMachine(single, joint, 3), share=0.1)


# -- turns --------------------------------------------------------------------------------------


class TurnsMachine(TwoSidesMachine):
    """Ends of jobs, each with the beginning of the next."""

    @rule(turn=strategies.turns())
    def turn(self, turn: Turn) -> None:
        _, moment, jid, worker, queue, data, *given = turn.call
        try:
            read_call(turn.call)
            to = _onward(given)
        except QlessError:
            return
        self.now = float(moment)
        whose: dict[str, Any] = {"jid": jid, "worker": worker, "queue": queue, "data": data}
        both = partial(complete_and_pop, **whose, to=to, source=turn.source)
        finish: Factory[Any] = (
            partial(advance, **whose, to=to) if to else partial(complete, **whose)
        )
        take = partial(pop, queue=turn.source, worker=worker, count=1)
        got = run(self.joint, both, self.now)
        state = run(self.single, finish, self.now)
        if isinstance(state, str):
            jobs = run(self.single, take, self.now)
            if isinstance(jobs, list):
                assert (got.state, shown(got.jobs)) == (state, jobs)
            else:
                # the turn as a whole has failed, so that the job is still to be completed
                assert got == jobs
                assert run(self.joint, finish, self.now) == state
        else:
            assert got == state
        self.check_sameness()


def _onward(words: Sequence[str]) -> Next | None:
    given = options(words, odd=True)
    if "next" not in given:
        return None
    parents = jid_list(given.get("depends", "[]"), "depends", "")
    return Next(given["next"], Arguments([given.get("delay", "0")]).number(0, "delay", ""), parents)


def test_a_turn_completes_and_pops() -> None:
    with Target("memory://") as single, Target("memory://") as joint:
        explore(lambda: TurnsMachine(single, joint))


def test_a_turn_on_a_real_server_completes_and_pops(redis_server: Server) -> None:
    with Target("memory://") as single, Target(redis_server.url) as joint:
        explore(lambda: TurnsMachine(single, joint), share=0.1)
