# SPDX-License-Identifier: MIT
"""pyqless tag, track and recur."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pyqless.client import Client
from tests.unit.cli.conftest import Cli

Answer = Callable[..., Any]


def test_tags_come_and_go(cli: Cli, answer: Answer, client: Client) -> None:
    for jid in ("a", "b"):
        client.queues["q"].put("a.B", jid=jid)
    assert cli("tag add a red blue") == (0, "red\nblue\n", "")
    assert answer("tag remove a blue") == ["red"]
    assert client.jobs["a"].tags == ["red"]
    assert answer("tag top") == []
    assert answer("tag add b red") == ["red"]
    assert answer("tag top") == ["red"]


def test_tags_of_recurring_jobs(answer: Answer, client: Client) -> None:
    client.queues["q"].recur("a.B", None, 60, jid="r")
    assert answer("tag add r red blue --recurring") == ["red", "blue"]
    assert answer("tag remove r red --recurring") == ["blue"]
    assert client.recurring["r"].tags == ["blue"]


def test_jobs_are_tracked(cli: Cli, answer: Answer, client: Client) -> None:
    for jid in ("a", "b"):
        client.queues["q"].put("a.B", jid=jid)
    assert cli("track add a b") == (0, "", "")
    assert client.jobs["a"].tracked
    client.jobs["b"].cancel()
    assert cli("track list")[1].splitlines()[1].startswith("a ")
    cli("track remove a")
    assert not client.jobs["a"].tracked
    assert answer("track list")["jobs"] == []


@pytest.mark.parametrize("line", ["tag add x red", "tag remove x red", "track add x"])
def test_marks_want_a_job(cli: Cli, line: str) -> None:
    status, out, err = cli(line)
    assert (status, out) == (1, "")
    assert "'x'" in err
    assert err.count("\n") == 1


def test_recurring_jobs(cli: Cli, answer: Answer, client: Client) -> None:
    line = """recur put q a.B 15m '{"n": 1}' --jid r -t red --backlog 2 --offset 60"""
    assert cli(line)[:2] == (0, "r\n")
    job = client.recurring["r"]
    assert (job.interval, job.data, job.tags, job.backlog) == (900, {"n": 1}, ["red"], 2)

    (listed,) = answer("recur list")
    shown = answer("recur show r")
    assert listed == shown
    assert (shown["jid"], shown["queue"], shown["count"]) == ("r", "q", 0)
    assert 0 < shown["next"] - client.storage.clock() <= 60
    assert cli("recur list q")[1].splitlines()[1].split()[:5] == ["r", "q", "a.B", "900", "s"]
    assert "interval    900" in cli("recur show r")[1].splitlines()

    assert cli("recur update r --every 1h --data [] --queue p --class c.D") == (0, "", "")
    job.refresh()
    assert (job.interval, job.data, job.queue_name, job.klass_name) == (3600, [], "p", "c.D")

    assert cli("recur cancel r") == (0, "", "")
    assert client.recurring.get("r") is None
    assert cli("recur show r")[0] == 1
    assert cli("recur cancel r")[0] == 1


def test_a_recurring_job_is_told_to_machines(answer: Answer) -> None:
    assert answer("recur put q a.B 60 --jid r") == {"jid": "r", "queue": "q"}


def test_a_recurring_job_meets_one_of_its_jid(cli: Cli, client: Client) -> None:
    assert cli("recur put q a.B 60 --jid r --on-conflict error")[0] == 0
    assert cli("recur put q a.B 90 --jid r --on-conflict keep")[:2] == (0, "r\n")
    status, _, told = cli("recur put q a.B 90 --jid r --on-conflict error")
    assert (status, told) == (1, "pyqless: there is a recurring job 'r' already\n")
    assert client.recurring["r"].interval == 60
    jids = {cli("recur put q a.B 60 --unique")[1] for _ in range(2)}
    assert len(jids) == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("recur put q a.B soon", "is no span"),
        ("recur put q a.B 0", "SPAN"),
        ("recur put q a.B 60 {", "is no JSON"),
        ("recur update r --data {", "--data"),
    ],
)
def test_wrong_usage(cli: Cli, client: Client, line: str, words: str) -> None:
    client.queues["q"].recur("a.B", None, 60, jid="r")
    status, _, err = cli(line)
    assert status == 2
    assert words in err


@pytest.mark.parametrize("command", ["add", "remove"])
def test_a_job_that_is_not_there_keeps_all_others_as_they_are(
    cli: Cli, client: Client, command: str
) -> None:
    job = client.jobs[client.queues["q"].put("a.B", jid="j")]
    if command == "remove":
        job.track()
    status, out, err = cli(f"track {command} j nowhere")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert "'nowhere'" in err
    assert client.jobs["j"].tracked is (command == "remove")


@pytest.mark.parametrize(
    ("line", "document"),
    [
        ("queue pause q", {"queues": ["q"]}),
        ("queue unpause q", {"queues": ["q"]}),
        ("queue forget empty", {"queues": ["empty"]}),
        ("track add j", {"jids": ["j"]}),
        ("track remove j", {"jids": ["j"]}),
        ("config set heartbeat 90", {"name": "heartbeat", "value": 90}),
        ("config unset heartbeat", {"name": "heartbeat"}),
        ("recur update r --every 2m --backlog 1", {"jid": "r", "interval": 120.0, "backlog": 1}),
        ("recur cancel r", {"jids": ["r"]}),
    ],
)
def test_what_people_are_told_nothing_of_machines_are_told(
    cli: Cli, answer: Answer, client: Client, line: str, document: dict[str, Any]
) -> None:
    def fill() -> None:
        client.queues["q"].put("a.B", jid="j")
        client.queues["q"].recur("a.B", None, 60, jid="r")
        client.queues["empty"].put("a.B", jid="gone")
        client.jobs["gone"].cancel()

    fill()
    assert cli(line) == (0, "", "")
    fill()
    assert answer(line) == document
