# SPDX-License-Identifier: MIT
"""Every command is documented, and as it is."""

from __future__ import annotations

import re

import pytest

from tests.cli_reference import PAGE, commands, page, parameters
from tests.unit.cli.conftest import Cli

NAMED = [
    *(
        "worker",
        "put",
        "pop",
        "complete",
        "fail",
        "peek",
        "jobs",
        "job",
        "queues",
        "failed",
        "retry",
        "unfail",
    ),
    *("cancel", "move", "workers", "stats", "events", "top", "janitor", "doctor"),
    *("queue pause", "queue unpause", "queue forget", "queue stats", "tag add", "track add"),
    *("recur put", "config set", "conformance replay", "dump", "load", "diff"),
]


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.cli_reference"


def test_every_command_has_a_section() -> None:
    sections = re.findall(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sections == [" ".join(names) for names, _ in commands()]
    assert set(NAMED) <= set(sections)


@pytest.mark.parametrize(
    ("names", "function"), list(commands()), ids=[" ".join(names) for names, _ in commands()]
)
def test_what_the_page_says_is_what_the_command_takes(
    cli: Cli, names: tuple[str, ...], function: object
) -> None:
    status, out, _ = cli(f"{' '.join(names)} --help")
    assert status == 0
    assert callable(function)
    for parameter in parameters(function):
        assert parameter.info.help
        for name in parameter.switch.partition(" ")[0].strip("[],").split(", "):
            assert name in out, parameter.name
