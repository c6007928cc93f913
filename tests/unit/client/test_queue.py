# SPDX-License-Identifier: MIT
"""Queues: what goes in comes out as handles, and the queue shows what it has."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pyqless import AsyncClient, Client, Queue
from pyqless.core import settings
from pyqless.errors import DataTooLarge, InvalidArgument, InvalidSetting, QueueFull, QueueNotEmpty
from tests.unit.client.moved import MovedClock


class Send:
    """A class to be named."""


def test_a_job_comes_out_as_it_went_in(queue: Queue) -> None:
    jid = queue.put(Send, {"to": ["ann"]}, priority=7, tags=["a", "b"], retries=3)

    job = queue.pop()

    assert job is not None
    assert (job.jid, job.klass_name, job.queue_name) == (jid, f"{__name__}.Send", "mail")
    assert (job.data, job.raw_data) == ({"to": ["ann"]}, '{"to":["ann"]}')
    assert (job.priority, job.tags, job.retries, job.remaining) == (7, ["a", "b"], 3, 3)
    assert (job.state, job.worker_name) == ("running", "ann")


def test_what_is_not_given_is_usual(queue: Queue) -> None:
    queue.put("Send")

    job = queue.peek()

    assert job is not None
    assert (job.data, job.priority, job.tags, job.retries) == (None, 0, [], 5)
    assert (job.state, job.worker_name, job.expires_at) == ("waiting", "", 0)


def test_each_job_has_a_jid_of_its_own(queue: Queue) -> None:
    jids = {queue.put("Send") for _ in range(100)}

    assert len(jids) == 100
    assert all(len(jid) == 32 and int(jid, 16) >= 0 for jid in jids)


def test_a_jid_of_ones_own_makes_a_job_unique(queue: Queue) -> None:
    assert queue.put("Send", 1, jid="once", priority=3) == "once"
    assert queue.put("Send", 2, jid="once") == "once"

    (job,) = queue.pop(5)
    assert (job.data, job.priority) == (2, 3)


def test_a_count_gives_a_list_and_none_gives_a_job_or_nothing(
    queue: Queue, clock: MovedClock
) -> None:
    assert queue.pop() is None
    assert queue.peek() is None
    assert queue.pop(1) == []
    assert queue.peek(1) == []
    queue.put("Send", jid="a")
    clock.move(1)
    queue.put("Send", jid="b")
    assert [job.jid for job in queue.peek(5)] == ["a", "b"]
    assert [job.jid for job in queue.pop(5)] == ["a", "b"]


def test_data_that_is_too_large_is_refused(url: str) -> None:
    with Client(url, max_data_size=10) as client:
        client.queues["mail"].put("Send", "x" * 8)
        with pytest.raises(DataTooLarge):
            client.queues["mail"].put("Send", "x" * 9)
        assert len(client.queues["mail"]) == 1


def test_each_state_has_its_list_and_its_count(queue: Queue, clock: MovedClock) -> None:
    queue.put("Send", jid="stalled")
    queue.pop()
    clock.move(60)
    queue.put("Send", jid="running")
    # the first pop after a lock expired only tells its worker, and gives it the grace period
    queue.pop(2)
    clock.move(11)
    queue.put("Send", jid="scheduled", delay=5)
    queue.put("Send", jid="depends", depends=["scheduled"])
    queue.put("Send", jid="waiting")
    queue.recur("Send", None, 60, jid="recurring", offset=60)

    assert queue.running() == ["running"]
    assert queue.stalled() == ["stalled"]
    assert queue.scheduled() == ["scheduled"]
    assert queue.depends() == ["depends"]
    assert queue.recurring() == ["recurring"]
    assert queue.counts()._asdict() == {
        "name": "mail",
        "waiting": 1,
        "running": 1,
        "stalled": 1,
        "scheduled": 1,
        "depends": 1,
        "recurring": 1,
        "paused": False,
    }
    assert queue.length() == len(queue) == 4


def test_lists_come_in_pages(queue: Queue) -> None:
    for delay in range(1, 31):
        queue.put("Send", jid=str(delay), delay=delay)

    assert len(queue.scheduled()) == 25
    assert queue.scheduled(offset=28) == ["29", "30"]
    assert queue.scheduled(1, 2) == ["2", "3"]


def test_queues_are_counted_in_the_order_of_their_first_job(
    client: Client, clock: MovedClock
) -> None:
    assert list(client.queues) == []
    client.queues["b"].put("Send")
    clock.move(1)
    client.queues["a"].put("Send")
    assert [(counts.name, counts.waiting) for counts in client.queues] == [("b", 1), ("a", 1)]
    assert client.queues.counts() == list(client.queues)


def test_an_empty_queue_is_no_false_one(queue: Queue) -> None:
    assert len(queue) == 0
    assert queue


def test_a_paused_queue_hands_out_nothing(queue: Queue) -> None:
    queue.put("Send")
    queue.pause()
    assert (queue.paused, queue.pop()) == (True, None)
    queue.unpause()
    assert not queue.paused
    assert queue.pop() is not None


def test_a_queue_with_jobs_is_not_forgotten(client: Client, queue: Queue) -> None:
    queue.put("Send")
    with pytest.raises(QueueNotEmpty, match="'mail'") as raised:
        queue.forget()
    assert raised.value.value == 1
    assert [counts.name for counts in client.queues] == ["mail"]


def test_a_queue_with_a_recurring_job_is_not_forgotten(queue: Queue) -> None:
    queue.recur("Send", None, 60, offset=60)
    with pytest.raises(QueueNotEmpty):
        queue.forget()


def test_an_empty_queue_is_forgotten(client: Client, queue: Queue) -> None:
    queue.put("Send", jid="a")
    client.jobs.cancel("a")
    queue.forget()
    assert list(client.queues) == []


def test_failed_jobs_come_back(client: Client, queue: Queue) -> None:
    for jid in ("a", "b"):
        queue.put("Send", jid=jid)
    for job in queue.pop(2):
        job.fail("bounced", "no such address")
    assert client.queues["again"].unfail("bounced", 1) == 1
    assert client.queues["again"].unfail("bounced") == 1
    assert {job.jid for job in client.queues["again"].pop(5)} == {"a", "b"}


def test_times_are_kept_by_the_day(queue: Queue, clock: MovedClock) -> None:
    yesterday = clock.now
    queue.put("Send")
    clock.move(5)
    job = queue.pop()
    assert job is not None
    clock.move(20)
    job.complete()

    stats = queue.stats()

    assert (stats.wait.count, stats.wait.mean) == (1, 5)
    assert (stats.run.count, stats.run.mean) == (1, 20)
    clock.move(86400)
    assert queue.stats().wait.count == 0
    assert queue.stats(yesterday) == queue.stats(date(2014, 5, 13)) == stats


# -- settings of a queue ----------------------------------------------------------------------


def test_a_queue_can_have_a_heartbeat_of_its_own(client: Client, queue: Queue) -> None:
    assert queue.heartbeat is None
    queue.heartbeat = 300
    queue.put("Send")
    job = queue.pop()
    assert job is not None
    assert client.queues["mail"].heartbeat == 300
    assert job.ttl == 300
    del queue.heartbeat
    assert "mail-heartbeat" not in client.config


def test_a_queue_can_limit_how_many_jobs_run(client: Client, queue: Queue) -> None:
    assert queue.max_concurrency is None
    queue.max_concurrency = 1
    for _ in range(2):
        queue.put("Send")
    assert client.queues["mail"].max_concurrency == 1
    assert len(queue.pop(2)) == 1
    del queue.max_concurrency
    assert client.queues["mail"].max_concurrency is None
    assert len(queue.pop(2)) == 1


def test_a_queue_can_limit_how_many_jobs_wait(client: Client, queue: Queue) -> None:
    assert queue.max_waiting is None
    queue.max_waiting = 1
    queue.put("Send")
    assert client.queues["mail"].max_waiting == client.config["mail-max-waiting"] == 1
    with pytest.raises(QueueFull):
        queue.put("Send")
    del queue.max_waiting
    assert client.queues["mail"].max_waiting is None
    queue.put("Send")
    assert len(queue) == 2


@pytest.mark.parametrize("value", [0, -1, "long", None])
def test_a_heartbeat_is_a_number_above_zero(queue: Queue, value: float) -> None:
    with pytest.raises(InvalidArgument, match="mail-heartbeat"):
        queue.heartbeat = value


@pytest.mark.parametrize("name", ["heartbeat", "max_concurrency", "max_waiting"])
async def test_who_sets_nothing_is_told_what_goes_back_to_the_default(
    client: Client, queue: Queue, async_client: AsyncClient, name: str
) -> None:
    assert getattr(queue, name) is None
    with pytest.raises(InvalidArgument, match=rf"^mail-.* cannot be None: del queue\.{name} goes"):
        setattr(queue, name, None)
    setter = getattr(async_client.queues["mail"], f"set_{name}")
    with pytest.raises(InvalidArgument, match=rf"cannot be None: queue\.del_{name}\(\) goes"):
        await setter(None)
    nothing: Any = None
    with pytest.raises(InvalidArgument, match=r"^heartbeat cannot be None: unset\(\) goes"):
        client.config["heartbeat"] = nothing
    with pytest.raises(InvalidArgument, match=r"^heartbeat cannot be None: unset\(\) goes"):
        await async_client.config.set("heartbeat", nothing)
    assert client.storage.metrics.commits == 1


def test_a_heartbeat_that_another_writer_spoilt_is_named(client: Client, queue: Queue) -> None:
    # the rules themselves check a setting when it is used
    client.storage.run(partial(settings.set_, name="mail-heartbeat", value="long"))
    with pytest.raises(InvalidSetting, match="mail-heartbeat"):
        _ = queue.heartbeat


# -- warnings ---------------------------------------------------------------------------------


def test_a_warning_names_the_line_that_put_the_data(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        "import pyqless\n"
        "queue = pyqless.Client('memory://').queues['q']\n"
        "for _ in range(3):\n"
        "    queue.put('k', {'id': 1234567890123456789})\n"
    )
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert run.stderr.count("PrecisionWarning") == 1
    assert f"{script}:4" in run.stderr
