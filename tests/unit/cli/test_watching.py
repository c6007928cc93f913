# SPDX-License-Identifier: MIT
"""pyqless workers, config, events, top and janitor."""

from __future__ import annotations

import io
import json
import re
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pyqless.cli import top
from pyqless.client import Client, Event, checks
from pyqless.client.sync.events import Events
from pyqless.client.sync.queues import Queues
from pyqless.core import presence
from pyqless.errors import StorageError, StoreRefused, StoreUnavailable
from pyqless.worker.janitor import Janitor, Report
from tests.unit.cli.conftest import Cli

Answer = Callable[..., Any]


def tell(client: Client, name: str, *, ago: float = 0.0, **changed: Any) -> None:
    """What a worker of pyqless tells of itself, or has told some seconds ago."""
    now = client.storage.clock()
    began = now - 120
    record = {
        "kind": "serial",
        "queues": ["q", "r"],
        "host": "here",
        "pid": 7,
        "version": "1",
        "started": began,
        "period": 10.0,
        "is_paused": False,
        "jobs": [{"jid": "j", "klass": "a.B", "queue": "q", "began": began}],
        **changed,
    }
    fields = {key: json.dumps(value) for key, value in record.items()}
    client.storage.run(partial(presence.announce, worker=name, fields=fields), now - ago)


# -- workers ----------------------------------------------------------------------------------


def test_workers_are_listed(cli: Cli, answer: Answer, client: Client, url: str) -> None:
    for jid in ("j", "k"):
        client.queues["q"].put("a.B", jid=jid)
    client.queues["q"].pop()
    with Client(url, worker_name="lua") as other:
        other.queues["q"].pop()
    tell(client, "w", is_paused=True)
    found = {worker["name"]: worker for worker in answer("workers")}
    assert found.keys() == {"w", "lua"}
    assert (found["w"]["jobs"], found["w"]["record"]["pid"]) == (1, 7)
    assert found["lua"] == {"name": "lua", "jobs": 1, "stalled": 0, "record": None}
    rows = {line.split()[0]: line for line in cli("workers")[1].splitlines()}
    for told in ("serial, paused", "here", "q,r", "a.B (2m)"):
        assert told in rows["w"]


@pytest.mark.parametrize("command", ["workers", "top"])
def test_workers_that_have_been_silent_for_long_are_marked(
    cli: Cli, answer: Answer, client: Client, command: str
) -> None:
    tell(client, "fresh", ago=35)
    tell(client, "gone", ago=45)
    tell(client, "slow", ago=45, period=60.0)
    tell(client, "both", ago=3600, is_paused=True)
    client.queues["q"].put("a.B")
    client.queues["q"].pop()  # by a client that tells nothing of itself
    found = answer(command)
    told = {
        each["name"]: each["record"]
        for each in (found if command == "workers" else found["workers"])
    }
    assert {name: record and record["is_fresh"] for name, record in told.items()} == {
        "fresh": True,
        "gone": False,
        "slow": True,
        "both": False,
        "w": None,
    }
    rows = {line.partition(" ")[0]: line for line in cli(command)[1].splitlines()}
    assert {name for name in told if "dead" in rows[name]} == {"gone", "both"}
    assert "serial, paused, dead" in rows["both"]


def test_one_worker(cli: Cli, answer: Answer, client: Client) -> None:
    tell(client, "idle")
    (found,) = answer("workers idle")
    assert (found["name"], found["jobs"]) == ("idle", 0)
    assert answer("workers nobody", status=1) == []
    assert cli("workers nobody") == (1, "", "pyqless: no worker named 'nobody' is known\n")


def test_a_worker_is_struck_from_the_list(cli: Cli, answer: Answer, client: Client) -> None:
    client.queues["q"].put("a.B")
    client.queues["q"].pop()
    assert [worker["name"] for worker in answer("workers")] == ["w"]
    assert cli("workers w --deregister") == (0, "", "")
    assert answer("workers") == []
    assert cli("workers w --deregister") == (1, "", "pyqless: no worker named 'w' is known\n")
    assert cli("workers --deregister")[0] == 2


# -- config -----------------------------------------------------------------------------------


def test_settings(cli: Cli, answer: Answer, client: Client) -> None:
    assert cli("config get heartbeat") == (0, "60\n", "")
    assert cli("config set heartbeat 120") == (0, "", "")
    assert client.config["heartbeat"] == 120
    assert answer("config get heartbeat") == 120
    assert answer("config list")["heartbeat"] == 120
    assert ["heartbeat", "120"] in [line.split() for line in cli("config list")[1].splitlines()]
    assert cli("config unset heartbeat") == (0, "", "")
    assert client.config["heartbeat"] == 60


