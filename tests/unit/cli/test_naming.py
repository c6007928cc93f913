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
        ("dump memory:// --url memory://", ("1 argument too many: memory://",)),
        ("dump --url host", ("'URL': begins", "'host'")),
        ("diff --url memory://", ("'SECOND_URL'",)),
        ("doctor --url", ("--url",)),
        ("stats --day 5", ("--day", "'5'")),
        ("jobs --state nowhere", ("--state", "'nowhere'")),
        # spans
        ("janitor --every inf", ("--every", "'inf'")),
        ("janitor --every 0", ("--every", "'0'")),
        ("top -i 1e300", ("--interval", "'1e300'")),
        ("worker q --interval soon", ("--interval", "'soon'")),
        ("jobs --older-than 5x", ("--older-than", "'5x'")),
        ("cancel --older-than 5x", ("--older-than", "'5x'")),
        ("recur put q k 5x", ("SPAN", "'5x'")),
        ("recur update j --every 5x", ("--every", "'5x'")),
        ("recur put q k 5 --offset -1", ("--offset", "'-1'")),
        ("put q k --delay inf", ("--delay", "'inf'")),
        ("put q k --delay 1e10", ("--delay", "'1e10'")),
        ("pop q --timeout nan", ("--timeout", "'nan'")),
        ("worker q --grace 5x", ("--grace", "'5x'")),
        ("worker q --time-limit ''", ("--time-limit", "''")),
        # sizes
        ("worker q --max-memory 5X", ("--max-memory", "'5X'")),
        ("worker q --max-memory 0", ("--max-memory", "'0'")),
        ("worker q --max-memory 9999999T", ("--max-memory", "'9999999T'")),
        (f"worker q --max-memory {'9' * 5000}", ("--max-memory", "'999")),
        # what the library refuses
        ("pop ''", ("QUEUE must", "''")),
        ("queue pause a ''", ("QUEUE must", "''")),
        ("move '' -q q", ("QUEUE must", "''")),
        ("move '' j", ("QUEUE must", "''")),
        ("move '' -k k --yes", ("QUEUE must", "''")),
        ("recur update j", ("OPTION...", "say what is to be changed")),
        ("move q -q ''", ("--queue must", "''")),
        ("put q ''", ("CLASS must", "''")),
        ("recur put q k 0", ("SPAN must", "0.0")),
        ("retry ''", ("JID must", "''")),
        ("pop q --worker ''", ("--worker must", "''")),
        ("worker q -m json --name ''", ("--name must", "''")),
        ("worker q -m json --kind serial --name ''", ("--name must", "''")),
        ("worker q -m nowhere.at_all", ("--module: ", "'nowhere.at_all'")),
        ("config set heartbeat soon", ("heartbeat must", "'soon'")),
        ("queues --namespace ''", ("--namespace must", "''")),
        ("dump --namespace ''", ("--namespace must", "''")),
        (f"config set heartbeat {'9' * 5000}", ("heartbeat must", "inf")),
        ("config set heartbeat 0", ("heartbeat must", "0")),
        # data
        ("put q k {", ("DATA", "is no JSON (", "): {")),
        ("put q k ''", ("DATA", "is no JSON: it is empty")),
        (f"put q k x{'1' * 99}", ("DATA", f"): x{'1' * 59}... (see")),
        ("recur put q k 5 nul", ("DATA", "is no JSON (", "): nul")),
        ("recur update j --data {", ("--data", "is no JSON (", "): {")),
        (f"put q k {'[' * 99999}", ("DATA", "is no JSON (", "): [[[")),
        (f"put q k {'9' * 5000}", ("DATA", "is no JSON (", "): 999")),
        # what was pasted by mistake
        (f"put q k --on-conflict {'x' * 9999}", ("--on-conflict", " ... ", "'keep'")),
        (f"pop q {'x' * 9999}", ("1 argument too many: xxx", " ... ")),
        ("pop q r -n 1 s", ("2 arguments too many: r s",)),
        # URLs
        ("queues --url host", ("'--url': begins", "'host'")),
        ("queues --url ann:secret@host", ("'--url': begins", "'***@host'")),
        ("queues --url ann:sec?secret@host", ("'--url': begins", "'***@host'")),
        ("queues --url ://ann:secret@host", ("'--url': begins", "'***@host'")),
        ("doctor host?password=secret", ("'URL': begins", "'host?password=***'")),
        ("queues --url foo://", ("'--url': begins", "'foo://'")),
        ("doctor foo://", ("'URL': begins", "'foo://'")),
        ("diff memory:// foo://", ("'SECOND_URL'", "'foo://'")),
        ("diff foo://a:secret@b memory://", ("'FIRST_URL'", "'foo://a:***@b'")),
        ("queues --url sqlite://", ("--url must", "'sqlite://'")),
    ],
)
def test_argument_and_value_are_named(cli: Cli, line: str, names: tuple[str, ...]) -> None:
    status, out, err = cli(line)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert len(err) < 1200
    for name in names:
        assert name in err
    for noise in ("Value error", "Input should", "env var", "secret", "Traceback"):
        assert noise not in err


@pytest.mark.parametrize("line", ["put q k --delay soon", "put q k --priority soon"])
def test_a_value_is_told_once(cli: Cli, line: str) -> None:
    assert cli(line)[2].count("soon") == 1


def test_an_option_of_the_url_is_not_taken_for_one_of_the_command(cli: Cli) -> None:
    status, _, err = cli("put q k --url sqlite:////nowhere/x.db?queue=q")
    assert (status, err) == (2, "pyqless: sqlite:// knows no option 'queue'\n")


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


@pytest.mark.parametrize("line", ["bogus", "jobs --bogus", "pop", "pop q r", "config bogus"])
def test_where_to_look_is_told(cli: Cli, line: str) -> None:
    status, out, err = cli(line)
    assert (status, out) == (2, "")
    assert err.startswith("pyqless: ")
    assert err.endswith(" -h)\n")
    assert err.count("\n") == 1


def test_what_was_typed_steers_no_terminal(cli: Cli) -> None:
    _, _, err = cli("'a\x1b[2J\nb'")
    assert "No such command" in err
    assert err.count("\n") == 1
    assert "\x1b" not in err
