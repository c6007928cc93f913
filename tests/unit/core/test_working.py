# SPDX-License-Identifier: MIT
"""A job's end and the beginning of the next, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pyqless.conformance import Target
from pyqless.core import expiry
from pyqless.core.completing import Next
from pyqless.core.effects import Transition
from pyqless.core.transaction import Transaction
from pyqless.core.working import Turn, complete_and_pop
from pyqless.errors import InvalidSetting, JobLost
from tests.links import bounded_by
from tests.unit.core.examples import run
from tests.unit.core.remembering import Store


@pytest.fixture
def store() -> Store:
    return Store()


def fill(store: Store, *jids: str, queue: str = "q") -> None:
    for at, jid in enumerate(jids):
        store.call(f"put {50 + at} me {queue} {jid} klass {{}} 0")


def turn(
    store: Store,
    jid: str = "a",
    *,
    to: Next | None = None,
    source: str | None = None,
    now: float = 100,
) -> tuple[str, list[str]]:
    done = store.run(
        lambda tx: complete_and_pop(tx, jid, "w", "q", "{}", to=to, source=source), now
    )
    assert isinstance(done, Turn)
    return done.state, [job.jid for job in done.jobs]


def held(store: Store, queue: str = "q") -> list[str]:
    return [
        jid
        for jid, _ in store.keyspace.read(("ZRANGE", f"ql:q:{queue}-locks", 0, -1, "WITHSCORES"))
    ]


def test_the_next_job_follows(store: Store) -> None:
    fill(store, "a", "b")
    store.call("pop 60 q w 1")
    assert turn(store) == ("complete", ["b"])
    assert len(store.transactions) == 1
    assert held(store) == ["b"]


def test_what_is_read_first_is_not_all(store: Store) -> None:
    fill(store, "a", "b")
    store.call("pop 60 q w 1")
    turn(store)
    assert [batch.last for batch in store.batches] == [False, True]


def test_the_last_job_is_followed_by_none(store: Store) -> None:
    fill(store, "a")
    store.call("pop 60 q w 1")
    assert turn(store) == ("complete", [])
    assert held(store) == []


def test_the_next_job_may_come_from_elsewhere(store: Store) -> None:
    fill(store, "a", "b")
    fill(store, "other", queue="r")
    store.call("pop 60 q w 1")
    assert turn(store, source="r") == ("complete", ["other"])
    assert (held(store), held(store, "r")) == ([], ["other"])


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        (Next("q"), ("waiting", ["a"])),
        (Next("r"), ("waiting", [])),
        (Next("q", 10), ("scheduled", [])),
        (Next("q", 0, ["b"]), ("depends", [])),
    ],
)
def test_a_job_may_go_on(store: Store, to: Next, expected: tuple[str, list[str]]) -> None:
    fill(store, "a")
    fill(store, "b", queue="s")
    store.call("pop 60 q w 1")
    assert turn(store, to=to) == expected


def test_the_job_makes_room_for_the_next(store: Store) -> None:
    store.call("config.set 40 q-max-concurrency 1")
    fill(store, "a", "b")
    store.call("pop 60 q w 1")
    assert store.call("pop 61 q v 1") == []
    assert turn(store) == ("complete", ["b"])


def test_what_waited_for_the_job_may_be_the_next(store: Store) -> None:
    fill(store, "a")
    store.call("""put 55 me q child klass {} 0 depends '["a"]'""")
    store.call("pop 60 q w 1")
    assert turn(store) == ("complete", ["child"])


def test_a_lock_that_has_expired_is_still_the_workers(store: Store) -> None:
    """Nobody has taken it: the core completes it, and pop no longer meets it."""
    fill(store, "a", "b")
    store.call("pop 60 q w 1")
    assert turn(store, now=5000) == ("complete", ["b"])


def test_nothing_is_done_for_who_has_lost_the_job(store: Store) -> None:
    fill(store, "a", "b")
    store.call("pop 60 q v 1")
    before = store.dump()
    with pytest.raises(JobLost):
        turn(store)
    assert store.dump() == before


def test_nothing_is_done_where_none_can_be_taken(store: Store) -> None:
    fill(store, "a", "b")
    store.call("pop 60 q w 1")
    store.call("config.set 70 q-max-concurrency many")
    before = store.dump()
    with pytest.raises(InvalidSetting):
        turn(store)
    assert store.dump() == before


# -- in several transactions --------------------------------------------------------------------


def test_damaged_jobs_are_passed_over(store: Store) -> None:
    fill(store, "a", "b", "c")
    store.call("pop 60 q w 1")
    store.keyspace.write(("DEL", "ql:j:b"))
    assert turn(store) == ("complete", ["c"])
    assert len(store.transactions) == 2


def test_what_is_to_follow_both_follows(core: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiry, "FEW", 1)
    for words in (
        *(f"put 50 me q {jid} klass {{}} 0" for jid in "xyz"),
        "pop 60 q w 3",
        *(f"complete 61 {jid} w q {{}}" for jid in "xyz"),
        "config.set 62 jobs-history 10",
        "put 63 me q a klass {} 0",
        "put 64 me q b klass {} 0",
        "pop 70 q w 1",
    ):
        run(core, words)

    def owe(tx: Transaction) -> Transition[None]:
        yield from tx.read(last=True)
        # an entry of a job that somebody else has completed
        tx.rpush(tx.keys.letting_go, '["65","parent"]')

    def is_owed(tx: Transaction) -> Transition[Any]:
        return (yield from tx.read(("EXISTS", tx.keys.letting_go)))

    core._storage.run(owe, 70)
    done: Any = core._storage.run(lambda tx: complete_and_pop(tx, "a", "w", "q", "{}"), 100)
    assert (done.state, [job.jid for job in done.jobs]) == ("complete", ["b"])
    assert core._storage.run(is_owed, 101) == [0]
    assert [jid for jid, _ in core.snapshot()["ql:completed"]["value"]] == ["a"]


def test_many_that_waited_for_the_job_are_let_go_later(store: Store) -> None:
    fill(store, "a")
    for jid in ("b", "c", "d"):
        store.call(f"""put 55 me r {jid} klass {{}} 0 depends '["a"]'""")
    store.call("pop 60 q w 1")
    with bounded_by(2):
        assert turn(store) == ("complete", [])
    assert sorted(store.call("pop 110 r v 9")) == ["b", "c", "d"]


# -- foreseeing ---------------------------------------------------------------------------------


def reads_ahead(store: Store) -> Sequence[Any]:
    ahead = store.transactions[0].ahead
    assert ahead is not None
    assert ahead.topic == "turn:q"
    return ahead.reads


def test_the_next_turn_is_foreseen(store: Store) -> None:
    fill(store, "a", "b", "c", "d")
    store.call("pop 60 q w 1")
    turn(store)
    expected = reads_ahead(store)
    turn(store, "b", now=101)
    assert {read for batch in store.batches for read in batch.reads} <= set(expected)


@pytest.mark.parametrize("others", [(), ("b",)])
def test_no_turn_is_foreseen_where_no_job_is_known_for_it(
    store: Store, others: Sequence[str]
) -> None:
    fill(store, "a", *others)
    store.call("pop 60 q w 1")
    turn(store)
    ahead = store.transactions[0].ahead
    assert ahead is None or ahead.topic != "turn:q"


def test_no_turn_is_foreseen_in_a_busy_queue(store: Store) -> None:
    fill(store, "a", "b", "c")
    store.call("pop 60 q w 1")
    store.call("put 99 me q d klass {} 0")
    store.run(lambda tx: complete_and_pop(tx, "a", "w", "q", "{}"), 100, conflicts=1)
    ahead = store.transactions[0].ahead
    assert ahead is None or ahead.topic != "turn:q"
