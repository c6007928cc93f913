# SPDX-License-Identifier: MIT
"""pyqless queues, queue and stats."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from pyqless.cli.histograms import bars
from pyqless.client import Client
from pyqless.core.statistics import BINS
from tests.unit.cli.conftest import Cli

Answer = Callable[..., Any]


def test_queues_are_counted(cli: Cli, answer: Answer, client: Client) -> None:
    client.queues["q"].put("a.B")
    client.queues["q"].put("a.B", delay=60)
    client.queues["other"].put("a.B")
    client.queues["other"].pause()
    states = ("waiting", "running", "stalled", "scheduled", "depends", "recurring")
    found = {counts["name"]: counts for counts in answer("queues")}
    assert [found["q"][state] for state in states] == [1, 0, 0, 1, 0, 0]
    assert [found["other"][state] for state in states] == [1, 0, 0, 0, 0, 0]
    assert (found["q"]["paused"], found["other"]["paused"]) == (False, True)
    rows = [line.split() for line in cli("queues")[1].splitlines()]
    assert rows[1] == ["q", "1", "0", "0", "1", "0", "0"]
    assert rows[2] == ["other", "1", "0", "0", "0", "0", "0", "paused"]


def test_queues_are_paused_and_go_on(cli: Cli, client: Client) -> None:
    client.queues["a"].put("a.B")
    told = "pyqless: no queue named 'b' is known yet\n"
    assert cli("queue pause a b") == (0, "", told)
    assert (client.queues["a"].paused, client.queues["b"].paused) == (True, True)
    assert cli("queue unpause a") == (0, "", "")
    assert (client.queues["a"].paused, client.queues["b"].paused) == (False, True)
    assert cli("queue unpause b") == (0, "", told)
    assert not client.queues["b"].paused


def test_only_an_empty_queue_is_forgotten(cli: Cli, client: Client) -> None:
    jid = client.queues["q"].put("a.B")
    status, _, err = cli("queue forget q")
    assert status == 1
    assert err.startswith("pyqless: ")
    client.jobs.cancel(jid)
    assert cli("queue forget q") == (0, "", "")
    assert client.queues.counts() == []


@pytest.fixture
def day(url: str) -> str:
    """A day on which a job waited for 3 seconds and ran for 2 minutes."""
    moment = datetime(2021, 3, 4, 12, tzinfo=UTC).timestamp()
    now = moment
    with Client(url, clock=lambda: now) as client:
        client.config.set("heartbeat", 600)
        client.queues["q"].put("a.B")
        now = moment + 3
        job = client.queues["q"].pop()
        assert job is not None
        now = moment + 123
        job.complete()
    return "2021-03-04"


def test_a_day_of_a_queue(day: str, cli: Cli, answer: Answer) -> None:
    status, out, _ = cli(f"queue stats q --day {day}")
    assert status == 0
    assert out.splitlines() == [
        "failed 0, failures 0, retries 0",
        "waited: 1 job, mean 3 +- 0 s",
        f"        2 to 5 s |{'#' * 50} 1",
        "ran: 1 job, mean 120 +- 0 s",
        f"      1 to 5 min |{'#' * 50} 1",
    ]
    told = answer(f"queue stats q --day {day}")
    assert (told["wait"]["mean"], told["run"]["mean"], told["failed"]) == (3, 120, 0)
    assert answer("queue stats q")["wait"]["count"] == 0


def test_a_day_of_all_queues(day: str, cli: Cli, answer: Answer) -> None:
    assert answer(f"stats --day {day}")["q"]["run"]["count"] == 1
    row = cli(f"stats --day {day}")[1].splitlines()[1]
    assert row.split() == ["q", "1", "3", "+-", "0", "1", "120", "+-", "0", "0", "0", "0"]


def test_no_day(cli: Cli) -> None:
    status, _, err = cli("stats --day tomorrow")
    assert status == 2
    assert "--day" in err


@pytest.mark.parametrize(("columns", "width"), [(200, 50), (60, 30), (20, 10)])
def test_bars_stand_from_the_first_to_the_last_that_is_there(
    monkeypatch: pytest.MonkeyPatch, columns: int, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    histogram = [0.0] * len(BINS)
    assert list(bars(histogram)) == []
    histogram[BINS.index("s0")] = 100
    histogram[BINS.index("s3")] = histogram[BINS.index("s4")] = 25
    histogram[BINS.index("s9")] = 1
    assert list(bars(histogram)) == [
        f"       below 1 s |{'#' * width} 100",
        "        1 to 2 s | 0",
        f"        2 to 5 s |{'#' * (width // 2)} 50",
        "       5 to 10 s |# 1",
    ]


def test_every_bin_is_drawn() -> None:
    drawn = list(bars([1.0] * len(BINS)))
    assert sum(int(line.rpartition(" ")[2]) for line in drawn) == len(BINS)


@pytest.mark.parametrize("command", ["pause", "unpause", "forget"])
def test_a_name_that_is_none_keeps_all_others_as_they_are(
    cli: Cli, client: Client, command: str
) -> None:
    client.queues["q"].put("a.B", jid="j")
    client.jobs["j"].cancel()
    if command == "unpause":
        client.queues["q"].pause()
    before = client.queues.counts()
    status, out, err = cli(f"queue {command} q ''")
    assert (status, out, err) == (2, "", "pyqless: QUEUE must not be empty: ''\n")
    assert client.queues.counts() == before


def test_a_queue_that_nobody_knows_keeps_all_others_on_the_list(cli: Cli, client: Client) -> None:
    client.queues["q"].put("a.B", jid="j")
    client.jobs["j"].cancel()
    status, _, err = cli("queue forget q nowhere")
    assert (status, err) == (1, "pyqless: no queue named 'nowhere' is known\n")
    assert [counts.name for counts in client.queues.counts()] == ["q"]
