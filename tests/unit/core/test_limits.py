# SPDX-License-Identifier: MIT
"""Limits on waiting jobs: of a call, and of a queue."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import pytest

from pyqless.conformance import Target
from pyqless.core.batches import together
from pyqless.core.effects import Batch
from pyqless.core.keys import Keys
from pyqless.core.limits import setting_of, within
from pyqless.core.putting import JobSpec, put, put_new
from pyqless.core.transaction import Transaction
from pyqless.errors import InvalidSetting, QueueFull, StoreCorrupted
from tests.unit.core.remembering import Store

SPEC = JobSpec("klass", "{}")


def attempt(core: Target, jid: str, limit: float = math.inf) -> str:
    putting = partial(put, worker="w", queue="q", jid=jid, spec=SPEC)
    return core._storage.run(within(limit, "q", putting), 100)


def limit_to(core: Target, text: str) -> None:
    core.call("config.set", "50", setting_of("q"), text)


def refused(core: Target, limit: float = math.inf) -> QueueFull:
    before = core.snapshot()
    with pytest.raises(QueueFull) as caught:
        attempt(core, "refused", limit)
    assert core.snapshot() == before
    return caught.value


def test_without_a_limit_any_number_may_wait(core: Target) -> None:
    assert [attempt(core, jid) for jid in "abc"] == ["a", "b", "c"]


def test_a_full_queue_takes_no_more(core: Target) -> None:
    assert [attempt(core, jid, 2) for jid in "ab"] == ["a", "b"]
    error = refused(core, 2)
    assert (error.argument, error.value) == ("queue", 2)
    assert str(error) == "2 jobs wait in queue 'q', and no more than 2 may"


@pytest.mark.parametrize(("setting", "limit"), [("1", math.inf), ("1", 2), ("2", 1), ("1.0", 1)])
def test_of_two_limits_the_lower_counts(core: Target, setting: str, limit: float) -> None:
    limit_to(core, setting)
    attempt(core, "a", limit)
    error = refused(core, limit)
    assert error.value == 1
    assert str(error) == "1 job waits in queue 'q', and no more than 1 may"


def test_a_queue_that_may_have_none_takes_none_in(core: Target) -> None:
    limit_to(core, "0")
    assert refused(core).value == 0
    core.call("config.unset", "60", setting_of("q"))
    assert attempt(core, "a") == "a"


def test_only_waiting_jobs_of_that_queue_count(core: Target) -> None:
    core.call("put", "50", "w", "other", "elsewhere", "klass", "{}", "0")
    core.call("put", "50", "w", "q", "later", "klass", "{}", "60")
    attempt(core, "a", 1)
    core.call("pop", "60", "q", "w", "1")
    assert attempt(core, "b", 1) == "b"


def test_a_job_that_takes_several_looks_is_put_all_the_same(core: Target) -> None:
    attempt(core, "a")
    core.call("pop", "60", "q", "w", "1")
    core.call("fail", "61", "a", "w", "group", "message")
    assert attempt(core, "a", 1) == "a"
    assert core.call("failed", "101") == "{}"
    assert core.call("length", "101", "q") == 1


def test_a_setting_that_is_no_number_is_named(core: Target) -> None:
    limit_to(core, "many")
    with pytest.raises(InvalidSetting) as caught:
        attempt(core, "a")
    assert (caught.value.argument, caught.value.value) == ("q-max-waiting", "many")
    assert core.call("length", "101", "q") == 0


def test_a_set_of_another_type_is_named() -> None:
    steps = within(1, "q", partial(put, worker="w", queue="q", jid="a", spec=SPEC))(
        Transaction(100, Keys())
    )
    reads = next(steps).reads
    with pytest.raises(StoreCorrupted, match="odd"):
        steps.send([*[None] * (len(reads) - 1), StoreCorrupted("odd")])


def test_a_limit_costs_no_round_trip_and_no_guard() -> None:
    putting = partial(put, worker="w", queue="q", jid="a", spec=SPEC)
    bare: Batch = next(putting(Transaction(100, Keys())))
    limited = next(within(1, "q", putting)(Transaction(100, Keys())))
    assert limited.reads[: len(bare.reads)] == bare.reads
    assert limited.reads[len(bare.reads) :] == (
        ("HMGET", "ql:config", "q-max-waiting"),
        ("ZCARD", "ql:q:q-work"),
    )
    assert (limited.guarded, limited.last) == (bare.guarded, bare.last)


# -- of a batch -------------------------------------------------------------------------------


def batch(core: Target, *jids: str, limit: float = math.inf) -> list[Any]:
    calls = [
        within(limit, "q", partial(put_new, worker="w", queue="q", jid=jid, spec=SPEC))
        for jid in jids
    ]
    outcomes = core._storage.run(together(calls, size=100), 100)
    return [each.value if isinstance(each, QueueFull) else each for each in outcomes]


def test_those_before_a_call_in_its_batch_count(core: Target) -> None:
    attempt(core, "a")
    assert batch(core, "b", "c", "d", "e", limit=3) == ["b", "c", 3, 3]
    assert batch(core, "f", limit=4) == ["f"]


def test_the_setting_counts_for_each_of_a_batch(core: Target) -> None:
    limit_to(core, "2")
    assert batch(core, "a", "b", "c") == ["a", "b", 2]
    limit_to(core, "many")
    assert [type(outcome) for outcome in batch(core, "d", "e")] == [InvalidSetting] * 2


def test_a_batch_without_a_limit_is_not_held_up(core: Target) -> None:
    assert batch(core, "a", "b", "c") == ["a", "b", "c"]


def trips(store: Store, limit: float, *jids: str) -> int:
    """How many batches of reads it takes to put jobs, all of which come in."""
    calls = [
        within(limit, "q", partial(put, worker="w", queue="q", jid=jid, spec=SPEC)) for jid in jids
    ]
    assert store.run(together(calls, size=100), 100) == list(jids)
    return len(store.batches)


def test_a_batch_that_has_room_in_any_case_takes_no_further_trip() -> None:
    store = Store()
    assert trips(store, math.inf, "a", "b", "c") == 1
    assert trips(store, 9, "d", "e", "f") == 1
    assert store.call("length 100 q") == 6


def test_jobs_that_wait_already_take_no_room_of_a_batch() -> None:
    store = Store()
    trips(store, math.inf, "a", "b", "c")
    assert trips(store, 4, "a", "b", "c", "d") > 1
    assert store.call("length 100 q") == 4


def test_a_damaged_queue_is_told_of_in_a_batch_with_a_limit() -> None:
    store = Store()
    store.keyspace.write(("HSET", Keys().work("q"), "a", "1"))
    call = within(9, "q", partial(put, worker="w", queue="q", jid="a", spec=SPEC))
    (outcome,) = store.run(together([call], size=100), 100)
    assert isinstance(outcome, StoreCorrupted)
