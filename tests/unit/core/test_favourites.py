# SPDX-License-Identifier: MIT
"""The job that pop reads together with the heads, since it will probably go next."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyqless.core import busyness
from pyqless.core.keys import Keys
from pyqless.core.transaction import Stale, Transaction
from tests.unit.core.remembering import Store

KEYS = Keys()


def fill(store: Store, *jids: str, priority: float = 0) -> None:
    for number, jid in enumerate(jids):
        store.call(f"put {number} me q {jid} klass {{}} 0 priority {priority}")


@pytest.fixture
def store() -> Store:
    """J has been handed out; K, L and M wait, and K will go next."""
    store = Store()
    fill(store, "J", "K", "L", "M")
    store.call("pop 10 q A 1")
    return store


def test_a_favourite_is_handed_out_after_one_batch_of_reads(store: Store) -> None:
    assert store.call("pop 11 q A 1") == ["K"]
    assert len(store.batches) == 1
    assert store.call("pop 12 q A 1") == ["L"]
    assert len(store.batches) == 1


def test_all_that_hangs_on_a_favourite_is_guarded(store: Store) -> None:
    store.call("pop 11 q A 1")
    (batch,) = store.batches
    wanted = {KEYS.job("K"), KEYS.history("K"), KEYS.config, KEYS.paused}
    assert wanted <= {*batch.guards}


@pytest.mark.parametrize(
    ("meanwhile", "expected"),
    [
        ("pop 11 q B 1", "L"),
        ("cancel 11 K", "L"),
        ("put 11 me q K klass {} 0", "L"),
        ("put 11 me q H klass {} 0 priority 7", "H"),
        ("put 11 me q K klass {} 60", "L"),
    ],
)
def test_another_goes_where_the_favourite_does_not_go_first(
    store: Store, meanwhile: str, expected: str
) -> None:
    others = Store()
    others.keyspace = store.keyspace
    others.call(meanwhile)
    assert store.call("pop 12 q A 1") == [expected]
    assert len(store.batches) == 2


def test_who_was_wrong_does_without_a_favourite_for_a_while(store: Store) -> None:
    fill(store, *(f"N{number}" for number in range(20)))
    store.call("cancel 11 K")
    numbers = []
    for now in range(12, 24):
        store.call(f"pop {now} q A 1")
        numbers.append(len(store.batches))
    assert numbers == [2] + 8 * [2] + 3 * [1]


def test_several_jobs_have_no_favourite(store: Store) -> None:
    assert store.call("pop 11 q A 2") == ["K", "L"]
    assert len(store.batches) == 2


def test_a_damaged_favourite_is_set_aside(store: Store) -> None:
    store.keyspace.write(("HSET", KEYS.job("K"), "priority", "inf"))
    assert store.call("pop 11 q A 1") == ["L"]
    store.keyspace.write(("DEL", KEYS.job("M")))
    assert store.call("pop 12 q A 1") == []
    store.keyspace.write(("DEL", KEYS.job("K")))
    store.keyspace.write(("LPUSH", KEYS.job("K"), "x"))
    assert store.call("pop 80 q A 1") == []


def test_a_paused_queue_hands_out_no_favourite(store: Store) -> None:
    store.call("pause 11 q")
    assert store.call("pop 12 q A 1") == []
    store.call("unpause 13 q")
    assert store.call("pop 14 q A 1") == ["K"]


@pytest.mark.parametrize(
    "due", ["put 1 me q D klass {} 5 priority 9", "recur 1 q D klass {} interval 60 5 priority 9"]
)
def test_what_is_due_goes_before_a_favourite(store: Store, due: str) -> None:
    store.call(due)
    (jid,) = store.call("pop 12 q A 1")
    assert jid.startswith("D")
    assert store.call("pop 13 q A 1") == ["K"]


@pytest.mark.parametrize("chances", [(0.0, 0.9), (0.5, 0.1), (0.9, 0.0)])
def test_in_a_busy_queue_a_favourite_is_taken_wherever_it_stands(
    chances: tuple[float, float],
) -> None:
    store = Store()
    fill(store, *(f"J{number}" for number in range(16)))
    store.call("pop 20 q A 1", conflicts=1, chance=chances[0])
    store.call("pop 20.5 q A 1", chance=chances[1])
    assert len(store.batches) == 1


@pytest.mark.parametrize("score", [-7.0, None])
def test_a_favourite_that_moves_behind_the_heads_is_not_believed(
    store: Store, score: float | None
) -> None:
    store.pretended = {("ZSCORE", KEYS.work("q"), "K"): score}
    with pytest.raises(Stale):
        store.call("pop 11 q A 1")


@given(
    st.lists(st.sampled_from([0, 0, 0, 5]), min_size=1, max_size=12),
    st.floats(0, 1, exclude_max=True),
    st.floats(0, 1, exclude_max=True),
)
def test_in_a_busy_queue_a_favourite_is_one_of_the_best(
    priorities: list[int], first: float, second: float
) -> None:
    store = Store()
    for number, priority in enumerate(priorities):
        store.call(f"put {number} me q J{number} klass {{}} 0 priority {priority}")
    busyness.notice(Transaction(20.0, KEYS, 1, store.memory), "q")
    waiting = {f"J{number}": priority for number, priority in enumerate(priorities)}
    for now, chance in ((20, first), (20.5, second), (21, first)):
        handed = store.call(f"pop {now} q A 1", chance=chance)
        assert len(handed) == min(1, len(waiting))
        for jid in handed:
            assert waiting[jid] == max(waiting.values())
            del waiting[jid]