def test_settings_that_are_none(cli: Cli, answer: Answer) -> None:
    status, out, err = cli("config get nothing")
    assert (status, out) == (1, "")
    assert err.startswith(
        "pyqless: no setting named 'nothing' is known or set; there are application"
    )
    assert cli("config get max-job-history") == (1, "", "")
    assert answer("config get nothing", status=1) is None
    status, _, err = cli("config set heartbeat soon")
    assert status == 2
    assert err.startswith("pyqless: heartbeat")


def names_in_the_reference() -> list[str]:
    """The settings that the page of keys tells of."""
    page = (Path(__file__).parents[3] / "docs" / "reference" / "keys.md").read_text("utf-8")
    rows = re.findall(r"^\|(.+?)\|", page.partition("## Settings")[2], re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


@pytest.mark.parametrize("name", names_in_the_reference())
def test_every_setting_that_there_is_can_be_set(cli: Cli, client: Client, name: str) -> None:
    client.queues["my-queue"].put("a.B")
    name = name.replace("QUEUE", "my-queue")
    assert cli(f"config set {name} 7") == (0, "", "")
    assert client.config[name] == 7
    assert cli(f"config unset {name}") == (0, "", "")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("heartbaet", "near is heartbeat"),
        ("max_job_history", "near are max-job-history"),
        ("my-queue-hartbeat", "near are my-queue-heartbeat"),
        ("my-queue-max-concurency", "near is my-queue-max-concurrency"),
        ("my-queue-max-wating", "near is my-queue-max-waiting"),
        ("-heartbeat", "near is heartbeat"),
        ("wholly-different", "there are application, heartbeat"),
        ("-" * 512, "there are application, heartbeat"),
    ],
)
def test_a_setting_that_is_none_is_refused(cli: Cli, client: Client, name: str, near: str) -> None:
    before = client.config.all()
    status, out, err = cli(f"config set -- {name} 7")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert f"NAME: {checks.shown(name)} is no setting; {near}" in err
    assert "--any sets it all the same" in err
    assert client.config.all() == before
    status, out, err = cli(f"config unset -- {name}")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert near in err


def test_a_setting_of_ones_own(cli: Cli, client: Client) -> None:
    assert cli("config set colour red --any") == (0, "", "")
    assert client.config["colour"] == "red"
    assert cli("config get colour") == (0, "red\n", "")
    assert cli("config unset colour") == (0, "", "")
    assert client.config.get("colour") is None


def test_a_setting_of_a_queue_that_nobody_knows(cli: Cli, client: Client) -> None:
    status, _, err = cli("config set mial-heartbeat 5")
    assert (status, err) == (0, "pyqless: no queue named 'mial' is known yet\n")
    assert client.queues["mial"].heartbeat == 5


# -- events -----------------------------------------------------------------------------------


def happening(client: Client, until: threading.Event) -> None:
    """Put jobs until somebody has heard of it."""
    while not until.wait(0.01):
        client.queues["q"].put("a.B", jid="j")


@pytest.mark.parametrize("form", ["--json", ""])
def test_events_are_followed(cli: Cli, client: Client, form: str) -> None:
    heard = threading.Event()
    noise = threading.Thread(target=happening, args=(client, heard))
    noise.start()
    try:
        status, out, err = cli(f"events log --count 2 {form}")
    finally:
        heard.set()
        noise.join()
    assert (status, err) == (0, "pyqless: listening\n")
    lines = out.splitlines()
    assert len(lines) == 2
    if form:
        event = json.loads(lines[0])
        assert (event["event"], event["source"], event["jid"]) == ("put", "log", "j")
        assert event["details"] == {"queue": "q"}
        assert abs(event["at"] - client.storage.clock()) < 60
    else:
        assert lines[0].split()[1:] == ["log", "put", "j", "queue=q"]


