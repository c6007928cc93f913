# SPDX-License-Identifier: MIT
"""What is wrong with a command line is told by argument and value, as they were typed."""

from __future__ import annotations

import pytest

from tests.unit.cli.conftest import Cli


@pytest.mark.parametrize(
    ("line", "names"),
    [
        # what typer refuses
        ("put q k --priority abc", ("--priority", "'abc'")),
        ("put q k --retries 1.5", ("--retries", "'1.5'")),
        ("jobs -n 100000000000000000000", ("--limit", "100000000000000000000")),
        ("jobs -n 0", ("--limit", "0")),
        ("janitor --every inf", ("--every", "inf")),
        ("top -i 1e300", ("--interval", "1e")),
        ("worker q --interval soon", ("--interval", "'soon'")),
        ("stats --day 5", ("--day", "'5'")),
        ("jobs --state nowhere", ("--state", "'nowhere'")),
        # spans
        ("jobs --older-than 5x", ("--older-than", "'5x'")),
        ("cancel --older-than 5x", ("--older-than", "'5x'")),
        ("recur put q k 5x", ("SPAN", "'5x'")),
        ("recur update j --every 5x", ("--every", "'5x'")),
        # what the library refuses
        ("pop ''", ("QUEUE must", "''")),
        ("queue pause a ''", ("QUEUE must", "''")),
        ("move '' -q q", ("QUEUE must", "''")),
        ("move q -q ''", ("--queue must", "''")),
        ("put q ''", ("CLASS must", "''")),
        ("put q k --delay inf", ("--delay must", "inf")),
        ("recur put q k 0", ("SPAN must", "0.0")),
        ("retry ''", ("JID must", "''")),
        ("pop q --worker ''", ("--worker must", "''")),
        ("worker q -m nowhere.at_all", ("--module: ", "'nowhere.at_all'")),
        ("config set heartbeat soon", ("heartbeat must", "'soon'")),
        # URLs
        ("queues --url foo://", ("'--url': begins", "'foo://'")),
        ("doctor foo://", ("'URL': begins", "'foo://'")),
        ("diff memory:// foo://", ("'SECOND_URL'", "'foo://'")),
        ("diff foo://a:secret@b memory://", ("'FIRST_URL'", "'foo://a:***@b'")),
        ("queues --url sqlite://", ("--url must", "'sqlite://'")),
    ],
)
def test_argument_and_value_are_named(cli: Cli, line: str, names: tuple[str, ...]) -> None:
    status, out, err = cli(line)
    assert (status, out) == (2, "")
    for name in names:
        assert name in err
    for noise in ("Value error", "env var", "secret", "Traceback"):
        assert noise not in err


@pytest.mark.parametrize("variable", ["PYQLESS_URL", "REDIS_URL"])
def test_a_variable_at_fault_is_named(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.delenv("PYQLESS_URL")
    monkeypatch.setenv(variable, "foo://")
    status, _, err = cli("queues")
    assert status == 2
    assert f"Invalid value for {variable}: " in err
    assert "--url" not in err
    assert "'foo://'" in err
