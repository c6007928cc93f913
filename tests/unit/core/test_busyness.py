# SPDX-License-Identifier: MIT
"""Busy queues: they are known by their conflicts; pop picks among equals there, and samples are deferred."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyqless.core import busyness
from pyqless.core.completing import complete
from pyqless.core.keys import Keys
from pyqless.core.places import work_score
from pyqless.core.popping import pop
from pyqless.core.statistics import fold
from pyqless.core.transaction import Transaction
from tests.unit.core.remembering import Store

WAIT, RUN = "ql:s:wait:0:q", "ql:s:run:0:q"
PENDING: Final = Keys().pending
PENDINGS: Final = Keys().pendings


@pytest.fixture
def store() -> Store:
    return Store()


def transaction(store: Store, now: float = 10.0, conflicts: int = 0) -> Transaction:
    return Transaction(now, Keys(), conflicts, store.memory)


def busy(store: Store, now: float = 10.0, conflicts: int = 1) -> None:
    """Let a queue be busy."""
    for number in range(1, conflicts + 1):
        busyness.notice(transaction(store, now, number), "q")


def fill(store: Store, *jids: str, priority: float = 0) -> None:
    """Let jobs wait, the first put first."""
    for number, jid in enumerate(jids):
        store.call(f"put {1 + number / 1000} me q {jid} klass {{}} 0 priority {priority}")


def names(count: int, letter: str = "J") -> list[str]:
    return [f"{letter}{number:03}" for number in range(count)]


# -- what is remembered -----------------------------------------------------------------------------


def test_a_queue_is_busy_for_a_while_after_a_conflict(store: Store) -> None:
    assert not busyness.is_busy(transaction(store), "q")
    busy(store, 10.0)
    assert busyness.is_busy(transaction(store, 11.9), "q")
    assert not busyness.is_busy(transaction(store, 11.9), "other")
    assert not busyness.is_busy(transaction(store, 12.0), "q")


def test_an_attempt_without_a_conflict_is_no_sign(store: Store) -> None:
    busyness.notice(transaction(store), "q")
    assert store.memory == {}


def test_each_conflict_widens_the_choice_up_to_an_end(store: Store) -> None:
    spreads = []
    for number in range(6):
        spreads.append(busyness.spread(transaction(store), "q"))
        busyness.notice(transaction(store, conflicts=number + 1), "q")
    assert spreads == [1, 16, 32, 64, 128, 128]


def test_the_choice_is_narrow_again_after_a_quiet_time(store: Store) -> None:
    busy(store, 10.0, conflicts=4)
    busy(store, 20.0)
    assert busyness.spread(transaction(store, 20.0), "q") == 16


@pytest.mark.parametrize("count", [0, 1, 15])
def test_who_pops_from_a_queue_where_few_stand_level_waits_for_its_turn(
    store: Store, count: int
) -> None:
    fill(store, *names(count))
    busy(store)
    assert turn(store) is None
    popped(store, 0.0)
    assert turn(store) == Keys().turn("q")
    assert turn(store, takes_turns=False) is None


def test_who_waits_for_its_turn_has_no_favourite_and_looks_whether_turns_are_needed(
    store: Store,
) -> None:
    fill(store, *names(3))
    busy(store)
    assert len(popped(store, 0.0)) == 1
    batch = next(pop(in_turn(store), "q", "A", 1))
    assert batch.turn == Keys().turn("q")
    assert ("ZREVRANGE", Keys().work("q"), 0, 15, "WITHSCORES") in batch.reads
    assert not any(read[0] == "HGETALL" for read in batch.reads)


@pytest.mark.parametrize("count", [17, 40])
def test_nobody_waits_where_there_are_many_to_choose_from(store: Store, count: int) -> None:
    fill(store, *names(count))
    busy(store)
    popped(store, 0.0)
    assert turn(store) is None


def test_turns_end_where_many_stand_level_again(store: Store) -> None:
    busy(store)
    popped(store, 0.0)
    assert turn(store) is not None
    assert busyness.choice(in_turn(store), "q", [("J", 0.0)] * 15) == 15
    assert turn(store) is not None
    assert busyness.choice(in_turn(store), "q", [("J", 0.0)] * 16) == 16
    assert turn(store) is None


def test_who_has_met_a_conflict_waits_for_its_turn(store: Store) -> None:
    fill(store, *names(40))
    busy(store)
    popped(store, 0.0)
    tx = Transaction(10.0, Keys(), 1, store.memory, takes_turns=True)
    assert busyness.turn(tx, "q") == Keys().turn("q")


def test_turns_end_with_the_crowd(store: Store) -> None:
    fill(store, "J", "K")
    busy(store)
    popped(store, 0.0)
    assert turn(store, now=11.9) == Keys().turn("q")
    assert turn(store, now=12.0) is None


def test_peek_neither_waits_nor_tells_how_many_there_are(store: Store) -> None:
    fill(store, *names(40))
    busy(store, 20.0)
    store.call("peek 20 q 1")
    assert turn(store) is None


def in_turn(store: Store, now: float = 11.0) -> Transaction:
    return Transaction(now, Keys(), 0, store.memory, takes_turns=True)


def turn(store: Store, *, now: float = 10.0, takes_turns: bool = True) -> str | None:
    tx = Transaction(now, Keys(), 0, store.memory, takes_turns=takes_turns)
    return busyness.turn(tx, "q")


def test_where_nobody_can_come_between_nothing_is_busy() -> None:
    forgetful = Store(remembers=False)
    busy(forgetful)
    assert not busyness.is_busy(transaction(forgetful), "q")
    assert [busyness.seldom(transaction(forgetful), "what", 3) for _ in range(4)] == [True] * 4


def test_seldom_is_the_first_time_and_every_so_manieth(store: Store) -> None:
    times = [busyness.seldom(transaction(store), "what", 3) for _ in range(7)]
    assert times == [True, False, False, True, False, False, True]
    assert busyness.seldom(transaction(store), "something else", 3)


# -- which jobs are level with the head -------------------------------------------------------------

MOMENTS = st.floats(1.7e9, 1.7e9 + 86400)
PRIORITIES = st.one_of(
    st.integers(-3, 3).map(float),
    st.integers(-30, 30).map(lambda number: number / 10),
    st.sampled_from([-1e15, -0.5, -1e-3, 0.25, 0.26, 1e9]),
)


@given(st.lists(st.tuples(PRIORITIES, MOMENTS), min_size=1, max_size=20))
def test_level_with_the_head_are_the_jobs_of_its_priority(jobs: list[tuple[float, float]]) -> None:
    """Fractional priorities, too: the core takes any number."""
    scores = [
        (str(number), work_score(priority, moment))
        for number, (priority, moment) in enumerate(jobs)
    ]
    work = sorted(scores, key=lambda entry: -entry[1])
    priorities = {jid: jobs[int(jid)][0] for jid, _ in work}
    highest = priorities[work[0][0]]
    level = work[: busyness.level(work)]
    assert [jid for jid, _ in level] == [jid for jid, _ in work if priorities[jid] == highest]


@pytest.mark.parametrize("score", [math.inf, -math.inf])
def test_what_was_set_aside_is_level_with_nothing(score: float) -> None:
    """A damaged job stands at the far end."""
    assert busyness.level([("J", score), ("K", score)]) == 1


def test_a_head_is_not_level_with_what_was_set_aside() -> None:
    assert busyness.level([("J", 1.0), ("K", -math.inf)]) == 1


# -- pop --------------------------------------------------------------------------------------------


def popped(store: Store, chance: float, count: int = 1) -> list[str]:
    found: list[str] = store.call(f"pop 10 q worker {count}", chance=chance)
    return found


@pytest.mark.parametrize("chance", [0.0, 0.5, 0.999999])
def test_a_quiet_queue_hands_out_the_head(store: Store, chance: float) -> None:
    fill(store, *names(20))
    assert popped(store, chance) == ["J000"]


@pytest.mark.parametrize(
    ("conflicts", "chance", "expected"),
    [
        (1, 0.0, "J000"),
        (1, 0.5, "J008"),
        (1, 0.999999, "J015"),
        (2, 0.999999, "J031"),
        (9, 0.999999, "J127"),
    ],
)
def test_a_busy_queue_hands_out_one_of_the_first(
    store: Store, conflicts: int, chance: float, expected: str
) -> None:
    fill(store, *names(140))
    busy(store, conflicts=conflicts)
    assert popped(store, chance) == [expected]


@pytest.mark.parametrize(("waiting", "count"), [(3, 1), (3, 2), (3, 3), (3, 4), (1, 1), (20, 5)])
@pytest.mark.parametrize("chance", [0.0, 0.4, 0.999999])
def test_as_many_are_handed_out_as_there_are(
    store: Store, waiting: int, count: int, chance: float
) -> None:
    fill(store, *names(waiting))
    busy(store)
    found = popped(store, chance, count)
    assert len(found) == min(waiting, count)
    first = names(waiting).index(found[0])
    assert found == names(waiting)[first : first + count], "among themselves, in order"


@pytest.mark.parametrize("chance", [0.0, 0.5, 0.999999])
def test_a_busy_queue_passes_no_job_of_higher_priority(store: Store, chance: float) -> None:
    fill(store, *names(20))
    fill(store, "H0", "H1", priority=1)
    busy(store)
    assert popped(store, chance)[0].startswith("H")
    assert popped(store, chance)[0].startswith("H")
    assert popped(store, chance)[0].startswith("J")


@given(
    jobs=st.lists(PRIORITIES, min_size=1, max_size=30),
    count=st.integers(1, 5),
    chance=st.floats(0, 1, exclude_max=True),
    conflicts=st.integers(0, 3),
)
def test_nobody_is_passed_by_one_of_lower_priority(
    jobs: Sequence[float], count: int, chance: float, conflicts: int
) -> None:
    store = Store()
    for number, priority in enumerate(jobs):
        store.call(f"put {1700000000 + number} me q {number} klass {{}} 0 priority {priority!r}")
    now = 1700001000.0
    busy(store, now, conflicts)
    handed = store.call(f"pop {now} q worker {count}", chance=chance)
    assert len(handed) == min(count, len(jobs))
    left = [jobs[number] for number in range(len(jobs)) if str(number) not in handed]
    assert all(jobs[int(jid)] >= max(left, default=-math.inf) for jid in handed)


def test_what_is_due_joins_the_jobs_that_were_chosen(store: Store) -> None:
    fill(store, *names(20))
    store.call("put 1 me q D klass {} 5 priority 1")
    busy(store)
    assert popped(store, 0.999999) == ["D"]


def test_a_lock_that_has_expired_comes_first_as_ever(store: Store) -> None:
    store.call("config.set 0 grace-period 0")
    fill(store, *names(20))
    store.call("pop 2 q other 1")
    busy(store, 100.0)
    assert store.call("pop 100 q worker 1", chance=0.9) == ["J000"]


def test_all_that_wait_are_handed_out_in_order(store: Store) -> None:
    """A negative count, as the core takes it: all but so many."""
    fill(store, *names(5))
    busy(store)
    assert popped(store, 0.9, -1) == names(5)[:-1]


# -- samples ----------------------------------------------------------------------------------------


def warm(store: Store) -> None:
    """Let those of the crowd who tidy up have come already."""
    fill(store, "first", "second")
    busy(store)
    for jid in ("first", "second"):
        popped(store, 0.0)
        store.call(f"complete 10 {jid} worker q {{}}")
    store.run(fold, 10)
    assert (store.dump()[WAIT]["total"], store.dump()[RUN]["total"]) == ("2", "2")


def at_work(store: Store, *, crowded: bool) -> None:
    """A day on which every transaction meets a conflict, or none."""
    fill(store, *names(9))
    for number, jid in enumerate(names(9)):
        now = 10 + number**2
        assert store.call(f"pop {now} q worker 1", conflicts=int(crowded)) == [jid]
        store.call(f"complete {now + number * 1.5} {jid} worker q {{}}", conflicts=int(crowded))


def times(store: Store, kind: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(str(store.call("stats 200 q 100")))[kind]
    return found


def test_a_busy_queue_has_its_samples_deferred(store: Store) -> None:
    warm(store)
    fill(store, "J")
    popped(store, 0.0)
    store.call("complete 11.5 J worker q {}")
    dump = store.dump()
    assert (dump[WAIT]["total"], dump[RUN]["total"]) == ("2", "2")
    assert (dump[PENDING(WAIT)], dump[PENDING(RUN)]) == (["9.0"], ["1.5"])
    assert dump[PENDINGS] == [RUN, WAIT]


def test_where_samples_are_deferred_nothing_of_them_is_read(store: Store) -> None:
    warm(store)
    fill(store, "J")
    popped(store, 0.0)
    read = [read[1] for batch in store.batches for read in batch.reads]
    store.call("complete 11.5 J worker q {}")
    read += [read[1] for batch in store.batches for read in batch.reads]
    assert {"ql:j:J", "ql:config"} < set(read)
    assert not {WAIT, RUN, PENDING(WAIT), PENDING(RUN)} & set(read)


@pytest.mark.parametrize("kind", ["wait", "run"])
def test_statistics_count_deferred_samples_in(kind: str) -> None:
    quiet, crowded = Store(), Store()
    at_work(quiet, crowded=False)
    at_work(crowded, crowded=True)
    shown, expected = times(crowded, kind), times(quiet, kind)
    assert (shown["count"], shown["histogram"]) == (9, expected["histogram"])
    assert shown["mean"] == pytest.approx(expected["mean"])
    assert shown["std"] == pytest.approx(expected["std"])


def test_folding_makes_of_a_crowded_day_a_quiet_one() -> None:
    quiet, crowded = Store(), Store()
    at_work(quiet, crowded=False)
    at_work(crowded, crowded=True)
    crowded.run(fold, 300)
    dump, expected = crowded.dump(), quiet.dump()
    assert dump.keys() == expected.keys()
    for key in (WAIT, RUN):
        found, wanted = dump.pop(key), expected.pop(key)
        assert found.keys() == wanted.keys()
        assert {name: float(text) for name, text in found.items()} == pytest.approx(
            {name: float(text) for name, text in wanted.items()}
        )
    assert dump == expected


def test_the_next_quiet_transaction_enters_what_was_deferred(store: Store) -> None:
    warm(store)
    fill(store, "J", "K")
    popped(store, 0.0)
    assert PENDING(WAIT) in store.dump()
    store.call("pop 20 q worker 1")
    dump = store.dump()
    assert PENDING(WAIT) not in dump
    assert dump[WAIT]["total"] == "4"
    assert (dump[WAIT]["s8"], dump[WAIT]["s9"], dump[WAIT]["s18"]) == ("1", "2", "1")


def deferred(store: Store, key: str, *samples: str) -> None:
    store.keyspace.write(("RPUSH", PENDING(key), *samples))
    store.keyspace.write(("SADD", PENDINGS, key))


def test_many_deferred_samples_are_entered_bit_by_bit(store: Store) -> None:
    deferred(store, WAIT, *["2.0"] * 150)
    fill(store, "J")
    store.call("pop 3 q worker 1")
    left = store.keyspace.read(("LLEN", PENDING(WAIT)))
    assert 0 < left < 150
    assert store.dump()[WAIT]["total"] == str(150 - left + 1)
    assert times(store, "wait")["count"] == 151


def test_folding_enters_all_of_all(store: Store) -> None:
    deferred(store, WAIT, *["2.0"] * 150)
    deferred(store, RUN, *["3.0"] * 64)
    deferred(store, "ql:s:run:86400:q", "4.0")
    store.run(fold, 100)
    dump = store.dump()
    assert {key: value["total"] for key, value in dump.items()} == {
        WAIT: "150",
        RUN: "64",
        "ql:s:run:86400:q": "1",
    }
    assert all(len(tx.writes) < 300 for tx in store.transactions)


def test_folding_where_nothing_is_deferred(store: Store) -> None:
    fill(store, "J")
    before = store.dump()
    assert store.run(fold, 100) is None
    assert store.dump() == before


def test_folding_goes_past_what_is_damaged(store: Store) -> None:
    store.keyspace.write(("HSET", WAIT, "total", "many"))
    deferred(store, WAIT, "2.0")
    store.keyspace.write(("HSET", PENDING(RUN), "field", "text"))
    store.keyspace.write(("SADD", PENDINGS, RUN))
    deferred(store, "ql:s:run:86400:q", "4.0", "no number")
    store.run(fold, 100)
    reports = [fault for tx in store.transactions for fault in tx.reports]
    assert [fault.argument for fault in reports] == [WAIT]
    dump = store.dump()
    assert dump["ql:s:run:86400:q"]["total"] == "2"
    assert PENDINGS not in dump


def test_now_and_then_somebody_in_the_crowd_enters_some(store: Store) -> None:
    """Else they would pile up for as long as the queue is busy."""
    fill(store, *names(70))
    followed = []
    for _ in range(70):
        busy(store)
        popped(store, 0.0)
        followed.append(len(store.transactions) == 2)
    assert followed.index(True) == 0
    assert followed.count(True) > 1
    assert store.keyspace.read(("LLEN", PENDING(WAIT))) < 64
    assert times(store, "wait")["count"] == 70


@pytest.mark.parametrize("rest", ["", " next other"])
@pytest.mark.parametrize("kind", [WAIT, RUN])
def test_samples_do_not_pile_up_however_long_a_queue_is_busy(
    store: Store, rest: str, kind: str
) -> None:
    left = []
    for number in range(300):
        store.call(f"put 1 me q {number} klass {{}} 0")
        busy(store)
        popped(store, 0.0)
        store.call(f"complete 10 {number} worker q {{}}{rest}")
        left.append(store.keyspace.read(("LLEN", PENDING(kind))))
    assert max(left) < 64
    assert store.dump()[kind]["total"] == str(300 - left[-1])


def test_a_pop_that_finds_nothing_enters_nothing(store: Store) -> None:
    busy(store)
    assert popped(store, 0.0) == []
    assert len(store.transactions) == 1


@pytest.mark.parametrize("sample", [9 * 86400.0, -2.0])
def test_a_deferred_sample_without_a_bin_that_is_shown(store: Store, sample: float) -> None:
    """C11: it is counted, and stands in no bin of stats, deferred or not."""
    deferred(store, WAIT, repr(sample))
    shown = times(store, "wait")
    assert (shown["count"], shown["mean"], sum(shown["histogram"])) == (1, sample, 0)
    store.run(fold, 100)
    assert times(store, "wait") == shown


# -- completed jobs that are too old ----------------------------------------------------------------


def test_a_busy_queue_leaves_old_jobs_to_few(store: Store) -> None:
    store.call("config.set 0 jobs-history-count 3")
    fill(store, *names(40))
    store.call("pop 2 q worker 40")
    sizes = []
    for jid in names(40):
        busy(store)
        store.call(f"complete 10 {jid} worker q {{}}")
        sizes.append(store.keyspace.read(("ZCARD", "ql:completed")))
    assert max(sizes) > 3
    assert any(later < earlier for earlier, later in pairwise(sizes))
    store.call("put 50 me q last klass {} 0")
    store.call("pop 51 q worker 1")
    store.call("complete 52 last worker q {}")
    assert store.keyspace.read(("ZCARD", "ql:completed")) == 3


def test_in_a_busy_queue_old_jobs_go_behind_the_commit(store: Store) -> None:
    store.call("config.set 0 jobs-history-count 0")
    fill(store, "J")
    store.call("pop 2 q worker 1")
    busy(store)
    store.run(partial(complete, jid="J", worker="worker", queue="q", data="{}"), 10)
    assert len(store.transactions) == 2
    first, rest = ([write[:2] for write in tx.writes] for tx in store.transactions)
    assert ("DEL", "ql:j:J") not in first
    assert ("DEL", "ql:j:J") in rest


def test_jobs_that_wait_for_one_that_is_completed_in_a_busy_queue(store: Store) -> None:
    fill(store, "J")
    store.call("""put 2 me q C klass {} 0 depends '["J"]'""")
    store.call("pop 2 q worker 1")
    busy(store)
    assert store.call("complete 10 J worker q {}") == "complete"
    assert store.call("pop 10 q worker 1") == ["C"]
