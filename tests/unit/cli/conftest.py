# SPDX-License-Identifier: MIT
"""Commands on a store in memory that they share with the test."""

from __future__ import annotations

import io
import json
import logging
import shlex
import sys
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pyqless.cli import main
from pyqless.client import Client

#: the status, and what was printed on stdout and stderr
Cli = Callable[..., tuple[object, str, str]]


@pytest.fixture(autouse=True)
def root() -> Iterator[logging.Logger]:
    """Give the root of all loggers, and leave it as it was: commands set up the log of their process."""
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    yield root
    root.setLevel(level)
    root.handlers[:] = handlers


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> str:
    """Name the store, which the environment names to the commands, too."""
    url = f"memory://{uuid.uuid4().hex}"
    monkeypatch.setenv("PYQLESS_URL", url)
    return url


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    """Give a client of the store."""
    with Client(url, worker_name="w") as client:
        yield client


@pytest.fixture
def cli(url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run a command line in this process."""
    monkeypatch.setenv("COLUMNS", "200")

    def cli(line: str, given: str = "") -> tuple[object, str, str]:
        stdin = io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(SystemExit) as end:
            main(shlex.split(line))
        return end.value.code, *capsys.readouterr()

    return cli


@pytest.fixture
def answer(cli: Cli) -> Callable[..., Any]:
    """Run a command line with --json, which must succeed and say nothing else, and give its document."""

    def answer(line: str, given: str = "", status: int = 0) -> Any:
        code, out, _ = cli(f"{line} --json", given)
        assert code == status
        return json.loads(out)

    return answer
