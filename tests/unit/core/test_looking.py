# SPDX-License-Identifier: MIT
"""Looks that write nothing, and walks through all there is."""

from __future__ import annotations

from typing import Any

import pytest

from pyqless.conformance import Target
from pyqless.core import looking, popping, queues, walking
from pyqless.core.looking import Cursor
from pyqless.core.models import Job


def run(core: Target, transition: Any, *arguments: Any, now: float = 100) -> Any:
    return core._storage.run(lambda tx: transition(tx, *arguments), now)


def put(core: Target, jid: str, *options: str, delay: str = "0", queue: str = "q") -> None:
    core.call("put", "50", "w", queue, jid, "klass", "{}", delay, *options)


@pytest.fixture
def busy(core: Target) -> Target:
    """Give a core with a job in each place, one of them delayed until 60."""
    for number in range(3):
        put(core, f"w{number}")
    put(core, "due", delay="10")
    put(core, "later", delay="500")
    put(core, "d", "depends", '["w0"]')
    core.call("recur", "50", "q", "rec", "klass", "{}", "interval", "60", "20")
    put(core, "r", "priority", "8")
    put(core, "x", "priority", "7")
    core.call("config.set", "50", "q-heartbeat", "20")
    core.call("pop", "50", "q", "w", "1")
    core.call("config.unset", "50", "q-heartbeat")
    core.call("pop", "51", "q", "w", "1")
    return core


def test_counts_are_those_that_the_core_gives_once_it_has_put_things_in_order(
    busy: Target,
) -> None:
    before = busy.snapshot()

    looked = run(busy, looking.counts, "q")
    everywhere = run(busy, looking.all_counts)
    assert busy.snapshot() == before

    assert looked == run(busy, queues.counts, "q")
    assert everywhere == run(busy, queues.all_counts)
    assert run(busy, looking.counts, "nowhere").waiting == 0


def test_no_queue_no_counts(core: Target) -> None:
    assert run(core, looking.all_counts) == []


def test_a_peek_without_writes_shows_what_a_pop_would_give(busy: Target) -> None:
    before = busy.snapshot()
    peek = looking.without_writes(lambda tx: popping.peek(tx, "q", 20))

    shown = [job.jid for job in busy._storage.run(peek, 100)]
    assert busy.snapshot() == before

    assert shown == [job.jid for job in run(busy, popping.peek, "q", 20)]
    assert {"due", "rec-1"} <= set(shown)


def test_lists_of_waiting_and_delayed_jobs(busy: Target) -> None:
    assert run(busy, looking.waiting, "q", 0, 2) == ["w2", "w1"]
    assert run(busy, looking.waiting, "q", 2, 2) == ["w0"]
    assert run(busy, looking.scheduled, "q", 0, 5) == ["later"]


def test_the_next_run_of_a_recurring_job(busy: Target) -> None:
    assert run(busy, looking.next_run, "rec") == 70.0
    assert run(busy, looking.next_run, "nobody") is None
    busy.call("unrecur", "60", "rec")
    assert run(busy, looking.next_run, "rec") is None


@pytest.mark.parametrize("count", [1, 2, 3, 100])
def test_all_entries_of_a_set_come_once(core: Target, count: int) -> None:
    for number in range(7):
        put(core, f"w{number}", "priority", str(number // 3))
    cursor: Cursor | None = Cursor()
    found = []
    while cursor is not None:
        page = run(core, looking.entries, "ql:q:q-work", cursor, count)
        found += page.jids
        cursor = page.rest

    assert found == ["w6", "w5", "w4", "w3", "w2", "w1", "w0"]


def test_what_stays_in_its_place_is_not_missed_when_others_leave(core: Target) -> None:
    for number in range(6):
        put(core, f"w{number}", "priority", str(number))
    first = run(core, looking.entries, "ql:q:q-work", Cursor(), 2)
    core.call("cancel", "60", *first.jids)

    second = run(core, looking.entries, "ql:q:q-work", first.rest, 10)
    assert first.jids + second.jids == ["w5", "w4", "w3", "w2", "w1", "w0"]


def test_a_walk_meets_every_job(busy: Target) -> None:
    busy.call("fail", "60", "x", "w", "group", "message")
    put(busy, "c", queue="other")
    busy.call("pop", "60", "other", "w", "1")
    busy.call("complete", "60", "c", "w", "other", "{}")
    met: list[Job] = []
    stages = run(busy, walking.everywhere).rest
    while stages:
        step = run(busy, walking.step, stages, 1)
        met += step.jobs
        stages = step.rest

    assert sorted(job.jid for job in met) == sorted(
        ["w0", "w1", "w2", "due", "later", "d", "r", "x", "c"]
    )


def test_a_walk_through_a_queue_keeps_to_its_states(busy: Target) -> None:
    stages = tuple(walking.stages_of(busy._storage.keys, "q", ("depends", "scheduled")))
    first = run(busy, walking.step, stages, 10)
    second = run(busy, walking.step, first.rest, 10)
    assert [job.jid for job in first.jobs + second.jobs] == ["later", "due", "d"]
    assert second.rest == ()
