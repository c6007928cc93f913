# SPDX-License-Identifier: MIT
"""Many calls in one transaction: what is read at once, what a call that fails leaves, what follows."""

from __future__ import annotations

import math
import shlex
from typing import Any

import pytest

from pyqless.core import batches, limits
from pyqless.core.commands import call
from pyqless.core.effects import Factory, FollowedBy, Transition
from pyqless.core.putting import JobSpec, put_new
from pyqless.core.transaction import Transaction
from pyqless.errors import (
    CorruptedJob,
    InvalidArgument,
    JobLost,
    JobNotFound,
    QlessError,
    StoreCorrupted,
)
from tests.unit.core.remembering import Store


@pytest.fixture
def store() -> Store:
    return Store(remembers=False)


def calls(*written: str) -> list[Factory[Any]]:
    return [call(shlex.split(words)).transition for words in written]


def together(store: Store, *written: str | Factory[Any], size: int = 100, **options: Any) -> Any:
    parts = [calls(part)[0] if isinstance(part, str) else part for part in written]
    return store.run(batches.together(parts, size=size, **options), 100)


def fill(store: Store, *jids: str) -> None:
    for jid in jids:
        store.call(f"put 50 me q {jid} klass {{}} 0")
    store.call(f"pop 60 q w {len(jids)}")


def new(jid: str) -> Factory[str]:
    return lambda tx: put_new(tx, "me", "q", jid, JobSpec("klass", "{}"))


def raising(fault: QlessError, *, reports: bool = False) -> Factory[Any]:
    """A call that fails when it has staged something."""

    def begin(tx: Transaction) -> Transition[None]:
        yield from tx.read(("HGETALL", tx.keys.config))
        tx.hset(tx.keys.config, "application", "changed")
        tx.publish("channel", "text")
        tx.zadd(tx.keys.workers, 1.0, "w")
        if reports:
            tx.reports.append(StoreCorrupted("damaged"))
        raise fault

    return begin


# -- reading ----------------------------------------------------------------------------------


def test_what_calls_read_first_is_read_at_once(store: Store) -> None:
    fill(store, "a", "b")
    assert together(store, "put 100 me q c klass {} 0", "heartbeat 100 a w", "heartbeat 100 b w")
    (batch,) = store.batches
    assert batch.last
    assert {"ql:j:a", "ql:j:b", "ql:j:c", "ql:j:c-history", "ql:config"} <= set(batch.guards)
    assert ("ZSCORE", "ql:tracked", "c") in batch.reads[batch.guarded :]
    assert len(set(batch.reads)) == len(batch.reads)


def test_what_one_call_guards_and_another_does_not_is_guarded(store: Store) -> None:
    def looks(tx: Transaction) -> Transition[Any]:
        return (yield from tx.read(free=[("HGETALL", tx.keys.job("a"))]))

    fill(store, "a")
    assert together(store, looks, "heartbeat 100 a w")[1] == 160
    (batch,) = store.batches
    assert batch.reads.index(("HGETALL", "ql:j:a")) < batch.guarded


def test_new_jobs_are_put_without_reading(store: Store) -> None:
    assert together(store, new("a"), new("b")) == ["a", "b"]
    assert [batch.reads for batch in store.batches] == [()]
    assert store.call("pop 110 q w 9") == ["b", "a"]


def test_views_and_calls_that_end_at_once_are_not_read_for(store: Store) -> None:
    def views(tx: Transaction) -> Transition[Any]:
        (size,) = yield from tx.snapshot(("ZCARD", "ql:workers"))
        return size

    def refuses(tx: Transaction) -> Transition[None]:
        raise InvalidArgument("no good", argument="x")
        yield  # makes it a transition

    def ends(tx: Transaction) -> Transition[str]:
        return "ended"
        yield  # makes it a transition

    size, fault, value = together(store, views, refuses, ends)
    assert (size, value) == (0, "ended")
    assert isinstance(fault, InvalidArgument)
    assert [batch.snapshot for batch in store.batches] == [True]


def fail(store: Store, *jids: str, group: str = "g") -> None:
    fill(store, *jids)
    for jid in jids:
        store.call(f"fail 70 {jid} w {group} message")


