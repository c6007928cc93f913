# SPDX-License-Identifier: MIT
"""pyqless jobs, job and failed."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from pyqless.client import Client
from pyqless.core.transaction import Transaction
from tests.unit.cli.conftest import Cli

Answer = Callable[..., Any]


@pytest.fixture
def filled(client: Client) -> Client:
    """Jobs in every state, some of which have a tag or a class of their own."""
    queue = client.queues["q"]
    queue.put("a.Failing", {"n": 1}, jid="failed")
    popped = queue.pop()
    assert popped is not None
    popped.fail("oops", 'Traceback\n  File "a"\nValueError: no')
    queue.put("a.Done", jid="complete")
    popped = queue.pop()
    assert popped is not None
    popped.complete()
    queue.put("a.Running", jid="running")
    queue.pop()
    queue.put("a.Waiting", jid="waiting", tags=["red"])
    queue.put("a.Later", jid="scheduled", delay=3600)
    queue.put("a.Waiting", jid="depends", depends=["waiting"])
    client.queues["other"].put("a.Waiting", jid="elsewhere", tags=["red"])
    return client


@pytest.mark.parametrize(
    ("filters", "jids"),
    [
        ("--state waiting", {"waiting", "elsewhere"}),
        ("-q q -s waiting", {"waiting"}),
        ("-q q -s running", {"running"}),
        ("-q q -s stalled", set()),
        ("-q q -s scheduled", {"scheduled"}),
        ("-q q -s depends", {"depends"}),
        ("-s failed", {"failed"}),
        ("-s complete", {"complete"}),
        ("--group oops", {"failed"}),
        ("--class a.Waiting", {"waiting", "depends", "elsewhere"}),
        ("--tag red", {"waiting", "elsewhere"}),
        ("--tag red -q other", {"elsewhere"}),
        ("--older-than 1h", set()),
        ("--older-than 0 -q other", {"elsewhere"}),
    ],
)
def test_filters(filled: Client, answer: Answer, filters: str, jids: set[str]) -> None:
    assert {job["jid"] for job in answer(f"jobs {filters}")} == jids


def test_all_jobs_and_no_more_than_the_limit(filled: Client, answer: Answer) -> None:
    found = {job["jid"] for job in answer("jobs")}
    assert found == {
        *("failed", "complete", "running", "waiting", "scheduled", "depends", "elsewhere")
    }
    assert len(answer("jobs -n 2")) == 2


@pytest.mark.parametrize("form", ["", " --json"])
def test_what_is_left_out_is_told(client: Client, cli: Cli, form: str) -> None:
    queue = client.queues["q"]
    for _ in range(3):
        queue.put("a.B", tags=["red", "blue"])
    assert cli(f"jobs -n 2{form}")[2] == "pyqless: the first 2; --limit NUMBER shows more\n"
    assert cli(f"jobs -n 3{form}")[2] == ""
    assert cli(f"tag top -n 1{form}")[2] == "pyqless: the first 1; --count NUMBER shows more\n"
    assert cli(f"tag top -n 2{form}")[2] == ""
    for job in queue.pop(3):
        job.fail("oops", "no")
    assert cli(f"failed oops -n 2{form}")[2] == "pyqless: 2 of 3; --limit NUMBER shows more\n"
    assert cli(f"failed oops -n 3{form}")[2] == ""


def test_a_lock_that_has_expired_counts_as_stalled(
    client: Client, answer: Answer, url: str
) -> None:
    client.queues["q"].put("a.B", jid="j")
    with Client(url, clock=lambda: client.storage.clock() - 1000) as past:
        past.queues["q"].pop()
    assert [job["jid"] for job in answer("jobs -s stalled")] == ["j"]
    assert [job["jid"] for job in answer("jobs -q q -s stalled")] == ["j"]
    assert answer("jobs -s running") == []


@pytest.mark.parametrize("span", ["5x", "", "h", "-1", "inf"])
def test_no_span(cli: Cli, span: str) -> None:
    status, _, err = cli(f"jobs --older-than '{span}'")
    assert status == 2
    assert "is no span" in err


def on_the_clock(moment: float) -> str:
    """As a clock on the wall shows it."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))


def test_moments_are_times_of_day(filled: Client, cli: Cli, url: str) -> None:
    filled.queues["q"].put("a.B", jid="j", priority=9)
    with Client(url, clock=lambda: filled.storage.clock() - 1000) as past:
        past.queues["q"].pop()
    due = filled.jobs["scheduled"].explain().until
    assert due is not None
    for jid, why in (
        ("running", f"locked by 'w' until {on_the_clock(filled.jobs['running'].expires_at)}"),
        ("j", f" expired at {on_the_clock(filled.jobs['j'].expires_at)}, 16 min ago;"),
        ("scheduled", f"it is scheduled for {on_the_clock(due)}, in "),
    ):
        out = cli(f"job {jid}")[1]
        assert why in out
        assert not re.search(r"\d{9}", out)


