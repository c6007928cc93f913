# SPDX-License-Identifier: MIT
"""The rules of the janitor."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from pyqless.conformance import Target
from pyqless.core import cleaning, presence
from pyqless.core.cleaning import Days
from pyqless.core.effects import Transition
from pyqless.core.keys import Keys
from pyqless.core.keyspace import Keyspace
from pyqless.core.transaction import Transaction
from tests.unit.core.examples import content as content_of

DAY = 86400


def content(core: Target) -> dict[str, Any]:
    snapshot = core.snapshot()
    return {key: content_of(snapshot, key) for key in snapshot}


@pytest.fixture
def run(core: Target) -> Callable[..., Any]:
    """Run a rule at a moment."""

    def run(rule: Callable[..., Any], now: float = 100.0, **arguments: Any) -> Any:
        return core._storage.run(partial(rule, **arguments), now)

    return run


def put(core: Target, jid: str, *options: str, now: int = 100) -> None:
    core.call("put", str(now), "w", "q", jid, "klass", "{}", "0", *options)


def write(core: Target, *commands: tuple[Any, ...]) -> None:
    """Do what no client does."""

    def transition(tx: Transaction) -> Transition[None]:
        tx.writes += commands
        return
        yield

    core._storage.run(transition)


Run = Callable[..., Any]


# -- what there is ----------------------------------------------------------------------------


def test_what_there_is(core: Target, run: Run) -> None:
    put(core, "J", "tags", '["blue", "2"]')
    core.call("pop", "100", "q", "w", "1")
    assert run(cleaning.known_queues) == ["q"]
    assert run(cleaning.known_workers) == ["w"]
    assert run(cleaning.known_tags) == ["2", "blue"]


def test_old_workers(core: Target, run: Run) -> None:
    core.call("pop", "-5", "q", "never", "1")
    core.call("pop", "100", "q", "old", "1")
    core.call("pop", "200", "q", "new", "1")
    core.call("config.set", "200", "max-worker-age", "50")
    assert run(cleaning.old_workers, now=210.0) == ["old"]


# -- statistics -------------------------------------------------------------------------------


def seen(core: Target, moment: int) -> None:
    """Let a queue be seen, and have statistics of that day and the next."""
    for day in (moment, moment + DAY):
        put(core, f"J{day}", now=day)
        core.call("pop", str(day), "q", "w", "1")


def test_statistics_are_kept_for_as_long_as_is_set(core: Target, run: Run) -> None:
    seen(core, 10 * DAY + 5)
    core.call("config.set", "0", "stats-history", "3")
    days = run(cleaning.statistics_days, now=14 * DAY + 1.0, queue="q")
    # the histograms are kept for seven days, so for longer than all the rest
    assert days == Days(10 * DAY, 11 * DAY, 11 * DAY)
    assert run(cleaning.clean_statistics, queue="q", days=days.old, dry=True) == 1
    assert f"ql:s:wait:{10 * DAY}:q" in content(core)
    assert run(cleaning.clean_statistics, queue="q", days=days.old) == 1
    assert f"ql:s:wait:{10 * DAY}:q" not in content(core)
    assert f"ql:s:wait:{11 * DAY}:q" in content(core)
    assert run(cleaning.clean_statistics, queue="q", days=days.old) == 0


def test_thirty_days_unless_anything_is_set_and_seven_of_histograms(core: Target, run: Run) -> None:
    seen(core, 10 * DAY)
    days = run(cleaning.statistics_days, now=41.5 * DAY, queue="q")
    assert days == Days(10 * DAY, 11 * DAY, 34 * DAY)
    assert days.old == range(10 * DAY, 11 * DAY, DAY)
    assert list(days.shapeless) == [day * DAY for day in range(11, 34)]


def test_of_a_histogram_that_is_too_old_the_numbers_stay(core: Target, run: Run) -> None:
    seen(core, 10 * DAY)
    core.call("complete", str(10 * DAY + 3), f"J{10 * DAY}", "w", "q", "{}")
    before = content(core)
    key = f"ql:s:wait:{10 * DAY}:q"
    assert before[key] == {"total": "1", "mean": "0", "vk": "0", "s0": "1"}
    assert run(cleaning.clean_histograms, queue="q", days=[10 * DAY], dry=True) == 2
    assert content(core) == before
    assert run(cleaning.clean_histograms, queue="q", days=[10 * DAY]) == 2
    assert content(core)[key] == {"total": "1", "mean": "0", "vk": "0"}
    assert content(core)[f"ql:s:run:{10 * DAY}:q"]["total"] == "1"
    assert f"ql:s:wait:{11 * DAY}:q" in content(core)
    assert run(cleaning.clean_histograms, queue="q", days=[10 * DAY]) == 0
    assert run(cleaning.clean_histograms, queue="q", days=[]) == 0


def test_no_days_of_a_queue_that_is_new_or_unknown(core: Target, run: Run) -> None:
    seen(core, 10 * DAY)
    for queue in ("q", "nobody"):
        days = run(cleaning.statistics_days, now=12.0 * DAY, queue=queue)
        assert days.first == days.end
        assert run(cleaning.clean_statistics, queue=queue, days=days.old) == 0


# -- workers ----------------------------------------------------------------------------------


def test_a_worker_keeps_the_jobs_that_it_has(core: Target, run: Run) -> None:
    put(core, "J")
    put(core, "K")
    core.call("pop", "100", "q", "w", "2")
    core.call("timeout", "101", "J")
    assert run(cleaning.drop_worker_entries, worker="w", offset=0, dry=True) == (["J"], 2)
    assert set(content(core)["ql:w:w:jobs"]) == {"J", "K"}
    assert run(cleaning.drop_worker_entries, worker="w", offset=0) == (["J"], 2)
    assert set(content(core)["ql:w:w:jobs"]) == {"K"}
    assert run(cleaning.drop_worker_entries, worker="w", offset=0) == ([], 1)
    assert run(cleaning.drop_worker_entries, worker="nobody", offset=0) == ([], 0)


def test_silent_workers_are_forgotten(core: Target, run: Run) -> None:
    for moment, name in ((100.0, "a"), (200.0, "b")):
        run(presence.announce, now=moment, worker=name, fields={"pid": "1"})
    assert run(cleaning.drop_silent_workers, now=210.0, age=50.0, dry=True) == ["a"]
    assert [word.name for word in run(presence.present)] == ["b", "a"]
    assert run(cleaning.drop_silent_workers, now=210.0, age=50.0) == ["a"]
    assert [word.name for word in run(presence.present)] == ["b"]
    assert run(cleaning.drop_silent_workers, now=210.0, age=50.0) == []


# -- tracked jobs -----------------------------------------------------------------------------


def test_jobs_that_are_gone_are_tracked_no_longer(core: Target, run: Run) -> None:
    assert run(cleaning.clean_tracked, offset=0) == ([], 0)
    for jid in ("J", "K"):
        put(core, jid)
        core.call("track", "100", "track", jid)
    core.call("cancel", "101", "J")
    assert run(cleaning.clean_tracked, offset=0, dry=True) == (["J"], 2)
    assert set(content(core)["ql:tracked"]) == {"J", "K"}
    assert run(cleaning.clean_tracked, offset=0) == (["J"], 2)
    assert set(content(core)["ql:tracked"]) == {"K"}
    assert run(cleaning.clean_tracked, offset=0) == ([], 1)


# -- tags -------------------------------------------------------------------------------------


def test_a_tag_forgets_jobs_that_are_gone_or_do_not_bear_it(core: Target, run: Run) -> None:
    for jid in ("J", "K", "L", "M"):
        put(core, jid, "tags", '["blue"]')
    write(
        core,
        ("DEL", "ql:j:J"),
        ("HSET", "ql:j:K", "tags", "[]"),
        ("HSET", "ql:j:L", "tags", "no json"),
    )
    assert run(cleaning.clean_tag, tag="blue", offset=0, dry=True) == (["J", "K"], 4)
    assert content(core)["ql:tags"] == {"blue": 4.0}
    assert run(cleaning.clean_tag, tag="blue", offset=0) == (["J", "K"], 4)
    assert set(content(core)["ql:t:blue"]) == {"L", "M"}
    assert content(core)["ql:tags"] == {"blue": 2.0}
    assert run(cleaning.clean_tag, tag="blue", offset=0) == ([], 2)


def test_a_tag_that_was_given_twice_counts_once(core: Target, run: Run) -> None:
    put(core, "J")
    core.call("tag", "100", "add", "J", "blue")
    core.call("tag", "100", "add", "J", "blue")
    assert content(core)["ql:tags"] == {"blue": 2.0}
    run(cleaning.clean_tag, tag="blue", offset=0)
    assert content(core)["ql:tags"] == {"blue": 1.0}


def test_a_tag_that_nobody_bears_is_counted_no_longer(core: Target, run: Run) -> None:
    put(core, "J", "tags", '["blue"]')
    core.call("cancel", "101", "J")
    assert content(core)["ql:tags"] == {"blue": 0.0}
    assert run(cleaning.clean_tag, tag="blue", offset=0) == ([], 0)
    assert "ql:tags" not in content(core)


def test_a_tag_that_is_not_counted_stays_so(core: Target, run: Run) -> None:
    put(core, "J", "tags", '["blue"]')
    write(core, ("DEL", "ql:tags"))
    assert run(cleaning.clean_tag, tag="blue", offset=0) == ([], 1)
    assert "ql:tags" not in content(core)


def test_a_tag_is_counted_once_all_its_pages_are_seen(core: Target, run: Run) -> None:
    for number in range(150):
        put(core, f"J{number:03}", "tags", '["blue"]', now=100 + number)
    write(core, ("ZADD", "ql:tags", 7.0, "blue"))
    assert run(cleaning.clean_tag, tag="blue", offset=0) == ([], 100)
    assert content(core)["ql:tags"] == {"blue": 7.0}
    assert run(cleaning.clean_tag, tag="blue", offset=100) == ([], 50)
    assert content(core)["ql:tags"] == {"blue": 150.0}


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("blue", ["blue"]),
        ("2", ["2"]),
        ("0x10", ["0x10"]),
        ("0.10000000000000001", ["0.10000000000000001", "0.1"]),
    ],
)
def test_under_which_texts_a_tag_is_found(name: str, texts: list[str]) -> None:
    assert cleaning.indexes(name) == texts


def test_a_tag_that_is_a_number_is_found_by_the_text_of_the_index(core: Target, run: Run) -> None:
    put(core, "J", "tags", "[0.1, 2]")
    put(core, "K", "tags", '["0.1", "2"]')
    put(core, "L", "tags", "[0.1, 2]")
    counts = {"0.1": 1.0, "0.10000000000000001": 2.0, "2": 3.0}
    assert {name: content(core)["ql:tags"][name] for name in counts} == counts
    write(core, ("DEL", "ql:j:J"), ("HSET", "ql:j:K", "tags", '[{}, "0.1", "2"]'))
    for tag in ("0.1", "2"):
        assert run(cleaning.clean_tag, tag=tag, offset=0, dry=True) == (["J"], 3)
        assert run(cleaning.clean_tag, tag=tag, offset=0) == (["J"], 3)
        assert set(content(core)[f"ql:t:{tag}"]) == {"K", "L"}
    # nothing is found under the long text, but that says nothing about the count
    assert run(cleaning.clean_tag, tag="0.10000000000000001", offset=0) == ([], 0)
    assert {name: content(core)["ql:tags"][name] for name in counts} == counts
    write(core, ("DEL", "ql:j:K"), ("DEL", "ql:j:L"))
    assert run(cleaning.clean_tag, tag="2", offset=0) == (["K", "L"], 2)
    assert "2" not in content(core)["ql:tags"]


# -- dependencies -----------------------------------------------------------------------------


@pytest.fixture
def waiting(core: Target) -> None:
    """Let B wait for A and C."""
    put(core, "A")
    put(core, "C")
    put(core, "B", "depends", '["A", "C"]')


@pytest.mark.usefixtures("waiting")
def test_a_job_that_waits_in_vain_is_let_go(core: Target, run: Run) -> None:
    write(core, ("DEL", "ql:j:A"))
    assert run(cleaning.page_of_depending, queue="q", offset=0) == ["B"]
    assert run(cleaning.mend_dependencies, jid="B", dry=True) == ["A"]
    assert content(core)["ql:j:B-dependencies"] == ["A", "C"]
    assert run(cleaning.mend_dependencies, jid="B") == ["A"]
    assert content(core)["ql:j:B-dependencies"] == ["C"]
    assert content(core)["ql:j:B"]["state"] == "depends"
    write(core, ("HSET", "ql:j:C", "state", "complete"))
    assert run(cleaning.mend_dependencies, jid="B") == ["C"]
    after = content(core)
    assert after["ql:j:B"]["state"] == "waiting"
    assert "B" in after["ql:q:q-work"]
    assert "ql:j:C-dependents" not in after
    assert run(cleaning.page_of_depending, queue="q", offset=0) == []
    assert run(cleaning.mend_dependencies, jid="B") is None


@pytest.mark.usefixtures("waiting")
@pytest.mark.parametrize("delay", ["0", "60"])
def test_a_job_that_waits_for_nothing_is_let_go(core: Target, run: Run, delay: str) -> None:
    if delay != "0":
        write(core, ("HSET", "ql:j:B", "scheduled", "160"))
    write(core, ("DEL", "ql:j:B-dependencies"))
    before = content(core)
    assert run(cleaning.mend_dependencies, jid="B", dry=True) == []
    assert content(core) == before
    assert run(cleaning.mend_dependencies, jid="B") == []
    after = content(core)
    assert after["ql:j:B"]["state"] == ("waiting" if delay == "0" else "scheduled")
    assert "ql:q:q-depends" not in after
    assert run(cleaning.mend_dependencies, jid="B") is None


@pytest.mark.usefixtures("waiting")
def test_a_job_that_waits_for_what_is_there_goes_on_waiting(core: Target, run: Run) -> None:
    assert run(cleaning.mend_dependencies, jid="B") is None
    assert content(core)["ql:j:B-dependencies"] == ["A", "C"]


@pytest.mark.usefixtures("waiting")
def test_a_damaged_job_is_reported_and_left(core: Target, run: Run) -> None:
    write(core, ("DEL", "ql:j:A"), ("HSET", "ql:j:B", "priority", "much"))
    assert run(cleaning.mend_dependencies, jid="B") is None
    assert core._storage.metrics.damaged == 1
    assert content(core)["ql:j:B-dependencies"] == ["A", "C"]


# -- guards -----------------------------------------------------------------------------------


def guards(core: Target, rule: Callable[[Transaction], Transition[Any]]) -> set[str]:
    """Collect the keys that a rule would have watched."""
    keyspace = Keyspace()
    keyspace.load(core.snapshot())
    steps = rule(Transaction(100.0, Keys()))
    watched: set[str] = set()
    batch = next(steps)
    try:
        while True:
            watched.update(batch.guards)
            batch = steps.send([keyspace.read(read) for read in batch.reads])
    except StopIteration:
        return watched


@pytest.mark.usefixtures("waiting")
def test_what_decides_is_guarded(core: Target) -> None:
    """Whoever brings back what is missing, between the look and the commit, makes the janitor look again."""
    core.call("track", "100", "track", "A")
    core.call("tag", "100", "add", "A", "blue")
    core.call("pop", "100", "q", "w", "2")
    write(core, ("DEL", "ql:j:A"))
    cases = (
        (partial(cleaning.mend_dependencies, jid="B"), {"ql:j:A", "ql:j:B", "ql:j:B-dependencies"}),
        (partial(cleaning.clean_tracked, offset=0), {"ql:j:A"}),
        (partial(cleaning.clean_tag, tag="blue", offset=0), {"ql:j:A", "ql:t:blue"}),
        (partial(cleaning.drop_worker_entries, worker="w", offset=0), {"ql:j:A"}),
        (partial(cleaning.drop_silent_workers, age=1.0), {"ql:py:workers"}),
    )
    for rule, keys in cases:
        assert keys <= guards(core, rule), rule