def test_a_transaction_ends_where_the_store_would_go_through_too_much(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "LOOKS", 7)
    fail(store, "a", "b", "c", "d", "e")
    fill(store, "f")
    done = together(store, *(f"cancel 100 {jid}" for jid in "abcdef"))
    assert done == [[jid] for jid in "abcdef"]
    # two of 5, then three of the 3 that were left, then what is in no group
    assert [tx.looks for tx in store.transactions] == [10, 9, 0]
    assert store.call("failed 100") == "{}"


def test_a_batch_that_is_done_whole_or_not_at_all_is_not_divided(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "LOOKS", 1)
    fail(store, "a", "b")
    done = together(store, "cancel 100 a", "cancel 100 b", all_or_nothing=True)
    assert (done, len(store.transactions)) == ([["a"], ["b"]], 1)


def test_what_calls_read_on_is_not_said_to_be_the_last(store: Store) -> None:
    fill(store, "a", "b")
    for parent in "ab":
        store.call(f"""put 70 me q of-{parent} klass {{}} 0 depends '["{parent}"]'""")
    done = together(store, "complete 100 a w q {}", "complete 100 b w q {}")
    assert done == ["complete"] * 2
    first, *others = store.batches[:3]
    assert first.last
    assert [batch.last for batch in others] == [False, False]


def test_what_comes_next_is_foreseen_once() -> None:
    store = Store()
    store.call("pop 50 q w 1")
    assert together(store, new("a"), new("b")) == ["a", "b"]
    ahead = store.transactions[0].ahead
    assert ahead is not None
    assert ahead.topic == "pop:q"
    assert ("HGETALL", "ql:j:a") in ahead.reads
    assert ("HGETALL", "ql:j:b") not in ahead.reads


# -- outcomes ---------------------------------------------------------------------------------


def test_each_call_has_its_outcome(store: Store) -> None:
    fill(store, "a", "b")
    first, lost, absent, last = together(
        store,
        "complete 100 a w q {}",
        "complete 100 b other q {}",
        "heartbeat 100 nowhere w",
        "heartbeat 100 b w",
    )
    assert first == "complete"
    assert isinstance(lost, JobLost)
    assert lost.lua == "Complete(): Job b has been handed out to another worker: w"
    assert isinstance(absent, JobNotFound)
    assert last == 160
    assert store.keyspace.read(("HGET", "ql:j:a", "state")) == "complete"
    assert store.keyspace.read(("HGET", "ql:j:b", "expires")) == "160"


def test_calls_see_what_those_before_them_did(store: Store) -> None:
    done = together(store, "put 100 me q a klass {} 0", "priority 100 a 7", "cancel 100 a")
    assert done == ["a", 7, ["a"]]
    assert store.keyspace.read(("EXISTS", "ql:j:a")) == 0


def test_a_call_that_fails_late_contributes_nothing(store: Store) -> None:
    fault = InvalidArgument("no good", argument="x")
    before, after = "config.set 100 application mine", "config.set 100 heartbeat 30"
    outcomes = together(store, before, raising(fault, reports=True), after)
    assert outcomes == [None, fault, None]
    assert store.keyspace.read(("HGETALL", "ql:config")) == {
        "application": "mine",
        "heartbeat": "30",
    }
    assert store.keyspace.read(("ZCARD", "ql:workers")) == 0
    (tx,) = store.transactions
    assert tx.reports == []
    assert ("PUBLISH", "channel", "text") not in tx.writes


def test_all_or_nothing(store: Store) -> None:
    fill(store, "a")
    before = store.dump()
    with pytest.raises(JobNotFound):
        together(store, "complete 100 a w q {}", "heartbeat 100 nowhere w", all_or_nothing=True)
    assert store.dump() == before
    assert together(store, "heartbeat 100 a w", all_or_nothing=True) == [160]


# -- links ------------------------------------------------------------------------------------


def test_many_calls_go_in_several_transactions(store: Store) -> None:
    puts = [f"put 100 me q {jid} klass {{}} 0" for jid in "abcde"]
    assert together(store, *puts, size=2) == list("abcde")
    assert [len(tx.writes) > 0 for tx in store.transactions] == [True] * 3
    assert {tx.now for tx in store.transactions} == {100}


