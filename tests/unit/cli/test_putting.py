# SPDX-License-Identifier: MIT
"""pyqless put, pop and peek."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pyqless.client import AsyncClient, Client
from pyqless.errors import InvalidArgument, StoreUnavailable
from pyqless.storage.default import VARIABLES
from tests.unit.cli.conftest import Cli

Answer = Callable[..., Any]


def test_a_job_is_put(cli: Cli, client: Client) -> None:
    status, out, err = cli(
        """put q a.B '{"n": 1}' --jid j -p 3 -t red -t blue --delay 60 --retries 2"""
    )
    assert (status, out) == (0, "j\n")
    assert (
        err
        == f"pyqless: {client.storage.url} lies in this process alone, and is gone when that ends\n"
    )
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
def test_where_there_is_nothing_the_answer_is_no(
    cli: Cli, answer: Answer, client: Client, command: str
) -> None:
    client.queues["q"].put("a.B", delay=60)
    assert cli(f"{command} q") == (1, "", "")
    assert answer(f"{command} q", status=1) == []


def test_what_would_steer_a_terminal_is_shown(cli: Cli, client: Client) -> None:
    client.queues["q"].put("a.B\x1b[2J", "\n", jid="j")
    _, out, _ = cli("peek q")
    assert "a.B\\x1b[2J" in out
    assert "\x1b" not in out


@pytest.fixture
def nameless(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str) -> Path:
    """Take the store's name away; give the directory that is left."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def test_without_a_url_there_is_a_file_in_the_state_directory(cli: Cli, nameless: Path) -> None:
    path = nameless / "pyqless" / "queue.db"
    told = f"pyqless: no store is named by URL or PYQLESS_URL, so it is sqlite:///{path}\n"
    assert cli("put q a.B --jid j") == (0, "j\n", told)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    # programs, and commands of every kind, meet in it
    with Client() as client:
        assert client.jobs["j"].klass_name == "a.B"
    for line in ("peek q", "queues", "doctor", "janitor"):
        status, _, err = cli(line)
        assert (status, err) == (0, told)


def test_a_variable_names_the_store_of_all(
    cli: Cli, nameless: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", "memory://theirs")
    assert cli("put q a.B --jid j")[:2] == (0, "j\n")
    with Client() as client:
        assert client.storage.url == "memory://theirs"
        assert client.jobs["j"].klass_name == "a.B"
    assert "memory://theirs: usable" in cli("doctor")[1]
    monkeypatch.setenv("PYQLESS_URL", "memory://ours")
    assert cli("peek q")[0] == 1
    assert AsyncClient().storage.url == "memory://ours"
    assert list(nameless.iterdir()) == []


def test_a_state_directory_that_cannot_be_made(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, nameless: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(nameless / "file"))
    (nameless / "file").touch()
    status, out, err = cli("put q a.B")
    assert (status, out) == (1, "")
    assert err.startswith("pyqless: the state directory cannot be made: ")
    assert err.count("\n") == 1
    with pytest.raises(StoreUnavailable):
        Client()


def test_without_a_url_and_sqlite_there_is_none(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, nameless: Path
) -> None:
    monkeypatch.setattr("pyqless.storage.default.find_spec", lambda _: None)
    for line in ("put q a.B", "queues", "doctor", "load"):
        status, _, err = cli(line)
        assert status == 2
        assert "PYQLESS_URL" in err
    with pytest.raises(InvalidArgument, match="PYQLESS_URL") as caught:
        Client()
    assert caught.value.argument == "url"


def test_a_store_that_is_away_is_told_in_one_line(cli: Cli) -> None:
    status, out, err = cli("peek q --url redis://user:secret@127.0.0.1:1")
    assert (status, out) == (1, "")
    assert err.startswith("pyqless: the store cannot be reached")
    assert err.count("\n") == 1
    assert "secret" not in err
