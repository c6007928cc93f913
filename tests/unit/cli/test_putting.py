# SPDX-License-Identifier: MIT
"""pyqless put, pop and peek."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from pyqless.client import AsyncClient, Client
from pyqless.errors import InvalidArgument, StoreUnavailable
from pyqless.storage.default import VARIABLES
from pyqless.storage.memory import MemoryStorage
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


@pytest.mark.parametrize(
    ("served", "told"),
    [(0, ""), (2, "pyqless: stopped; dealt with at least up to line 201 of 251\n")],
)
def test_how_much_was_put_is_told_when_the_store_goes_away(
    cli: Cli, client: Client, monkeypatch: pytest.MonkeyPatch, served: int, told: str
) -> None:
    runs, calls = MemoryStorage.run, count()

    def run(*arguments: Any) -> Any:
        if next(calls) >= served:
            raise StoreUnavailable("it is away")
        return runs(*arguments)

    monkeypatch.setattr(MemoryStorage, "run", run)
    given = "\n" + "1\n" * 250
    status, out, err = cli("put q a.B --lines", given)
    monkeypatch.undo()
    assert (status, err) == (1, f"{told}pyqless: it is away\n")
    assert len(out.splitlines()) == len(client.queues["q"]) == 100 * served


JOBS = """\
{"klass": "a.C", "data": {"n": 1}, "jid": "c", "priority": 3, "tags": ["red"], "retries": 2}

{"jid": "d", "data": null, "delay": 60, "tags": null}
{"data": ["Zo\u00eb"], "depends": ["c"]}
"""


@pytest.mark.parametrize("as_file", [True, False])
def test_a_file_says_more_of_each_job(
    cli: Cli, client: Client, tmp_path: Path, *, as_file: bool
) -> None:
    file = tmp_path / "jobs.jsonl"
    file.write_text("\ufeff" + JOBS, encoding="utf-8")
    line = f"put q a.B -t blue --from-file {file if as_file else '-'}"
    status, out, err = cli(line, given="" if as_file else JOBS)
    assert (status, err.count("\n")) == (0, 1)
    *jids, third = out.split()
    assert jids == ["c", "d"]
    c, d, e = (client.jobs[jid] for jid in ("c", "d", third))
    assert (c.klass_name, c.data, c.priority, c.tags, c.retries) == ("a.C", {"n": 1}, 3, ["red"], 2)
    assert (d.klass_name, d.data, d.state, d.tags) == ("a.B", None, "scheduled", ["blue"])
    assert (e.data, e.state, e.dependencies) == (["Zoë"], "depends", ["c"])


def test_many_are_put_by_the_hundred(cli: Cli, client: Client) -> None:
    jobs = "".join(f'{{"klass": "a.B", "data": {n}, "jid": "{n}"}}\n' for n in range(250))
    status, out, _ = cli("put q --from-file -", given=jobs)
    assert (status, out.split()) == (0, [str(n) for n in range(250)])
    assert {job.data for job in client.queues["q"].peek(250)} == {*range(250)}
    moments = {client.jobs[str(n)].history[0]["when"] for n in range(250)}
    assert len(moments) <= 3


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (
            "{oops",
            "line 3 is no JSON (expecting property name enclosed in double quotes, at character 2): {oops\n",
        ),
        ("[" * 100_000, "line 3 is no JSON ("),
        ("5", "line 3 must be an object: 5"),
        ('{"klass": "a.B", "prio": 1}', "line 3 must say no more than klass, data, delay,"),
        ('{"data": 1}', "line 3 must name a klass, as the command does not"),
        ('{"klass": 7}', "line 3: klass must be text, not int: 7"),
        ('{"klass": "a.B", "priority": "1"}', "line 3: priority must be a number, not str: '1'"),
        ('{"klass": "a.B", "data": NaN}', "line 3: data "),
        ('{"klass": "a.B", "jid": "a-dependents"}', "line 3: jid must not end in"),
        ('{"klass": "a.B", "tags": "red"}', "line 3: tags must be a list"),
        ('{"klass": "a.B", "on_conflict": "no"}', "line 3: on_conflict must be one of"),
    ],
)
def test_nothing_is_put_if_a_line_is_no_good(cli: Cli, client: Client, bad: str, told: str) -> None:
    good = '{"klass": "a.B"}\n'
    status, out, err = cli("put q --from-file - --json", given=f"{good}\n{bad}\n{good * 200}")
    assert (status, out) == (2, "")
    assert err.startswith(f"pyqless: {told}")
    assert err.count("\n") == 1
    assert len(client.queues["q"]) == 0


def test_a_line_that_is_no_utf_8(cli: Cli, client: Client, tmp_path: Path) -> None:
    file = tmp_path / "jobs"
    file.write_bytes(b'{"klass": "a.B"}\n{"klass": "a.\xff"}\n')
    status, _, err = cli(f"put q --from-file {file}")
    assert (status, err.count("\n")) == (2, 1)
    assert "line 2 is no JSON" in err
    assert len(client.queues["q"]) == 0


def test_what_the_store_refuses_is_told_by_its_line(cli: Cli, client: Client) -> None:
    client.queues["q"].put("a.B", jid="taken")
    jobs = '{"jid": "a"}\n\n{"jid": "taken"}\n{"jid": "b"}\n'
    line = "put q a.B --from-file - --on-conflict error"
    status, out, err = cli(line, given=jobs)
    assert (status, out) == (1, "a\nb\n")
    assert err.splitlines()[0].startswith("pyqless: line 3: ")

    client.jobs["a"].cancel()
    status, out, _ = cli(f"{line} --json", given=jobs.replace('"b"', '"c"'))
    assert status == 1
    first, second, third = map(json.loads, out.splitlines())
    assert (first, third) == ({"jid": "a", "queue": "q"}, {"jid": "c", "queue": "q"})
    assert (second["line"], second["code"]) == (3, "job_exists")
    assert "taken" in second["error"]


def test_lines_of_data_are_told_by_their_number_too(cli: Cli, client: Client) -> None:
    status, out, err = cli("put q a.B --lines --max-waiting 2", given="1\n\n2\n3\n")
    assert (status, out.count("\n"), len(client.queues["q"])) == (1, 2, 2)
    assert err.startswith("pyqless: line 4: 2 jobs wait")


def test_an_empty_file_is_no_fault(cli: Cli, client: Client) -> None:
    assert cli("put q --from-file -")[:2] == (0, "")
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
        ("put q a.B 5 --lines", "does not go with --lines"),
        ("put q a.B --lines --from-file -", "does not go with --lines"),
        ("put q --from-file - --jid j", "does not go with --from-file"),
        ("put q a.B 5 --from-file -", "does not go with --from-file"),
        ("put q --from-file there-is-none", "there-is-none"),
        ("put q", "CLASS"),
        ("put q --lines", "CLASS"),
        ("put q a.B --retries -1", "retries"),
        ("put '' a.B", "QUEUE"),
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
    told = f"pyqless: no store is named by URL, --url, PYQLESS_URL or REDIS_URL, so it is sqlite:///{path}\n"
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
