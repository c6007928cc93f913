# SPDX-License-Identifier: MIT
"""pyqless complete, fail and heartbeat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pyqless.client import Client
from tests.unit.cli.conftest import Cli

Answer = Callable[..., Any]


@pytest.fixture(autouse=True)
def popped(cli: Cli, client: Client) -> None:
    """Let a job be in the hand of "me"."""
    client.queues["q"].put("a.B", {"n": 1}, jid="j")
    assert cli("pop q --worker me")[0] == 0


def test_a_job_is_completed(cli: Cli, client: Client) -> None:
    assert cli("complete j --worker me") == (0, "complete\n", "")
    assert client.jobs["j"].state == "complete"
    assert client.jobs["j"].data == {"n": 1}


def test_a_job_goes_on(cli: Cli, answer: Answer, client: Client) -> None:
    assert answer("complete j --worker me --next other") == {"jid": "j", "state": "waiting"}
    assert client.queues["other"].waiting() == ["j"]


def test_a_job_fails(cli: Cli, answer: Answer, client: Client) -> None:
    assert cli("fail j oops 'it is hot' --worker me") == (0, "failed\n", "")
    failure = client.jobs["j"].failure
    assert failure is not None
    assert (failure.group, failure.message) == ("oops", "it is hot")


def test_a_lock_is_renewed(cli: Cli, answer: Answer, client: Client) -> None:
    before = client.jobs["j"].expires_at
    told = answer("heartbeat j --worker me")
    assert told == {"jid": "j", "expires": client.jobs["j"].expires_at}
    assert told["expires"] >= before
    assert cli("heartbeat j --worker me")[1].count(":") == 2


@pytest.mark.parametrize("line", ["complete j", "fail j oops no", "heartbeat j"])
def test_only_who_has_it_can_do_so(cli: Cli, client: Client, line: str) -> None:
    status, out, err = cli(f"{line} --worker other")
    assert (status, out, err) == (1, "", "pyqless: job 'j' is held by another worker: 'me'\n")
    assert cli(line)[0] == 2
    assert client.jobs["j"].state == "running"
