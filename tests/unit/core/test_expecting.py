# SPDX-License-Identifier: MIT
"""The next run of a recurring job, which pop looks up together with the heads: a hint, and never more than that."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyqless.core.keys import Keys
from pyqless.core.popping import pop
from pyqless.core.transaction import Stale, Transaction
from pyqless.errors import QlessError
from tests.unit.core.remembering import Store

KEYS: Final = Keys()
RECUR: Final = "recur 1 q R klass {} interval 60 0"
#: locks that outlast a test
PATIENCE: Final = "config.set 0 heartbeat 100000"


def beside(store: Store) -> Store:
    """Others in the same store, who remember nothing."""
    others = Store(remembers=False)
    others.keyspace = store.keyspace
    return others


def began(*calls: str, remembers: bool = True) -> Store:
    """A store in which others have called."""
    store = Store(remembers=remembers)
    for words in calls:
        beside(store).call(words)
    return store


@pytest.fixture
def store() -> Store:
    """R has made R-1, and will make R-2 at 61; whoever has popped that knows."""
    store = began(PATIENCE, RECUR)
    assert store.call("pop 5 q A 1") == ["R-1"]
    assert [batch.last for batch in store.batches] == [False, False, True]
    return store


# -- right hints ------------------------------------------------------------------------------------


def test_a_job_that_is_expected_is_made_after_one_batch_of_reads(store: Store) -> None:
    for now, jid in ((62, "R-2"), (122, "R-3"), (182, "R-4")):
        assert store.call(f"pop {now} q A 1") == [jid]
        assert [batch.last for batch in store.batches] == [True]


def test_all_that_hangs_on_it_is_guarded(store: Store) -> None:
    store.call("pop 62 q A 1")
    (batch,) = store.batches
    wanted = {KEYS.recurring_job("R"), KEYS.job("R-2"), KEYS.history("R-2")}
    assert wanted <= {*batch.guards}


def test_what_is_not_due_is_not_looked_up(store: Store) -> None:
    assert store.call("pop 60 q A 1") == []
    (batch,) = store.batches
    assert KEYS.recurring_job("R") not in batch.guards


def test_where_only_the_recurring_job_is_known_its_hash_is_read_with_the_heads() -> None:
    store = began("recur 1 q R klass {} interval 60 20")
    assert store.call("pop 5 q A 1") == []
    assert store.call("pop 22 q A 1") == ["R-1"]
    assert [batch.last for batch in store.batches] == [False, True]


def test_of_several_that_are_due_each_is_expected_in_its_turn() -> None:
    store = began(PATIENCE, *(f"recur 1 q {jid} klass {{}} interval 60 0" for jid in "RST"))
    store.call("pop 5 q A 10")
    for now, jid in ((62, "R-2"), (63, "S-2"), (64, "T-2"), (125, "R-3")):
        assert store.call(f"pop {now} q A 1") == [jid]
        assert len(store.batches) == 1


def test_of_many_children_the_first_is_expected(store: Store) -> None:
    assert store.call("pop 62 q A 3") == ["R-2"]
    assert len(store.batches) == 1
    assert sorted(store.call("pop 245 q A 3")) == ["R-3", "R-4", "R-5"]
    assert len(store.batches) == 2


def test_a_favourite_and_a_child_are_looked_up_together(store: Store) -> None:
    for now, jid in ((6, "J"), (7, "K")):
        beside(store).call(f"put {now} me q {jid} klass {{}} 0")
    assert store.call("pop 8 q A 1") == ["J"]
    for now, jid in ((62, "K"), (63, "R-2")):
        assert store.call(f"pop {now} q A 1") == [jid]
        assert len(store.batches) == 1


def test_a_job_that_was_not_known_to_wait_is_read_behind_the_heads(store: Store) -> None:
    beside(store).call("put 6 me q J klass {} 0")
    assert store.call("pop 62 q A 1") == ["J"]
    assert [batch.last for batch in store.batches] == [True, True]


def test_a_favourite_that_is_the_child_is_looked_up_once(store: Store) -> None:
    beside(store).call("put 6 me q J klass {} 0 priority 5")
    beside(store).call("put 6 me q R-2 klass {} 0")
    assert store.call("pop 7 q A 1") == ["J"]
    assert store.call("pop 62 q A 1") == ["R-2"]
    assert store.batches[0].reads.count(("HGETALL", KEYS.job("R-2"))) == 1
    assert store.dump()[KEYS.job("R-2")]["spawned_from_jid"] == "R"


def test_where_a_lock_has_expired_the_favourite_is_the_one_that_it_has_kept_waiting() -> None:
    taken = ("config.set 1 grace-period 0", "put 1 me q E klass {} 0", "pop 5 q B 1")
    waiting = (f"put {now} me q {jid} klass {{}} 0" for now, jid in ((6, "J"), (7, "K"), (8, "L")))
    store = began(*taken, *waiting)
    for now, jid in ((66, "E"), (67, "J")):
        assert store.call(f"pop {now} q A 1") == [jid]
    assert len(store.batches) == 1


# -- wrong hints ------------------------------------------------------------------------------------

#: what others do before the run that is expected
MEANWHILE: Final = {
    "nothing": [],
    "others have made it": ["pop 62 q B 1"],
    "others have shown it": ["peek 62 q 1"],
    "others have made several": ["recur.update 6 R interval 1", "pop 62 q B 5"],
    "it is not there any more": ["unrecur 6 R"],
    "it is in another queue": ["recur.update 6 R queue p"],
    "it is due later": ["recur.update 6 R interval 600"],
    "it is another": ["unrecur 6 R", "recur 50 q S klass {} interval 60 0"],
    "another is due before": ["recur 50 q S klass {} interval 60 0"],
    "it begins anew": ["recur 50 q R klass {} interval 60 0 priority 5 retries 3"],
    "it has missed the most": ["recur.update 6 R interval 5", "recur.update 6 R backlog 1"],
    "the queue is paused": ["pause 6 q"],
    "no more may run": ["config.set 6 q-max-concurrency 1"],
    "one more may run": ["config.set 6 q-max-concurrency 2"],
    "another goes first": ["put 6 me q J klass {} 0 priority 9"],
    "others go first": [f"put 6 me q {jid} klass {{}} 0 priority 9" for jid in "JKLM"],
    "a delay is over": ["put 6 me q J klass {} 9 priority 9"],
    "a lock has expired": ["config.set 6 grace-period 0", "timeout 6 R-1", "pop 7 q B 1"],
    "its child waits": ["put 6 me q R-2 klass {} 0"],
    "its child is delayed": ["put 6 me q R-2 klass {} 50"],
    "its child runs": ["put 6 me q R-2 klass {} 0", "pop 7 q B 1"],
    "its child has failed": ["put 6 me q R-2 klass {} 0", "pop 7 q B 1", "fail 8 R-2 B g m"],
    "its child is tracked": ["put 6 me p R-2 klass {} 0", "track 6 track R-2"],
}


@pytest.mark.parametrize("meanwhile", MEANWHILE.values(), ids=MEANWHILE)
@pytest.mark.parametrize("count", [1, 3])
def test_a_hint_changes_nothing(meanwhile: list[str], count: int) -> None:
    seen = []
    for remembers in (True, False):
        store = began(RECUR, remembers=remembers)
        store.call("pop 5 q A 1")
        for words in meanwhile:
            beside(store).call(words)
        seen.append([store.call(f"pop {now} q A {count}") for now in (62, 70, 130)])
        seen.append([store.dump(), store.messages])
    assert seen[:2] == seen[2:]


CALLS: Final = st.sampled_from(
    [
        *("pop {} q A 1", "pop {} q A 1", "pop {} q A 2", "pop {} q B 1", "peek {} q 2"),
        *(
            f"recur {{}} q {jid} klass {{{{}}}} interval {each} 0"
            for jid in "RS"
            for each in (1, 7)
        ),
        *("recur.update {} R interval 3", "recur.update {} S queue p", "unrecur {} R"),
        *("recur {} p S klass {{}} interval 5 2 backlog 1", "pop {} p A 1"),
        *("put {} me q R-3 klass {{}} 0", "put {} me q J klass {{}} 0 priority 1"),
        *(
            "put {} me q K klass {{}} 4",
            "timeout {} R-1",
            "cancel {} R-2",
            "complete {} R-1 A q {{}}",
        ),
    ]
)


@given(st.lists(st.tuples(CALLS, st.booleans(), st.integers(0, 40)), max_size=25))
def test_whoever_remembers_does_as_the_others(calls: list[tuple[str, bool, int]]) -> None:
    told, untold = Store(), Store(remembers=False)
    now = 1
    for words, is_ours, pause in calls:
        now += pause
        replies = []
        for store in (told, untold):
            caller = store if is_ours else beside(store)
            try:
                replies.append(caller.call(words.format(now)))
            except QlessError as error:
                replies.append(str(error))
        assert replies[0] == replies[1]
        assert told.dump() == untold.dump()


def test_who_was_wrong_knows_better_the_next_time(store: Store) -> None:
    assert beside(store).call("pop 62 q B 1") == ["R-2"]
    assert store.call("pop 63 q A 1") == []
    assert len(store.batches) == 1
    assert store.call("pop 122 q A 1") == ["R-3"]
    assert len(store.batches) == 1


def test_who_was_wrong_for_good_looks_for_it_once(store: Store) -> None:
    beside(store).call("unrecur 6 R")
    looks = []
    for now in (62, 63):
        assert store.call(f"pop {now} q A 1") == []
        looks.append(KEYS.recurring_job("R") in store.batches[0].guards)
    assert looks == [True, False]


@pytest.mark.parametrize("moment", [121.0, None])
def test_what_moves_behind_the_heads_is_not_believed(store: Store, moment: float | None) -> None:
    store.pretended = {("ZSCORE", KEYS.recur("q"), "R"): moment}
    with pytest.raises(Stale):
        store.call("pop 62 q A 1")
    assert len(store.batches) == 2


def test_a_child_that_is_another_is_read_behind_its_parent(store: Store) -> None:
    store.keyspace.write(("HSET", KEYS.recurring_job("R"), "count", "7"))
    assert store.call("pop 62 q A 1") == ["R-8"]
    assert len(store.batches) == 2
    assert store.call("pop 122 q A 1") == ["R-9"]
    assert len(store.batches) == 1


def test_who_waits_for_its_turn_expects_nothing(store: Store) -> None:
    """What is guarded while others act would be in vain."""
    tx = Transaction(62.0, KEYS, 1, store.memory, takes_turns=True)
    batch = next(pop(tx, "q", "A", 1))
    assert batch.turn
    assert KEYS.recurring_job("R") not in batch.guards


# -- damage -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", ["many", "1e3", ""])
def test_of_a_count_that_is_no_number_no_child_is_expected(store: Store, count: str) -> None:
    store.keyspace.write(("HSET", KEYS.recurring_job("R"), "count", count))
    assert store.call("pop 62 q A 1") == []
    store.keyspace.write(("HSET", KEYS.recurring_job("R"), "count", "4"))
    assert store.call("pop 123 q A 1") == ["R-5"]
    assert [batch.last for batch in store.batches] == [False, True]


def test_what_stands_in_the_place_of_a_recurring_job_is_set_aside(store: Store) -> None:
    store.keyspace.write(("DEL", KEYS.recurring_job("R")))
    store.keyspace.write(("LPUSH", KEYS.recurring_job("R"), "x"))
    assert store.call("pop 62 q A 1") == []
    assert store.call("pop 63 q A 1") == []
    assert store.dump()[KEYS.recur("q")] == [["R", "122.0"]]


def test_what_stands_in_the_place_of_a_child_is_reported(store: Store) -> None:
    store.keyspace.write(("LPUSH", KEYS.job("R-2"), "x"))
    assert store.call("pop 62 q A 1") == []
    assert store.call("pop 122 q A 1") == ["R-3"]


# -- what is foreseen -------------------------------------------------------------------------------


def foreseen(store: Store) -> set[object]:
    """What the last call has foreseen that will be read."""
    ahead = store.transactions[0].ahead
    return set() if ahead is None else {*ahead.reads}


@pytest.mark.parametrize(("now", "is_soon"), [(1.5, True), (0.5, False)])
def test_who_finds_nothing_is_foreseen_to_find_what_is_made_soon(
    now: float, *, is_soon: bool
) -> None:
    store = began("recur 1 q R klass {} interval 60 60")
    store.call("pop 0 q A 1")
    assert store.call(f"pop {now} q A 1") == []
    assert (("HGETALL", KEYS.recurring_job("R")) in foreseen(store)) == is_soon


def test_behind_a_completion_the_run_that_is_due_is_foreseen(store: Store) -> None:
    store.call("complete 61 R-1 A q {}")
    seen = foreseen(store)
    assert store.call("pop 62 q A 1") == ["R-2"]
    (batch,) = store.batches
    assert seen >= {*batch.reads}


def test_behind_a_completion_a_run_that_is_not_due_is_not_foreseen(store: Store) -> None:
    store.call("complete 60 R-1 A q {}")
    assert not foreseen(store)
