# SPDX-License-Identifier: MIT
"""The help is read in a narrow terminal: nothing is wider than it, no name is broken, and none is left out."""

from __future__ import annotations

import re

import pytest
from typer.main import get_command

from pyqless.cli.app import app
from pyqless.cli.helping import notes
from tests.cli_reference import commands, parameters
from tests.unit.cli.conftest import Cli
from tests.unit.cli.test_cli import commands as commands_and_groups

NAMES = [" ".join(names) for names, _ in commands_and_groups(get_command(app))]


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("name", NAMES)
def test_no_line_is_wider_than_the_terminal(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    _, out, _ = cli(f"{name} -h")
    assert [line for line in out.splitlines() if len(line) > width] == []


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize(
    ("names", "function"), list(commands()), ids=[" ".join(names) for names, _ in commands()]
)
def test_no_word_is_broken(
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
    names: tuple[str, ...],
    function: object,
    width: int,
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    _, out, _ = cli(f"{' '.join(names)} -h")
    assert callable(function)
    words = set(out.split())
    assert set((function.__doc__ or "").split()) <= words
    for parameter in parameters(function):
        assert set((parameter.info.help or "").split()) <= words


def test_lines_of_a_paragraph_are_filled(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = cli("worker -h")
    paragraphs = out.partition("Arguments:")[0].split("\n\n")
    for paragraph in paragraphs:
        *full, _ = [*paragraph.splitlines(), ""]
        assert all(len(line) > 60 for line in full[:-1])


@pytest.mark.parametrize(
    ("names", "function"), list(commands()), ids=[" ".join(names) for names, _ in commands()]
)
def test_each_option_that_takes_a_value_says_what(names: tuple[str, ...], function: object) -> None:
    assert callable(function)
    for parameter in parameters(function):
        is_flag = parameter.kind is bool or getattr(parameter.info, "count", False)
        assert is_flag is (parameter.info.metavar is None), (names, parameter.name)


def test_the_usage_is_that_of_the_reference(cli: Cli) -> None:
    assert cli("put -h")[1].startswith("Usage: pyqless put QUEUE [CLASS] [DATA] [OPTION...]\n")
    assert cli("config -h")[1].startswith("Usage: pyqless config COMMAND [ARGUMENT...] [OPTION...]")


def test_a_group_alone_explains_itself(cli: Cli) -> None:
    status, out, err = cli("config")
    assert (status, err) == (2, "")
    assert out == cli("config -h")[1]
    assert re.search(r"^  unset +Go back", out, re.MULTILINE)


def test_variables_and_defaults_are_told() -> None:
    assert notes(None, None) == ""
    assert notes(None, default=True) == ""
    assert notes("INTERVAL", 5.0) == " [variable INTERVAL; default 5]"
    assert notes(["A", "B"], ()) == " [variable A or B]"
