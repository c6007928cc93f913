# SPDX-License-Identifier: MIT
"""pyqless put, pop and peek."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pyqless.client import Client
from tests.unit.cli.conftest import Cli

Answer = Callable[..., Any]


def test_a_job_is_put(cli: Cli, client: Client) -> None:
    status, out, err = cli(
        """put q a.B '{"n": 1}' --jid j -p 3 -t red -t blue --delay 60 --retries 2"""
    )
    assert (status, out, err) == (0, "j\n", "")
    job = client.jobs["j"]
    assert (job.klass_name, job.data, job.queue_name) == ("a.B", {"n": 1}, "q")
    assert (job.priority, job.tags, job.state, job.retries) == (3, ["red", "blue"], "scheduled", 2)


def test_the_data_may_come_from_stdin(answer: Answer, client: Client) -> None:
    told = answer("put q a.B -", given='["Zoë"]')
    assert told.keys() == {"jid", "queue"}
    assert client.jobs[told["jid"]].data == ["Zoë"]


def test_without_data_there_is_an_empty_object(answer: Answer, client: Client) -> None:
    assert client.jobs[answer("put q a.B")["jid"]].data == {}


def test_a_job_for_each_line(cli: Cli, client: Client) -> None:
    status, out, _ = cli("put q a.B --lines --json", given='{"n": 1}\n\n{"n": 2}\n')
    assert status == 0
    jids = [json.loads(line)["jid"] for line in out.splitlines()]
    assert [client.jobs[jid].data["n"] for jid in jids] == [1, 2]


def test_nothing_is_put_if_a_line_is_no_json(cli: Cli, client: Client) -> None:
    status, out, err = cli("put q a.B --lines", given="1\n{")
    assert (status, out) == (2, "")
    assert "line 2" in err
    assert len(client.queues["q"]) == 0


def test_a_unique_job_is_there_once(answer: Answer, client: Client) -> None:
    line = """put q a.B '{"n": 1}' --unique"""
    assert answer(line) == answer(line)
    assert len(client.queues["q"]) == 1


def test_a_jid_that_is_taken(cli: Cli) -> None:
    cli("put q a.B --jid j")
    status, out, err = cli("put q a.B --jid j --on-conflict error")
    assert (status, out) == (1, "")
    assert err.startswith("pyqless: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("put q a.B {", "is no JSON"),
        ("put q a.B --lines --jid j", "does not go with --lines"),
        ("put q a.B --retries -1", "retries"),
        ("put '' a.B", "name"),
        ("pop q --count 0", "--count"),
    ],
)
def test_wrong_usage(cli: Cli, line: str, words: str) -> None:
    status, out, err = cli(line)
    assert (status, out) == (2, "")
    assert words in err


def test_jobs_are_shown_and_taken(cli: Cli, answer: Answer, client: Client) -> None:
    client.queues["q"].put("a.B", {"n": 1}, jid="j", priority=1)
    client.queues["q"].put("a.B", {"n": 2}, jid="k")
    assert [job["jid"] for job in answer("peek q -n 5")] == ["j", "k"]
    assert client.jobs["j"].state == "waiting"

    (popped,) = answer("pop q --worker me")
    assert (popped["jid"], popped["state"], popped["worker"]) == ("j", "running", "me")

    status, out, _ = cli("pop q")
    assert status == 0
    assert out.splitlines()[0].split() == [
        *("jid", "state", "queue", "class", "priority", "age", "tags", "data")
    ]
    assert out.splitlines()[1].split()[:5] == ["k", "running", "q", "a.B", "0"]


@pytest.mark.parametrize("command", ["pop", "peek"])
def test_where_there_is_nothing_the_answer_is_no(cli: Cli, answer: Answer, command: str) -> None:
    assert cli(f"{command} q") == (1, "", "")
    assert answer(f"{command} q", status=1) == []


def test_what_would_steer_a_terminal_is_shown(cli: Cli, client: Client) -> None:
    client.queues["q"].put("a.B\x1b[2J", "\n", jid="j")
    _, out, _ = cli("peek q")
    assert "a.B\\x1b[2J" in out
    assert "\x1b" not in out


def test_without_a_url_there_is_a_file_in_the_state_directory(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PYQLESS_URL")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    status, _, err = cli("put q a.B --jid j")
    path = tmp_path / "pyqless" / "queue.db"
    told = f"pyqless: the store is sqlite:///{path}, as neither --url nor PYQLESS_URL is given\n"
    assert (status, err) == (0, told)
    assert cli("peek q")[0] == 0
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_state_directory_that_cannot_be_made(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PYQLESS_URL")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    (tmp_path / "file").touch()
    status, out, err = cli("put q a.B")
    assert (status, out) == (1, "")
    assert err.startswith("pyqless: the state directory cannot be made: ")
    assert err.count("\n") == 1


def test_without_a_url_and_sqlite_there_is_none(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYQLESS_URL")
    monkeypatch.setattr("pyqless.cli.store.find_spec", lambda _: None)
    status, _, err = cli("put q a.B")
    assert status == 2
    assert "PYQLESS_URL" in err


def test_a_store_that_is_away_is_told_in_one_line(cli: Cli) -> None:
    status, out, err = cli("peek q --url redis://user:secret@127.0.0.1:1")
    assert (status, out) == (1, "")
    assert err.startswith("pyqless: the store cannot be reached")
    assert err.count("\n") == 1
    assert "secret" not in err
