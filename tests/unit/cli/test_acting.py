# SPDX-License-Identifier: MIT
"""pyqless cancel, retry, unfail and move."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pyqless.cli.selecting import Selection
from pyqless.client import Client, Job
from tests.unit.cli.conftest import Cli

Answer = Callable[..., Any]


def put(client: Client, *jids: str, queue: str = "q", **options: Any) -> None:
    for jid in jids:
        client.queues[queue].put("a.B", jid=jid, **options)


def fail(client: Client, *jids: str, group: str = "oops") -> None:
    for jid in jids:
        put(client, jid, queue="failing")
        job = client.queues["failing"].pop()
        assert job is not None
        job.fail(group, "no")


# -- cancel -----------------------------------------------------------------------------------


def test_what_is_named_is_cancelled_at_once(cli: Cli, client: Client) -> None:
    put(client, "a", "b", "c")
    assert cli("cancel a b") == (0, "cancelled 2 jobs\n", "")
    assert [job.jid for job in client.jobs.all()] == ["c"]


def test_if_one_is_not_there_nothing_is_done(cli: Cli, client: Client) -> None:
    put(client, "a")
    status, _, err = cli("cancel a nowhere")
    assert (status, err) == (1, "pyqless: there is no job 'nowhere'\n")
    assert client.jobs.get("a") is not None


def test_with_filters_there_is_a_preview(cli: Cli, answer: Answer, client: Client) -> None:
    put(client, *(f"red-{number:02}" for number in range(12)), tags=["red"])
    put(client, "blue")
    status, out, _ = cli("cancel --tag red")
    lines = out.splitlines()
    assert status == 0
    assert sum(line.startswith("red-") for line in lines) == 10
    assert lines[-2:] == ["... and 2 more", "would cancel 12 jobs; nothing is done without --yes"]
    shown = answer("cancel --tag red")
    assert shown["jobs"] == len(shown["jids"]) == 12
    assert len(client.queues["q"]) == 13

    assert answer("cancel --tag red --yes") == {**shown, "dry_run": False}
    assert [job.jid for job in client.jobs.all()] == ["blue"]


def test_a_preview_of_nothing(cli: Cli, client: Client) -> None:
    put(client, "j")
    told = "would cancel 0 jobs; nothing is done without --yes\n"
    assert cli("cancel -q q -s failed") == (0, told, "")


def test_a_chain_goes_whole_and_what_others_wait_for_stays(
    answer: Answer, cli: Cli, client: Client
) -> None:
    put(client, "a", tags=["red"])
    put(client, "b", tags=["red"], depends=["a"])
    put(client, "c", tags=["red"], depends=["b"])
    shown = answer("cancel --tag red")
    assert shown == {"dry_run": True, "jobs": 3, "jids": shown["jids"], "kept": {}}
    assert answer("cancel --tag red --yes") == {**shown, "dry_run": False}
    assert set(shown["jids"]) == {"a", "b", "c"}
    put(client, "a", tags=["red"])
    put(client, "b", depends=["a"])
    status, out, err = cli("cancel --tag red --yes")
    assert (status, out) == (1, "cancelled 0 jobs\n")
    assert err.startswith("pyqless: kept a: ")
    assert client.jobs.get("a") is not None


def test_what_fits_no_more_is_kept(
    cli: Cli, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(client, "a", "b", "c")
    select = Selection.jobs

    def overtaken(selection: Selection, asked: Client) -> list[Job]:
        found = list(select(selection, asked))
        client.jobs["a"].requeue("elsewhere")
        client.jobs["b"].cancel()
        return found

    monkeypatch.setattr(Selection, "jobs", overtaken)
    status, out, err = cli("cancel -q q --yes")
    assert (status, out) == (1, "cancelled 1 job\n")
    assert set(err.splitlines()) == {
        "pyqless: kept a: it has changed meanwhile",
        "pyqless: kept b: it is there no more",
    }
    assert [job.jid for job in client.jobs.all()] == ["a"]


def test_complete_jobs_stay(cli: Cli, client: Client) -> None:
    put(client, "a")
    job = client.queues["q"].pop()
    assert job is not None
    job.complete()
    status, out, err = cli("cancel a")
    assert (status, out) == (1, "cancelled 0 jobs\n")
    assert "is complete" in err


@pytest.mark.parametrize("command", ["cancel", "retry", "move x"])
@pytest.mark.parametrize("rest", ["", "--yes", "a --queue q"])
def test_either_jobs_or_filters(cli: Cli, client: Client, command: str, rest: str) -> None:
    put(client, "a")
    status, _, err = cli(f"{command} {rest}")
    assert status == 2
    assert "either name jobs or give filters" in err
    assert client.jobs["a"].queue_name == "q"


# -- retry and unfail -------------------------------------------------------------------------


def test_failed_jobs_are_retried(cli: Cli, answer: Answer, client: Client) -> None:
    fail(client, "a", "b")
    fail(client, "c", group="other")
    put(client, "d")
    assert answer("retry --group oops")["jids"] == ["b", "a"]
    assert answer("retry --group oops --yes")["jobs"] == 2
    assert {job.jid for job in client.queues["failing"].all()} == {"a", "b"}
    assert answer("retry --queue failing --yes")["jobs"] == 1

    status, out, err = cli("retry d")
    assert (status, out) == (1, "retried 0 jobs\n")
    assert "job 'd' has not failed: it is waiting" in err


def test_a_group_is_unfailed(cli: Cli, answer: Answer, client: Client) -> None:
    fail(client, "a", "b", "c")
    told = "pyqless: 1 of 3 are left; --count NUMBER takes more\n"
    assert cli("unfail elsewhere oops --count 2") == (0, "unfailed 2 jobs\n", told)
    assert set(client.queues["elsewhere"].waiting()) == {"a", "b"}
    assert answer("unfail elsewhere oops") == {"jobs": 1, "left": 0}
    fail(client, "d")
    assert cli("unfail elsewhere oops") == (0, "unfailed 1 job\n", "")


# -- move -------------------------------------------------------------------------------------


def test_named_jobs_are_moved(cli: Cli, client: Client) -> None:
    put(client, "a", "b")
    assert cli("move there a") == (0, "moved 1 job\n", "")
    assert client.jobs["a"].queue_name == "there"
    assert client.jobs["b"].queue_name == "q"


def test_a_whole_queue_is_moved_in_its_order(cli: Cli, answer: Answer, client: Client) -> None:
    jids = [f"j{number}" for number in range(120)]
    put(client, *jids)
    put(client, "later", delay=3600)
    told = "would move 121 jobs; nothing is done without --yes\n"
    assert cli("move there --queue q") == (0, told, "")
    assert answer("move there --queue q --state waiting --yes")["jobs"] == 120
    assert client.queues["there"].waiting(0, 200) == jids
    assert client.jobs["later"].queue_name == "q"
    assert answer("move there --queue q --yes")["jobs"] == 1
    assert client.jobs["later"].state == "scheduled"


def test_jobs_are_moved_by_filters(answer: Answer, client: Client) -> None:
    put(client, "a", tags=["red"])
    put(client, "b")
    assert answer("move there --queue q --tag red --yes")["jobs"] == 1
    assert client.jobs["a"].queue_name == "there"
    assert client.jobs["b"].queue_name == "q"