def test_what_a_link_foresees_is_what_the_next_one_reads() -> None:
    store = Store()
    fill(store, "a", "b")
    together(store, *(limits.within(math.inf, "q", new(jid)) for jid in "cde"), size=2)
    first, _ = (tx.ahead for tx in store.transactions)
    assert first is not None
    assert {*store.batches[1].reads} <= {*first.reads}
    together(store, "heartbeat 100 a w", "heartbeat 100 b w", size=1)
    assert store.transactions[0].ahead is not None
    together(store, "heartbeat 100 a w", "heartbeat 100 b w", "heartbeat 100 b w", size=2)
    assert store.transactions[0].ahead is None


def test_an_empty_batch_does_nothing(store: Store) -> None:
    assert together(store) == []
    assert store.batches == []


@pytest.mark.parametrize(("size", "transactions"), [(100, 1), (2, 2)])
def test_completed_jobs_are_expired_once(store: Store, size: int, transactions: int) -> None:
    fill(store, "old")
    store.call("complete 70 old w q {}")
    store.call("config.set 80 jobs-history 10")
    fill(store, "a", "b", "c")
    done = [f"complete 100 {jid} w q {{}}" for jid in "abc"]
    assert together(store, *done, size=size) == ["complete"] * 3
    assert len(store.transactions) == transactions + 1
    assert store.keyspace.read(("EXISTS", "ql:j:old")) == 0
    assert store.keyspace.read(("ZCARD", "ql:completed")) == 3


def test_what_follows_several_calls_follows_once_and_last(store: Store) -> None:
    done = []

    def note(name: str) -> Factory[None]:
        def begin(tx: Transaction) -> Transition[None]:
            yield from tx.read(last=True)
            done.append(name)

        return begin

    def followed(name: str, rest: Factory[Any]) -> Factory[Any]:
        def begin(tx: Transaction) -> Transition[FollowedBy]:
            yield from tx.read(last=True)
            done.append(name)
            return FollowedBy(name, rest)

        return begin

    rest = note("rest")
    assert together(store, followed("a", rest), followed("b", rest), size=1) == ["a", "b"]
    assert done == ["a", "b", "rest"]


# -- samples ----------------------------------------------------------------------------------

RUNS = "ql:s:run:0:q"


def test_samples_are_entered_with_one_write_a_field(store: Store) -> None:
    one_by_one = Store(remembers=False)
    seconds = (7.3, 7.9, 100.1, 0.1)
    done = [f"complete {100 + 1 / 3!r} {jid} w q {{}}" for jid in "abcd"]
    for each in (store, one_by_one):
        for jid, moment in zip("abcd", seconds, strict=True):
            each.call(f"put 50 me q {jid} klass {{}} 0")
            each.call(f"pop {100 - moment!r} q w 1")
    for words in done:
        one_by_one.call(words)
    store.run(batches.together(calls(*done), size=100), 100 + 1 / 3)
    assert store.dump()[RUNS] == one_by_one.dump()[RUNS]
    writes = [write for write in store.transactions[0].writes if write[1] == RUNS]
    assert [write[:4] for write in writes[:-1]] == [
        ("HINCRBY", RUNS, "s7", 1),
        ("HINCRBY", RUNS, "s8", 1),
        ("HINCRBY", RUNS, "m1", 1),
        ("HINCRBY", RUNS, "s0", 1),
    ]
    assert len(writes) == 5


def test_a_call_that_fails_late_leaves_no_sample(store: Store) -> None:
    fill(store, "a", "b", "c")
    store.keyspace.write(("HSET", "ql:j:b", "retries", "many"))
    first, fault, last = together(store, *(f"complete 100 {jid} w q {{}}" for jid in "abc"))
    assert (first, last) == ("complete", "complete")
    assert isinstance(fault, CorruptedJob)
    assert store.dump()[RUNS]["total"] == "2"


def test_samples_of_damaged_statistics_are_each_reported(store: Store) -> None:
    fill(store, "a", "b")
    store.keyspace.write(("HSET", RUNS, "total", "-2", "mean", "0", "vk", "0"))
    assert together(store, *(f"complete 100 {jid} w q {{}}" for jid in "ab")) == ["complete"] * 2
    assert store.dump()[RUNS] == {"total": "-1", "mean": "-40", "vk": "3200", "s40": "1"}
    assert [fault.argument for fault in store.transactions[0].reports] == [RUNS]
