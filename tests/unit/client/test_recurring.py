# SPDX-License-Identifier: MIT
"""Recurring jobs: their settings are live, and count for the jobs that are made next."""

from __future__ import annotations

from typing import Any

import pytest

from pyqless import Client, Queue, RecurringJob
from pyqless.errors import InvalidArgument, RecurringJobNotFound
from tests.unit.client.moved import MovedClock


@pytest.fixture
def hourly(client: Client, queue: Queue) -> RecurringJob:
    """Give a recurring job that is due now."""
    queue.recur("Report", {"n": 1}, 3600, jid="r", priority=2, tags=["a"], retries=3, backlog=1)
    return client.recurring["r"]


def test_a_recurring_job_shows_its_settings(hourly: RecurringJob) -> None:
    assert (hourly.jid, hourly.klass_name, hourly.queue_name) == ("r", "Report", "mail")
    assert (hourly.data, hourly.priority, hourly.tags) == ({"n": 1}, 2, ["a"])
    assert (hourly.interval, hourly.retries, hourly.backlog, hourly.count) == (3600, 3, 1, 0)
    assert repr(hourly) == "<RecurringJob r: Report every 3600 s in 'mail'>"


def test_what_is_not_given_is_usual(client: Client, queue: Queue) -> None:
    job = client.recurring[queue.recur("Report", None, 0.5)]
    assert (job.interval, job.priority, job.tags) == (0.5, 0, [])
    assert (job.retries, job.backlog) == (5, 0)


def test_it_makes_jobs(client: Client, queue: Queue, clock: MovedClock) -> None:
    queue.recur("Report", {"n": 1}, 3600, jid="r", offset=10, priority=2, tags=["a"], retries=3)
    assert queue.pop() is None
    clock.move(10)
    (made,) = queue.pop(5)
    assert (made.jid, made.spawned_from_jid) == ("r-1", "r")
    assert (made.data, made.priority, made.tags, made.retries) == ({"n": 1}, 2, ["a"], 3)
    assert client.recurring["r"].count == 1
    assert client.recurring["r"].last_spawned_jid == "r-1"


def test_a_recurring_job_that_is_not_there(client: Client) -> None:
    assert client.recurring.get("no") is None
    with pytest.raises(RecurringJobNotFound) as raised:
        client.recurring["no"]
    assert (raised.value.argument, raised.value.value) == ("jid", "no")


SETTINGS: list[tuple[str, Any]] = [
    ("klass_name", "Other"),
    ("data", {"n": 2}),
    ("queue_name", "other"),
    ("interval", 0.25),
    ("priority", -5),
    ("retries", 0),
    ("backlog", 0),
]


@pytest.mark.parametrize(("setting", "value"), SETTINGS)
def test_a_setting_is_assigned(
    client: Client, hourly: RecurringJob, setting: str, value: Any
) -> None:
    setattr(hourly, setting, value)
    assert getattr(hourly, setting) == value
    assert getattr(client.recurring["r"], setting) == value


def test_several_settings_change_at_once_or_none(client: Client, hourly: RecurringJob) -> None:
    with pytest.raises(InvalidArgument) as raised:
        hourly.update(priority=9, interval=0)
    assert raised.value.argument == "interval"
    assert client.recurring["r"].priority == 2
    hourly.update(klass=RecurringJob, data=None, queue="other", priority=9)
    assert hourly.klass_name == "pyqless.client.sync.recurring.RecurringJob"
    assert (hourly.data, hourly.queue_name, hourly.priority) == (None, "other", 9)
    assert (hourly.interval, hourly.retries) == (3600, 3)


def test_it_moves_with_its_next_run(client: Client, hourly: RecurringJob, queue: Queue) -> None:
    hourly.queue_name = "other"
    assert queue.pop() is None
    made = client.queues["other"].pop()
    assert made is not None
    assert made.jid == "r-1"


def test_tags_come_and_go(client: Client, hourly: RecurringJob) -> None:
    assert hourly.tag("b", "c") == ["a", "b", "c"]
    assert hourly.untag("a", "b") == ["c"]
    assert hourly.tags == client.recurring["r"].tags == ["c"]


def test_it_ends(client: Client, hourly: RecurringJob, queue: Queue) -> None:
    hourly.cancel()
    assert queue.pop() is None
    assert client.recurring.get("r") is None
    for call in (hourly.refresh, lambda: hourly.tag("x"), lambda: hourly.update(priority=1)):
        with pytest.raises(RecurringJobNotFound):
            call()


def test_what_others_change_shows_after_a_refresh(bob: Client, hourly: RecurringJob) -> None:
    bob.recurring["r"].priority = 7
    assert hourly.priority == 2
    hourly.refresh()
    assert hourly.priority == 7
