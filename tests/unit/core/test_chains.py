# SPDX-License-Identifier: MIT
"""Work without a bound, in chains of transactions that deal with two jobs each, by examples."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from pyqless.conformance import Target
from pyqless.core import batches, completing, letting_go
from pyqless.core.chaining import followed, in_turn
from pyqless.core.effects import Continue, Factory, FollowedBy, Transition
from pyqless.core.keys import Keys
from pyqless.core.keyspace import Keyspace
from pyqless.core.transaction import Transaction
from pyqless.errors import HasDependents, NotRunning
from tests import stepper
from tests.links import bounded_by, links, made
from tests.property.store import Store
from tests.unit.core.examples import run


@pytest.fixture(autouse=True)
def few() -> Iterator[None]:
    with bounded_by(2):
        yield


def do(core: Target, *calls: str) -> None:
    for words in calls:
        run(core, words)


def put(core: Target, *jids: str, delay: int = 0, options: str = "", now: int = 100) -> None:
    for at, jid in enumerate(jids):
        run(core, f"put {now + at} me q {jid} klass {{}} {delay} {options}")


def wait_for(core: Target, parents: str, *jids: str) -> None:
    put(core, *jids, options=f"depends '{json.dumps(parents.split())}'", now=150)


def popped(core: Target, words: str) -> list[str]:
    reply = json.loads(str(run(core, words)))
    return [job["jid"] for job in reply]


def states(core: Target) -> dict[str, str]:
    return {jid: fields["state"] for jid, fields in Store(core.snapshot()).jobs.items()}


def owed(core: Target) -> list[str]:
    """What stands in the record of jobs that are to be let go."""

    def read(tx: Transaction) -> Transition[list[str]]:
        (found,) = yield from tx.read(("LRANGE", tx.keys.letting_go, 0, -1))
        return list(found)

    return core._storage.run(read)


# -- chains -----------------------------------------------------------------------------------


def link(name: str, end: Any) -> Factory[Any]:
    def transition(tx: Transaction) -> Transition[Any]:
        tx.rpush("ql:log", name)
        return end
        yield

    return transition


def test_chains_are_carried_out_in_turn(core: Target) -> None:
    first = link("a", Continue(link("b", "no")))
    assert core._storage.run(in_turn(first, link("c", Continue(link("d", "value"))))) == "value"
    assert core.snapshot()["ql:log"]["value"] == ["a", "b", "c", "d"]


def test_a_value_is_followed_by_what_there_is(core: Target) -> None:
    assert followed("value", None, None) == "value"
    both = followed("value", link("a", None), None, link("b", None))
    assert isinstance(both, FollowedBy)
    assert core._storage.run(link("c", both)) == "value"
    assert core.snapshot()["ql:log"]["value"] == ["c", "a", "b"]


# -- letting go -------------------------------------------------------------------------------


def test_many_dependents_are_let_go_as_of_the_completion(core: Target) -> None:
    put(core, "J")
    do(core, "pop 110 q w 1")
    wait_for(core, "J", "a", "b", "c", "d", "e")
    steps = made(core._storage, "complete 300 J w q {}")
    next(steps)
    assert owed(core) == ['["300","J","c","d"]', '["300","J","e"]']
    assert states(core) == {
        "J": "complete",
        "a": "waiting",
        "b": "waiting",
        **dict.fromkeys("cde", "depends"),
    }
    assert popped(core, "pop 400 nothing v 1") == []
    assert set(dict(core.snapshot()["ql:q:q-work"]["value"]).values()) == {str(-300 / 1e10)}
    assert owed(core) == []
    assert len(list(steps)) == 1  # finds that it has been done


def test_many_completions_at_once_let_no_more_go_than_one(core: Target) -> None:
    put(core, "J", "K", "L")
    do(core, "pop 110 q w 3")
    wait_for(core, "J", "a")
    wait_for(core, "K", "b", "c")
    wait_for(core, "L", "d")
    calls = [
        partial(completing.complete, jid=jid, worker="w", queue="q", data="{}") for jid in "JKL"
    ]
    steps = links(core._storage, batches.together(calls, size=3), 300)
    next(steps)
    assert [states(core)[jid] for jid in "JKLabcd"] == ["complete"] * 3 + ["waiting"] * 2 + [
        "depends"
    ] * 2
    list(steps)
    assert [states(core)[jid] for jid in "abcd"] == ["waiting"] * 4


def test_a_job_that_waits_for_something_else_by_now_goes_on_waiting(core: Target) -> None:
    put(core, "J", "K")
    do(core, "pop 110 q w 1")
    wait_for(core, "J", "a", "b", "c", "d", "e", "f")
    steps = made(core._storage, "complete 300 J w q {}")
    next(steps)
    do(core, "depends 310 c on K", "depends 310 d on K", "depends 310 d off J", "cancel 310 e")
    # the job is put again, and f is told to wait for it anew
    do(core, "put 320 me q J klass {} 0", "depends 330 f on J")
    list(steps)
    assert states(core) == {
        **dict.fromkeys(["J", "K", "a", "b"], "waiting"),
        **dict.fromkeys("cdf", "depends"),
    }
    assert Store(core.snapshot()).dependencies == {"c": {"K"}, "d": {"K"}, "f": {"J"}}


def test_damaged_sets_are_passed_over(core: Target) -> None:
    put(core, "J")
    do(core, "pop 110 q w 1")
    wait_for(core, "J", "a", "b", "c", "d")
    steps = made(core._storage, "complete 300 J w q {}")
    next(steps)

    def damage(tx: Transaction) -> Transition[None]:
        tx.delete(tx.keys.dependencies("c"))
        tx.rpush(tx.keys.dependencies("c"), "J")
        tx.rpush(tx.keys.dependents("J"), "d")
        return
        yield

    core._storage.run(damage)
    list(steps)
    assert states(core)["c"] == "depends"
    assert states(core)["d"] == "waiting"
    assert core.damaged == 1


def test_who_meets_a_conflict_leaves_it_to_others(core: Target) -> None:
    def after_a_conflict(tx: Transaction) -> Transition[Any]:
        return (yield from letting_go.take_up()(Transaction(tx.now, tx.keys, 1)))

    put(core, "J")
    do(core, "pop 110 q w 1")
    wait_for(core, "J", "a", "b", "c")
    next(made(core._storage, "complete 300 J w q {}"))
    assert core._storage.run(after_a_conflict) is None
    assert len(owed(core)) == 1


def test_a_pop_does_not_spend_its_callers_time_on_all_of_it(core: Target) -> None:
    put(core, "J")
    do(core, "pop 110 q w 1")
    wait_for(core, "J", *(f"c{number}" for number in range(30)))
    next(made(core._storage, "complete 300 J w q {}"))
    assert len(owed(core)) == 14
    assert popped(core, "pop 400 nothing v 1") == []
    assert len(owed(core)) == 4
    assert popped(core, "pop 400 nothing v 1") == []
    assert owed(core) == []


def test_who_waits_for_jobs_is_told(core: Target) -> None:
    put(core, "J")
    do(core, "pop 110 q w 1")
    wait_for(core, "J", "a", "b", "c", "d", "e")
    next(made(core._storage, "complete 300 J w q {}"))
    with core._storage.subscribe(Keys().wake("*")) as ear:
        core._storage.run(letting_go.take_up())
        assert ear.drain() == [("ql:py:wake:q", "")] * 2


#: a job with three dependents, and the batches after which its completion has read those of the second link
WAITED_FOR = ("put 100 me q J klass {} 0", "put 100 me q K klass {} 0", "pop 110 q w 2")
READ = 4


def others_come(words: str, *meanwhile: str, unguarded: tuple[str, ...] = ()) -> Keyspace:
    """Complete J while others act in the middle of the second link, and some guards are forgotten."""
    keyspace = Keyspace()
    dependents = [f"""put 120 me q {jid} klass {{}} 0 depends '["J"]'""" for jid in "ab"]
    for given in (*WAITED_FOR, *dependents, words):
        assert not isinstance(stepper.run(keyspace, given), Exception)
    running = stepper.begin(keyspace, "complete 300 J w q {}", unguarded=unguarded)
    running.step(READ)
    for other in meanwhile:
        assert not isinstance(stepper.run(keyspace, other), Exception)
    assert running.finish() == "complete"
    return keyspace


@pytest.mark.parametrize(
    ("unguarded", "state"), [((), "waiting"), (("ql:j:c-dependencies",), "depends")]
)
def test_two_last_parents_at_once_let_a_job_go(unguarded: tuple[str, ...], state: str) -> None:
    """Without the guard on what it waits for, both see that the other is left."""
    keyspace = others_come(
        """put 120 me q c klass {} 0 depends '["J","K"]'""",
        "complete 210 K w q {}",
        unguarded=unguarded,
    )
    assert keyspace.dump()["ql:j:c"]["value"]["state"] == state


@pytest.mark.parametrize(
    ("unguarded", "state"), [((), "depends"), (("ql:j:J-dependents",), "waiting")]
)
def test_a_job_that_is_told_anew_at_that_moment_waits(
    unguarded: tuple[str, ...], state: str
) -> None:
    """Without the guard on the jobs that wait anew, it is let go while J runs again."""
    keyspace = others_come(
        """put 120 me q c klass {} 0 depends '["J"]'""",
        *("put 310 me q J klass {} 0", "depends 320 c on J"),
        unguarded=unguarded,
    )
    assert keyspace.dump()["ql:j:c"]["value"]["state"] == state


def test_an_entry_that_others_have_struck_off_voids_the_attempt() -> None:
    """Else the next one would be struck off, that nobody has dealt with."""
    keyspace = Keyspace()
    keyspace.write(("RPUSH", "ql:py:letting-go", '["300","J","a"]', '["300","J","b"]'))
    batch = next(letting_go.let_more_go(Transaction(400, Keys())))
    assert batch.guards == ["ql:py:letting-go"]
    seen = keyspace.versions["ql:py:letting-go"]
    stepper.run(keyspace, "pop 400 nothing v 1")
    assert keyspace.versions.get("ql:py:letting-go") != seen


# -- cancelling -------------------------------------------------------------------------------


def canceled(core: Target) -> list[str]:
    messages = [json.loads(data) for channel, data in core.recorded() if channel == "ql:log"]
    return [message["jid"] for message in messages if message["event"] == "canceled"]


@pytest.mark.parametrize(
    ("given", "order"),
    [
        ("x y a b p", "x y a b p"),
        ("p x a y b", "a b p x y"),
        ("b x p x a", "b x a p x"),
        ("p a p b a", "a b p p a"),
        ("r x s y", "s r x y"),
        ("nobody p a b", "nobody a b p"),
    ],
)
def test_those_that_wait_go_before_what_they_wait_for(core: Target, given: str, order: str) -> None:
    put(core, "p", "x", "y", "r")
    wait_for(core, "p", "a", "b")
    wait_for(core, "r", "s")
    do(core, "put 170 me q r klass {} 0 depends '[\"s\"]'")
    core.record()
    assert run(core, f"cancel 200 {given}") == given.split()
    assert canceled(core) == order.split()
    assert states(core).keys().isdisjoint(given.split())


def test_none_is_cancelled_where_another_job_waits(core: Target) -> None:
    put(core, "x", "y", "p")
    wait_for(core, "p", "a")
    before = core.snapshot()
    with pytest.raises(core.error) as caught:
        run(core, "cancel 200 x y p")
    words = "Cancel(): p is a dependency of a but is not mentioned to be canceled"
    assert str(caught.value) == words
    assert core.snapshot() == before


def test_who_puts_a_dependent_meanwhile_ends_the_chain(core: Target) -> None:
    put(core, "x", "y", "p")
    steps = made(core._storage, "cancel 200 x y p")
    next(steps)
    wait_for(core, "p", "a")
    with pytest.raises(HasDependents):
        next(steps)
    assert states(core) == {"p": "waiting", "a": "depends"}


def test_many_are_looked_at_page_by_page(core: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyqless.core.cancelling.PAGE", 2)
    monkeypatch.setattr("pyqless.core.timing_out.PAGE", 2)
    put(core, *"abcde")
    do(core, "pop 110 q w 3", "timeout 200 a b c", "cancel 210 e d c b a")
    assert states(core) == {}


def test_failures_of_a_large_group_are_struck_off_one_by_one(
    core: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(core, *"abcdefgh")
    do(core, "pop 110 q w 5", *(f"fail 120 {jid} w g text" for jid in "abcde"))
    monkeypatch.setattr("pyqless.core.cancelling.LOOKS", 4)
    assert len(list(made(core._storage, "cancel 200 a f b g h"))) == 4
    assert Store(core.snapshot()).groups == {"g": ["e", "d", "c"]}


# -- taking running jobs ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("jids", "words"),
    [
        ("a b c x", "Timeout(): Job x not running"),
        ("a b c nobody", "Timeout(): Job nobody does not exist"),
        ("a b c a", "Timeout(): Job a not running"),
    ],
)
def test_none_is_taken_where_one_does_not_run(core: Target, jids: str, words: str) -> None:
    put(core, "a", "b", "c", "x")
    do(core, "pop 110 q w 3")
    before = core.snapshot()
    with pytest.raises(core.error) as caught:
        run(core, f"timeout 200 {jids}")
    assert str(caught.value) == words
    assert core.snapshot() == before


def test_who_completes_a_job_meanwhile_ends_the_chain_of_timeouts(core: Target) -> None:
    put(core, "a", "b", "c")
    do(core, "pop 110 q w 3")
    steps = made(core._storage, "timeout 200 a b c")
    next(steps)
    do(core, "complete 210 c w q {}")
    with pytest.raises(NotRunning):
        next(steps)
    assert states(core) == {"a": "stalled", "b": "stalled", "c": "complete"}


# -- unfailing --------------------------------------------------------------------------------


@pytest.fixture
def five_failed(core: Target) -> Target:
    put(core, *"abcde")
    do(core, "pop 110 q w 5", *(f"fail 120 {jid} w g text" for jid in "abcde"))
    return core


@pytest.mark.parametrize(
    ("count", "moved", "left"),
    [(3, "abc", "ed"), (9, "abcde", ""), (-2, "abc", "ed"), (-5, "", "edcba"), (-9, "", "edcba")],
)
def test_the_oldest_failures_are_put_back(
    five_failed: Target, count: int, moved: str, left: str
) -> None:
    assert run(five_failed, f"unfail 200 other g {count}") == len(moved)
    store = Store(five_failed.snapshot())
    assert {jid for jid, job in store.jobs.items() if job["queue"] == "other"} == set(moved)
    assert store.groups.get("g", []) == list(left)
    assert ("ql:failures" in five_failed.snapshot()) == bool(left)


def test_no_failures_at_all_are_put_back(core: Target) -> None:
    assert run(core, "unfail 200 other g -3") == 0
    assert run(core, "unfail 200 other g 3") == 0


def test_a_damaged_failure_is_looked_at_once(five_failed: Target) -> None:
    def damage(tx: Transaction) -> Transition[None]:
        tx.hset(tx.keys.job("b"), "priority", "high")
        return
        yield

    five_failed._storage.run(damage)
    assert run(five_failed, "unfail 200 other g 9") == 4
    assert Store(five_failed.snapshot()).groups["g"] == ["b"]
    assert five_failed.damaged == 1


# -- popping ----------------------------------------------------------------------------------


def test_many_are_popped_in_the_order_of_one_pop(core: Target) -> None:
    put(core, *"abcde")
    put(core, "s", "t", "u", delay=50, options="priority 1")
    assert popped(core, "pop 200 q w 7") == ["u", "t", "s", "a", "b", "c", "d"]
    assert popped(core, "pop 200 q w 7") == ["e"]


def test_one_recurring_job_comes_after_the_other(core: Target) -> None:
    do(core, "recur 100 q r klass {} interval 10 0", "recur 101 q s klass {} interval 10 0")
    assert popped(core, "pop 130 q w 5") == ["r-1", "s-1", "r-2", "r-3", "r-4"]
    # as from the core: all of r, and then as many of s as are left
    assert core.snapshot()["ql:r:s"]["value"]["count"] == "1"


def test_an_interval_with_fractions_is_gone_through_once(core: Target) -> None:
    """The core cuts the fraction off the first run that a call makes, and only off that."""
    do(core, "recur 100 q r klass {} interval 0.5 0")
    assert popped(core, "pop 101 q w 9") == ["r-1", "r-2", "r-3"]
    assert core.snapshot()["ql:q:q-recur"]["value"] == [["r", "101.5"]]


def test_a_recurring_job_that_is_gone_meanwhile_makes_none(core: Target) -> None:
    do(core, "recur 100 q r klass {} interval 10 0", "recur 101 q s klass {} interval 100 0")
    do(core, "recur 102 q t klass {} interval 100 0")
    steps = made(core._storage, "pop 111 q w 9")
    next(steps)
    do(core, "unrecur 111 s", "recur 111 q t klass {} interval 100 50")
    list(steps)
    assert states(core) == {"r-1": "running", "r-2": "running"}


def test_expired_locks_come_first(core: Target) -> None:
    put(core, *"abcdefg")
    do(core, "pop 110 q w 5", "config.set 110 q-heartbeat 500")
    # the workers of five are told, two others wait
    assert popped(core, "pop 200 q v 6") == ["f", "g"]
    assert popped(core, "pop 300 q v 4") == ["a", "b", "c", "d"]
    assert popped(core, "pop 300 q v 4") == ["e"]


def test_locks_that_expire_as_they_are_made_are_met_once(core: Target) -> None:
    put(core, *"abc")
    do(core, "config.set 90 grace-period 0", "pop 110 q w 3", "config.set 110 heartbeat 0")
    assert popped(core, "pop 300 q v 3") == ["a", "b", "c"]


def test_a_limit_holds_in_each_link(core: Target) -> None:
    put(core, *"abcdefghi")
    do(core, "pop 110 q w 4", "config.set 110 q-max-concurrency 6")
    # four are given more time, which does not count for this call
    steps = made(core._storage, "pop 200 q v 9")
    next(steps)
    next(steps)
    list(steps)
    assert list(states(core).values()).count("running") == 9
    assert popped(core, "pop 201 q v 9") == []


def test_a_limit_that_others_have_reached_meanwhile_ends_the_chain(core: Target) -> None:
    put(core, *"abcdefghi")
    do(core, "config.set 110 q-max-concurrency 4")
    steps = made(core._storage, "pop 200 q v 9")
    next(steps)
    assert popped(core, "pop 200 q u 1") == ["c"]
    list(steps)
    assert list(states(core).values()).count("running") == 4


def test_a_limit_that_is_reached_leaves_expired_locks_alone(core: Target) -> None:
    put(core, *"abcdef")
    do(core, "pop 110 q w 3", "config.set 110 q-max-concurrency 3", "config.set 110 grace-period 0")
    steps = made(core._storage, "pop 200 q v 9")
    next(steps)
    assert popped(core, "pop 200 q u 1") == ["c"]
    list(steps)
    held = [job["worker"] for _, job in sorted(Store(core.snapshot()).jobs.items())]
    assert held == ["v", "v", "u", "", "", ""]


@pytest.mark.parametrize("meanwhile", ["pause 210 q", "config.set 210 heartbeat none"])
def test_what_is_in_hand_is_given_whatever_comes(core: Target, meanwhile: str) -> None:
    put(core, *"abcde")
    steps = made(core._storage, "pop 200 q w 5")
    next(steps)
    do(core, meanwhile)
    list(steps)
    assert list(states(core).values()) == ["running"] * 2 + ["waiting"] * 3


def test_nothing_is_popped_of_a_paused_queue(core: Target) -> None:
    put(core, *"abc")
    do(core, "pause 110 q")
    assert popped(core, "pop 200 q w 5") == []


def test_nothing_is_popped_where_the_limit_is_reached(core: Target) -> None:
    put(core, *"abc")
    do(core, "config.set 110 q-max-concurrency 1", "pop 110 q w 1")
    assert popped(core, "pop 111 q w 5") == []


def test_damaged_jobs_do_not_keep_the_others_back(core: Target) -> None:
    put(core, *"abcde")

    def damage(tx: Transaction) -> Transition[None]:
        for jid in "abc":
            tx.hset(tx.keys.job(jid), "failure", "{")
        return
        yield

    core._storage.run(damage)
    assert popped(core, "pop 200 q w 3") == ["d", "e"]
    assert popped(core, "pop 200 q w 3") == []


def test_a_pop_of_many_takes_up_a_broken_chain(core: Target) -> None:
    put(core, "J")
    do(core, "pop 110 q w 1")
    wait_for(core, "J", "a", "b", "c")
    next(made(core._storage, "complete 300 J w q {}"))
    assert popped(core, "pop 300 q w 9") == ["b", "a"]
    assert owed(core) == []
    assert states(core)["c"] == "waiting"
