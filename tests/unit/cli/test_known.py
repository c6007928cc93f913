# SPDX-License-Identifier: MIT
"""Names of queues and of groups of failures that nobody knows."""

from __future__ import annotations

import pytest

from pyqless.client import Client
from tests.unit.cli.conftest import Cli

QUEUES = [
    *("pop nope", "peek nope", "jobs -q nope", "queue stats nope", "queue forget nope"),
    *("recur list nope", "cancel -q nope --yes", "retry -q nope", "move other -q nope"),
    *("move other -q nope --class a.B", "jobs -q nope --json", "move other -q nope --yes"),
]
GROUPS = [
    *("failed nope", "jobs -g nope", "unfail q nope", "retry -g nope", "cancel -g nope --yes"),
    "failed nope --json",
]


@pytest.fixture(autouse=True)
def filled(client: Client) -> None:
    """Fill the store: with a queue, and with a group of failures."""
    client.queues["q"].put("a.B", jid="j")
    job = client.queues["q"].pop()
    assert job is not None
    job.fail("oops", "no")


@pytest.mark.parametrize("line", QUEUES)
def test_a_queue(cli: Cli, line: str) -> None:
    status, _, err = cli(line)
    assert (status, err) == (1, "pyqless: no queue named 'nope' is known\n")


@pytest.mark.parametrize("line", GROUPS)
def test_a_group(cli: Cli, line: str) -> None:
    status, _, err = cli(line)
    assert (status, err) == (1, "pyqless: no group of failures named 'nope' is known\n")


@pytest.mark.parametrize("line", [*QUEUES, *GROUPS])
def test_those_that_are_known(cli: Cli, line: str) -> None:
    """They are empty, or full of jobs; but nobody has mistyped them."""
    known = line.replace("-q nope", "-q q").replace(" nope", " q" if line in QUEUES else " oops")
    assert "is known" not in cli(known)[2]


def test_a_queue_that_was_forgotten_still_has_statistics(cli: Cli, client: Client) -> None:
    client.jobs["j"].cancel()
    assert cli("queue forget q") == (0, "", "")
    status, out, err = cli("queue stats q")
    assert (status, err) == (0, "")
    assert "waited: 1 jobs" in out
