# SPDX-License-Identifier: MIT
"""Names of queues and of groups of failures that nobody knows."""

from __future__ import annotations

from pathlib import Path

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
    assert "waited: 1 job," in out


LOOKS = (
    *("queues", "jobs", "job j", "peek q", "failed", "workers", "stats", "queue stats q", "top"),
    *("config list", "config get heartbeat", "track list", "tag top", "recur list", "recur show j"),
    *("events", "janitor --dry-run", "cancel -q q", "retry -g g", "move r -q q", "move r -t x"),
)


@pytest.mark.parametrize(
    "line", [*(f"{line} --url {{}}" for line in LOOKS), "doctor {}", "dump {}"]
)
def test_to_look_at_a_file_does_not_make_it(cli: Cli, tmp_path: Path, line: str) -> None:
    path = tmp_path / "typo.db"
    status, out, err = cli(line.format(f"sqlite:///{path}?timeout=1"))
    assert (status, out) == (1, "")
    assert err.startswith(f"pyqless: there is no file '{path}'")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("swapped", [False, True])
def test_to_compare_with_a_file_does_not_make_it(
    cli: Cli, tmp_path: Path, *, swapped: bool
) -> None:
    urls = ["memory://", f"sqlite:///{tmp_path}/typo.db"]
    status, out, err = cli(f"diff {' '.join(urls[::-1] if swapped else urls)}")
    assert (status, out) == (1, "")
    assert "typo.db" in err
    assert list(tmp_path.iterdir()) == []


def test_the_environment_names_a_file_that_is_not_there(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYQLESS_URL", f"sqlite:///{tmp_path}/typo.db")
    assert "typo.db" in cli("queues")[2]
    assert list(tmp_path.iterdir()) == []
    # whoever changes something makes it
    assert cli("put q a.B")[0] == 0
    assert cli("queues")[0] == 0


def test_a_long_name_that_nobody_knows_is_cut(cli: Cli) -> None:
    status, out, err = cli(f"workers {'x' * 99999}")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("pyqless: no worker named 'xxx")
    assert err.endswith("xxx' is known\n")
    assert len(err) < 1200