def test_what_a_history_tells_is_shown_as_json(client: Client, cli: Cli) -> None:
    client.queues["q"].put("a.B", jid="j")
    client.jobs["j"].log("result", value={"n": None})
    assert cli("job j")[1].endswith('result value={"n": null}\n')


def test_a_job_is_shown(filled: Client, cli: Cli, answer: Answer) -> None:
    status, out, err = cli("job failed")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    at = lines.index("failure           oops")
    assert lines[at + 1 : at + 4] == ["    Traceback", '      File "a"', "    ValueError: no"]
    assert 'data              {"n": 1}' in lines
    assert "group=oops" in lines[-1]

    shown = answer("job waiting")
    assert shown["explanation"]["reason"] == "waiting"
    assert (shown["dependents"], shown["tags"]) == (["depends"], ["red"])


def test_a_job_that_is_not_there(cli: Cli) -> None:
    assert cli("job nowhere") == (1, "", "pyqless: there is no job 'nowhere'\n")


def test_a_damaged_job_hides_no_other(filled: Client, cli: Cli, answer: Answer) -> None:
    def damage(tx: Transaction, jid: str) -> Any:
        tx.hset(tx.keys.job(jid), "data", "{")
        yield from tx.read()

    filled.storage.run(partial(damage, jid="waiting"))
    damaged = next(job for job in answer("jobs") if job["jid"] == "waiting")
    assert damaged.keys() == {"jid", "error"}
    status, out, _ = cli("jobs")
    assert status == 0
    assert [line.split()[1] for line in out.splitlines() if line.startswith("waiting")] == [
        "damaged"
    ]
    assert "elsewhere" in out


def test_failed_jobs_by_group(filled: Client, cli: Cli, answer: Answer) -> None:
    assert answer("failed") == {"oops": 1}
    assert cli("failed")[1].splitlines() == ["group  jobs", "oops   1"]
    page = answer("failed oops")
    assert (page["total"], [job["jid"] for job in page["jobs"]]) == (1, ["failed"])
    row = cli("failed oops")[1].splitlines()[1]
    assert row.startswith("failed  q      a.Failing")
    assert row.endswith("ValueError: no")


Drawn = Callable[[int, str], list[str]]


@pytest.fixture
def drawn(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Drawn:
    """Run a command on a terminal of some columns, and give the lines that it fills."""

    def drawn(columns: int, line: str) -> list[str]:
        for name, value in (("FORCE_COLOR", "1"), ("TERM", "xterm"), ("COLUMNS", str(columns))):
            monkeypatch.setenv(name, value)
        lines = re.sub(r"\x1b\[[0-9;]*m", "", cli(line)[1]).splitlines()
        assert max(map(len, lines)) <= columns
        return [line.rstrip() for line in lines]

    return drawn


def test_a_narrow_terminal_shows_jids_whole(client: Client, drawn: Drawn) -> None:
    jids = [client.queues["mail"].put("shop.mail.Send", {"to": "x" * 60}) for _ in range(2)]
    long = client.queues["mail"].put("shop.mail.Send", tags=["red" * 20], jid="j" * 36)
    lines = drawn(80, "jobs")
    assert lines[0].split() == ["jid", "state", "queue", "class", "priority", "age"]
    assert [line.split()[:3] for line in lines if "waiting" in line] == [
        [jid, "waiting", "mail"] for jid in (*jids, long)
    ]
    (head, *_) = wide = drawn(110, "jobs")
    assert head.split()[-2:] == ["tags", "data"]
    assert any("\N{HORIZONTAL ELLIPSIS}" in line for line in wide)


def test_a_jid_that_is_longer_than_any_is_folded(client: Client, drawn: Drawn) -> None:
    client.queues["mail"].put("shop.mail.Send", jid="j" * 300)
    for columns in (80, 40):
        assert "".join(drawn(columns, "jobs")).count("j") == 301  # and that of "jid"


def test_a_terminal_with_too_little_room_shows_rows_one_below_the_other(
    client: Client, drawn: Drawn
) -> None:
    client.queues["mail"].put("shop.mail.Send", jid="a", tags=["red"])
    client.queues["mail"].put("shop.mail.Send", {"to": "x" * 60}, jid="b", priority=-1)
    first, second = "\n".join(drawn(40, "jobs")).split("\n\n")
    told = [line.split(maxsplit=1) for line in first.splitlines() if "age" not in line]
    assert told == [
        *(["jid", "a"], ["state", "waiting"], ["queue", "mail"], ["class", "shop.mail.Send"]),
        *(["priority", "0"], ["tags", "red"], ["data", "null"]),
    ]
    assert (
        second.splitlines()[-1] == 'data      {"to": "xxxxxxxxxxxxxxxxxxxxx\N{HORIZONTAL ELLIPSIS}'
    )
    assert len(drawn(64, "jobs")[0].split()) == 8  # there is room