@pytest.mark.parametrize("form", ["--json", ""])
def test_of_a_traceback_people_are_shown_what_was_raised(
    cli: Cli, client: Client, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    message = 'Traceback (most recent call last):\n  File "a"\nValueError: no'
    details = {"group": "g", "message": message}
    event = Event(name="failed", source="log", jid="j", details=details)
    monkeypatch.setattr(Events, "get", lambda _: event)
    out = cli(f"events -n 1 {form}")[1]
    assert (
        json.loads(out)["details"] == details
        if form
        else out.endswith(" group=g message=ValueError: no\n")
    )


@pytest.mark.parametrize("line", ["events worker", "events log --worker w", "events nonsense"])
def test_wrong_sources(cli: Cli, line: str) -> None:
    assert cli(line)[0] == 2


# -- top --------------------------------------------------------------------------------------


def test_without_a_terminal_all_is_printed_once(cli: Cli, answer: Answer, client: Client) -> None:
    client.queues["q"].put("a.B")
    job = client.queues["q"].pop()
    assert job is not None
    job.fail("oops", "no")
    tell(client, "w")
    document = answer("top")
    assert [queue["name"] for queue in document["queues"]] == ["q"]
    assert [worker["name"] for worker in document["workers"]] == ["w"]
    assert document["failed"] == {"oops": 1}
    heads = [line.split()[0] for line in cli("top")[1].splitlines() if line]
    assert heads == ["queue", "q", "worker", "w", "failed", "oops"]


@pytest.mark.parametrize(
    ("error", "is_shown"), [(StoreUnavailable("away"), True), (StoreRefused("no"), False)]
)
def test_a_store_that_is_away_is_looked_at_again_unless_it_refuses(
    client: Client, monkeypatch: pytest.MonkeyPatch, error: StorageError, *, is_shown: bool
) -> None:
    def gone(_client: Client) -> None:
        raise error

    monkeypatch.setattr(top._Scene, "of", gone)
    if is_shown:
        console = Console(file=io.StringIO(), width=200)
        with console.capture() as shown:
            console.print(top._drawn(client))
        head, _, told = shown.get().splitlines()
        assert head.startswith(client.storage.url)
        assert told == "away; trying again"
    else:
        with pytest.raises(StoreRefused):
            top._drawn(client)


# -- janitor ----------------------------------------------------------------------------------


def test_the_janitor_cleans(cli: Cli, answer: Answer, client: Client) -> None:
    client.queues["q"].put("a.B", jid="j")
    client.jobs["j"].track()
    # what a Lua client leaves behind
    client.storage.run(partial(_remove_job, jid="j"))
    assert answer("janitor --dry-run")["tracked"] == ["j"]
    assert cli("janitor --dry-run") == (0, "tracked would be removed: j\n", "")
    assert cli("janitor") == (0, "tracked removed: j\n", "")
    assert cli("janitor") == (0, "nothing to remove\n", "")
    assert cli("janitor --dry-run --deep") == (0, "nothing to remove\n", "")


def test_the_janitor_tells_once_what_is_damaged(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Janitor, "run", lambda _: Report(faults=["damaged", "odd", "damaged"]))
    assert cli("janitor") == (1, "", "pyqless: damaged\npyqless: odd\n")


NO_DIRECTORY = StoreUnavailable("no directory", argument="path", value="/nowhere/at/all/x.db")


@pytest.mark.parametrize(
    ("error", "passes"),
    [(StoreUnavailable("away"), 1), (StoreRefused("no"), 0), (NO_DIRECTORY, 0)],
)
def test_the_janitor_waits_for_a_store_that_is_away_unless_it_refuses(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, error: StorageError, passes: int
) -> None:
    made = list[float]()

    def counts(_queues: object) -> None:
        raise error

    monkeypatch.setattr(Queues, "counts", counts)
    monkeypatch.setattr(Janitor, "loop", lambda _self, interval, _pause: made.append(interval))
    assert cli("janitor --every 5m")[0] == (0 if passes else 1)
    assert made == [300] * passes


def _remove_job(tx: Any, jid: str) -> Any:
    yield from tx.read()
    tx.delete(tx.keys.job(jid))
    tx.zrem(tx.keys.work("q"), jid)


# -- a store that is away ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        *("pop q", "put q a.B", "jobs", "job j", "cancel j", "retry --group g", "queues", "stats"),
        *("queue pause q", "tag add j red", "track list", "recur list", "workers", "config list"),
        *("events", "top", "janitor"),
    ],
)
def test_a_store_that_is_away_is_told_in_one_line_without_the_password(cli: Cli, line: str) -> None:
    status, out, err = cli(f"{line} --url redis://user:secret@127.0.0.1:1")
    assert (status, out) == (1, "")
    assert err.startswith("pyqless: the s")
    assert "127.0.0.1:1" in err
    assert err.count("\n") == 1
    assert "secret" not in err
