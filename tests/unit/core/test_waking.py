# SPDX-License-Identifier: MIT
"""What wakes those who wait for jobs, and until when they may sleep."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import pytest

from pyqless.conformance import Target
from pyqless.core import completing, dependencies, failures, locks, popping, queues, waking
from pyqless.core.effects import Continue
from pyqless.core.keys import Keys
from pyqless.core.waking import Outlook, announced
from pyqless.storage import Subscription


def put_job(core: Target, jid: str, *options: str, queue: str = "q", delay: str = "0") -> None:
    core.call("put", "50", "w", queue, jid, "klass", "{}", delay, *options)


def run(core: Target, transition: Any, *arguments: Any, now: float = 100) -> Any:
    return core._storage.run(lambda tx: transition(tx, *arguments), now)


@pytest.fixture
def heard(core: Target) -> Subscription:
    """Listen to what wakes."""
    return core._storage.subscribe("ql:py:wake:*")


def woken(heard: Subscription) -> list[str]:
    return [message.channel.removeprefix("ql:py:wake:") for message in heard.drain()]


def test_an_unfailed_job_wakes(core: Target, heard: Subscription) -> None:
    put_job(core, "a")
    core.call("pop", "60", "q", "w", "1")
    core.call("fail", "60", "a", "w", "group", "message")
    assert woken(heard) == []

    core._storage.run(announced(partial(failures.unfail, queue="to", group="group", count=5)))
    assert woken(heard) == ["to"]


def test_a_timeout_and_the_end_of_a_pause_wake(core: Target, heard: Subscription) -> None:
    put_job(core, "a")
    core.call("pop", "60", "q", "w", "1")
    core._storage.run(announced(partial(locks.timeout, jids=["a"])), 60)
    assert woken(heard) == ["q"]
    core._storage.run(announced(partial(queues.unpause, names=["q", "p"])))
    assert woken(heard) == ["q", "p"]


def test_those_that_are_let_go_wake_in_their_own_queue(core: Target, heard: Subscription) -> None:
    put_job(core, "a")
    put_job(core, "b", "depends", '["a"]', queue="p")
    core.call("pop", "60", "q", "w", "1")
    # a chain behind the completion, too, must keep its announcements
    core.call("config.set", "60", "jobs-history-count", "0")
    complete: Any = partial(completing.complete, jid="a", worker="w", queue="q", data="{}")
    assert core._storage.run(announced(complete), 61) == "complete"
    assert woken(heard) == ["p"]


def test_what_brings_nothing_in_wakes_nobody(core: Target, heard: Subscription) -> None:
    put_job(core, "a")
    pop: Any = partial(popping.pop, queue="q", worker="w", count=1)
    core._storage.run(announced(pop), 60)
    assert woken(heard) == []
    put_job(core, "b", "depends", '["a"]')
    off = partial(dependencies.depends, jid="b", command="off", others=["a"])
    core._storage.run(announced(off), 60)
    assert woken(heard) == ["q"]


def test_each_link_of_a_chain_is_announced(core: Target, heard: Subscription) -> None:
    def second(tx: Any) -> Any:
        tx.zadd(tx.keys.work("two"), 1, "j")
        return "done"
        yield

    def first(tx: Any) -> Any:
        tx.zadd(tx.keys.recur("one"), 1, "j")
        return Continue(second)
        yield

    assert core._storage.run(announced(first)) == "done"
    assert woken(heard) == ["one", "two"]


def test_housekeeping_behind_a_call_is_announced(core: Target, heard: Subscription) -> None:
    for number in range(5):
        put_job(core, f"j{number}")
    for number in range(5):
        core.call("pop", "60", "q", "w", "1")
        core.call("complete", "60", f"j{4 - number}", "w", "q", "{}")
    core.call("config.set", "60", "jobs-history-count", "0")
    put_job(core, "a")
    core.call("pop", "60", "q", "w", "1")
    complete: Any = partial(completing.complete, jid="a", worker="w", queue="q", data="{}")
    assert core._storage.run(announced(complete), 61) == "complete"
    assert woken(heard) == []
    assert "ql:completed" not in core.snapshot()


@pytest.mark.parametrize("key", ["ql:q:q-locks", "ql:j:q-work", "other"])
def test_other_keys_are_no_queue(key: str) -> None:
    assert Keys().queue_of(key, "-work", "-recur") is None


# -- the outlook ------------------------------------------------------------------------------


def test_nothing_to_do_and_nothing_to_come(core: Target) -> None:
    assert run(core, waking.outlook, "q") == Outlook(ready=False, due=math.inf)


def test_the_first_of_delay_recurrence_and_lock_is_next(core: Target) -> None:
    put_job(core, "a")
    core.call("pop", "60", "q", "w", "1")
    assert run(core, waking.outlook, "q") == Outlook(ready=False, due=120.0)
    put_job(core, "b", delay="65")
    assert run(core, waking.outlook, "q") == Outlook(ready=False, due=115.0)
    core.call("recur", "50", "q", "rec", "klass", "{}", "interval", "60", "60")
    assert run(core, waking.outlook, "q") == Outlook(ready=False, due=110.0)
    assert run(core, waking.outlook, "q", now=110).ready


def test_a_waiting_job_can_be_had_unless_the_queue_is_paused(core: Target) -> None:
    put_job(core, "a")
    assert run(core, waking.outlook, "q").ready
    core.call("pause", "60", "q")
    assert run(core, waking.outlook, "q") == Outlook(ready=False, due=math.inf)


def test_a_limit_on_running_jobs_is_seen(core: Target) -> None:
    assert not run(core, waking.is_limited, "q")
    core.call("config.set", "60", "q-max-concurrency", "3")
    assert run(core, waking.is_limited, "q")
