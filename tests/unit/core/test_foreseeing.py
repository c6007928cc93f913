# SPDX-License-Identifier: MIT
"""What transitions say of the reads of the next: it is what those do read."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import pytest

from pyqless.core.commands import call
from pyqless.core.effects import Ahead, Batch, Command
from pyqless.core.keys import Keys
from pyqless.core.limits import setting_of, within
from pyqless.core.putting import JobSpec, put_new
from pyqless.core.transaction import Transaction
from tests.unit.core.remembering import Store


@pytest.fixture
def store() -> Store:
    store = Store()
    for number, jid in enumerate("JKL"):
        store.call(f"put {number} me q {jid} klass {{}} 0")
    return store


def ahead(store: Store) -> Ahead:
    """What the last call has foreseen."""
    found = store.transactions[0].ahead
    assert found is not None
    return found


def answers(foreseen: Ahead, batch: Batch) -> bool:
    """Whether all is foreseen that a batch reads, and guarded what it guards."""
    known = set(foreseen.reads)
    return known.issuperset(batch.reads) and {*foreseen.guards}.issuperset(batch.guards)


def new(
    store: Store, jid: str, now: float, *, delay: float = 0.0, limit: float | None = None
) -> None:
    """Put a job under a jid that nobody has."""
    spec = JobSpec("klass", "{}", delay)
    putting = partial(put_new, worker="me", queue="q", jid=jid, spec=spec)
    store.run(putting if limit is None else within(limit, "q", putting), now)


# -- what follows a pop or a heartbeat --------------------------------------------------------------


@pytest.mark.parametrize("before", [["pop 5 q A 1"], ["pop 5 q A 1", "heartbeat 6 J A"]])
@pytest.mark.parametrize(
    "words",
    [
        "heartbeat 7 J A",
        "complete 7 J A q {}",
        "complete 7 J A q {} next other",
        "complete 7 J B q {}",
    ],
)
def test_a_job_in_hand_is_foreseen_to_be_kept_or_completed(
    store: Store, before: list[str], words: str
) -> None:
    for earlier in before:
        store.call(earlier)
    foreseen = ahead(store)
    assert foreseen.topic == "job"
    first = next(call(words.split()).transition(Transaction(7.0, Keys(), memory={})))
    assert answers(foreseen, first)


def test_the_job_of_another_queue_is_not_foreseen(store: Store) -> None:
    store.call("pop 5 q A 1")
    words = ["complete", "7", "J", "A", "other", "{}"]
    first = next(call(words).transition(Transaction(7.0, Keys(), memory={})))
    assert not answers(ahead(store), first)


def test_nothing_is_foreseen_of_many_jobs(store: Store) -> None:
    store.call("pop 5 q A 2")
    assert store.transactions[0].ahead is None


@pytest.mark.parametrize("count", [1, 3])
def test_who_finds_nothing_is_foreseen_to_look_again(store: Store, count: int) -> None:
    store.call(f"pop 6 other A {count}")
    foreseen = ahead(store)
    first = next(call(f"pop 7 other A {count}".split()).transition(Transaction(7.0, Keys())))
    assert foreseen.topic == "none:other"
    assert answers(foreseen, first)
    assert {*foreseen.guards} == {read[1] for read in first.reads} - {Keys().letting_go}
    store.call("pop 8 other A 1", conflicts=1)
    assert store.transactions[0].ahead is None


def test_in_a_busy_queue_the_samples_are_not_foreseen(store: Store) -> None:
    store.call("pop 5 q A 1", conflicts=1)
    keys = {read[1] for read in ahead(store).reads}
    assert "ql:j:J" in keys
    assert not {key for key in keys if key.startswith("ql:s:")}


# -- what follows a completion ----------------------------------------------------------------------


@pytest.mark.parametrize("words", ["pop 9 q A 1", "pop 9 q B 1"])
@pytest.mark.parametrize("rest", ["", " next other"])
def test_behind_a_completion_the_next_pop_is_foreseen(store: Store, rest: str, words: str) -> None:
    store.call("pop 5 q A 1")
    store.call(f"complete 6 J A q {{}}{rest}")
    foreseen = ahead(store)
    assert foreseen.topic == "pop:q"
    assert store.call(words) == ["K"]
    assert len(store.batches) == 1
    assert all(answers(foreseen, batch) for batch in store.batches)


def test_all_that_decides_which_job_goes_next_is_guarded(store: Store) -> None:
    store.call("pop 5 q A 1")
    store.call("complete 6 J A q {}")
    assert all(key.startswith(Keys().own) for key in ahead(store).aging)


@pytest.mark.parametrize("words", ["pop 9 other A 1", "pop 9 q A 2"])
def test_another_pop_is_not_foreseen(store: Store, words: str) -> None:
    store.call("pop 5 q A 1")
    store.call("complete 6 J A q {}")
    foreseen = ahead(store)
    store.call(words)
    assert not answers(foreseen, store.batches[0])


def test_in_a_busy_queue_no_pop_is_foreseen(store: Store) -> None:
    """It would pick among many."""
    store.call("pop 5 q A 1", conflicts=1)
    store.call("complete 6 J A q {}")
    assert ahead(store)[:2] == ("put:q", ())


def test_where_the_last_job_is_in_hand_no_pop_is_foreseen(store: Store) -> None:
    store.call("pop 5 q A 3")
    store.call("complete 6 J A q {}")
    assert ahead(store)[:2] == ("put:q", ())


def test_where_nobody_pops_no_pop_is_foreseen(store: Store) -> None:
    new(store, "M", 5.0)
    assert ahead(store)[:2] == ("put:q", ())


# -- what follows a put -----------------------------------------------------------------------------


def test_a_job_that_comes_into_an_empty_queue_is_foreseen_to_be_popped() -> None:
    store = Store()
    store.call("pop 1 q A 1")
    new(store, "M", 2.0)
    foreseen = ahead(store)
    assert store.call("pop 3 q A 1") == ["M"]
    assert all(answers(foreseen, batch) for batch in store.batches)


def test_a_job_that_is_delayed_is_not() -> None:
    store = Store()
    store.call("pop 1 q A 1")
    new(store, "M", 2.0, delay=5.0)
    assert ahead(store)[:2] == ("put:q", ())


def test_a_job_that_comes_behind_others_is_not(store: Store) -> None:
    store.call("pop 5 q A 1")
    new(store, "M", 6.0)
    foreseen = ahead(store)
    assert store.call("pop 7 q A 1") == ["K"]
    assert all(answers(foreseen, batch) for batch in store.batches)


@pytest.mark.parametrize("pops", [False, True])
def test_where_there_is_no_limit_the_look_for_one_is_foreseen_too(
    store: Store, *, pops: bool
) -> None:
    if pops:
        store.call("pop 5 q A 1")
    new(store, "M", 6.0, limit=math.inf)
    foreseen = ahead(store)
    new(store, "N", 7.0, limit=math.inf)
    (batch,) = store.batches
    assert [read[-1] for read in batch.reads] == [setting_of("q"), Keys().work("q")]
    assert answers(foreseen, batch)


@pytest.mark.parametrize("setting", ["10", None])
def test_where_there_is_a_limit_how_many_wait_must_not_be_old(
    store: Store, setting: str | None
) -> None:
    if setting:
        store.call(f"config.set 5 {setting_of('q')} {setting}")
    new(store, "M", 6.0, limit=math.inf if setting else 10)
    assert ("ZCARD", Keys().work("q")) not in ahead(store).reads


# -- where hints are not kept -----------------------------------------------------------------------


def test_without_a_memory_nothing_is_foreseen() -> None:
    store = Store(remembers=False)
    store.call("put 1 me q J klass {} 0")
    calls = ["pop 2 q A 1", "heartbeat 3 J A", "complete 4 J A q {}"]
    for words in calls:
        store.call(words)
        assert [tx.ahead for tx in store.transactions] == [None]
    for limit in (None, math.inf):
        new(store, f"M{limit}", 5.0, limit=limit)
        assert store.transactions[0].ahead is None


# -- what is read free may be torn, or old ----------------------------------------------------------


OLDEST: Command = ("ZRANGE", "ql:completed", 0, 2, "WITHSCORES")
SIZE: Command = ("ZCARD", "ql:completed")


@pytest.mark.parametrize(
    "seen",
    [
        {OLDEST: [], SIZE: 1},
        {OLDEST: [], SIZE: 4},
        {OLDEST: [], SIZE: 0},
        {OLDEST: [("gone", 3.0)], SIZE: 0},
        {OLDEST: [("gone", 3.0), ("also", 3.0)], SIZE: 1},
        {OLDEST: [("J", 3.0)], SIZE: 2},
        {OLDEST: [("later", 30.0)], SIZE: 1},
        {OLDEST: [("later", 30.0)], SIZE: 2},
    ],
)
def test_completed_jobs_that_come_and_go_while_they_are_looked_at(
    store: Store, seen: dict[Command, Any]
) -> None:
    """The packet is not of one instant."""
    store.call("pop 5 q A 1")
    store.pretended = seen
    assert store.call("complete 10 J A q {}") == "complete"
    assert store.dump()["ql:completed"] == [["J", "10.0"]]
    assert store.dump()["ql:j:J"]["state"] == "complete"
