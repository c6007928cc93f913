# SPDX-License-Identifier: MIT
"""The frame of the command line, and its commands where they need no server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import pyqless
from pyqless.cli import main
from pyqless.cli.app import app
from pyqless.conformance import Target, record_trace
from pyqless.doctor import Role, acl_line
from pyqless.storage.default import VARIABLES

#: the status, and what was printed
Run = Callable[..., tuple[object, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as end:
            main(arguments)
        return end.value.code, *capsys.readouterr()

    return run


def commands(command: Any = None, *names: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Walk through all commands."""
    command = command or get_command(app)
    yield names, command
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, *names, name)


# -- the frame --------------------------------------------------------------------------------


def test_the_version(run: Run) -> None:
    assert run("--version") == (0, f"pyqless {pyqless.__version__}\n", "")


def test_the_module_is_the_command() -> None:
    line = [sys.executable, "-m", "pyqless", "--version"]
    told = subprocess.run(line, capture_output=True, text=True, check=True)
    assert told.stdout == f"pyqless {pyqless.__version__}\n"


@pytest.mark.parametrize("names", [names for names, _ in commands()])
def test_every_command_explains_itself(run: Run, names: tuple[str, ...]) -> None:
    status, out, _ = run(*names, "-h")
    assert status == 0
    assert f"Usage: pyqless {' '.join(names)}".rstrip() in out


def test_every_command_and_option_has_a_help_text() -> None:
    for names, command in commands():
        assert command.help, names
        for option in command.params:
            assert option.help, (names, option.name)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nonsense", "No such command"),
        ("doctor http://host", "begins with none of memory://, redis://"),
        ("doctor redis://[host", "Invalid IPv6 URL"),
        ("doctor redis://host?socket_timeout=soon", "socket_timeout"),
        *((f"{line} -n 100000000000000000000", "--limit") for line in ("jobs", "failed")),
        ("events -n 100000000000000000000", "--count"),
        *((f"janitor --every {many}", "--every") for many in ("inf", "1e300")),
        *((f"top -i {many}", "--interval") for many in ("inf", "1e300")),
        ("doctor memory:// --role nobody", "'nobody' is not one of"),
        ("doctor memory:// --user app", "goes with --acl"),
        ("doctor --acl worker --json", "--json: does not go with --acl"),
        ("janitor --every 5m --json", "--json: does not go with --every"),
        ("workers w --deregister --json", "--json: does not go with --deregister"),
        ("doctor --acl worker --namespace a*", "namespace must have no"),
        ("conformance replay", "FILE"),
        ("conformance replay /nowhere", "file '/nowhere' cannot be read"),
        ("conformance compare --lua /nowhere", "--redis"),
        ("conformance compare --lua /nowhere --redis memory://", "begins with none of redis://"),
        ("conformance compare --lua /nowhere --redis redis://host", "'/nowhere' cannot be read"),
        ("conformance compare --lua x --redis redis://host --seeds 0", "--seeds"),
    ],
)
def test_wrong_usage(run: Run, line: str, words: str) -> None:
    status, out, err = run(*line.split())
    assert (status, out) == (2, "")
    assert words in err
    assert err.startswith("pyqless: ")
    assert err.count("\n") == 1


def test_what_fails_is_told_in_one_line(run: Run, tmp_path: Path) -> None:
    script = tmp_path / "core.lua"
    script.write_text("return 1")
    status, out, err = run(
        *("conformance", "compare", "--lua", str(script), "--redis", "redis://127.0.0.1:1")
    )
    assert (status, out) == (1, "")
    assert err.startswith("pyqless: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("name", ["typer", "rich"])
def test_without_the_extra(run: Run, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for module in [module for module in sys.modules if module.startswith("pyqless.cli.")]:
        monkeypatch.delitem(sys.modules, module)
        monkeypatch.delattr(pyqless.cli, module.rpartition(".")[2])
    for module in [module for module in sys.modules if module.startswith(f"{name}.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)
    status, *_ = run("--version")
    assert status == "pyqless: the command line is an extra: pip install 'pyqless[cli]'"


def test_a_module_of_our_own_that_is_missing_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pyqless.cli.app")
    monkeypatch.setitem(sys.modules, "pyqless.cli.status", None)
    with pytest.raises(ModuleNotFoundError):
        main(["--version"])


def test_an_interruption_while_commands_are_built(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pyqless.cli.app.app", interrupted)
    assert run("--version") == (130, "", "")


# -- doctor -----------------------------------------------------------------------------------


def test_a_store_that_can_be_used(run: Run) -> None:
    assert run("doctor", "memory://") == (
        0,
        (
            "server        ok       memory, in this process\n"
            "data          ok       0 entries looked at, none of them damaged\n"
            "memory://: usable as worker\n"
        ),
        "",
    )


def test_the_url_of_the_environment(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYQLESS_URL", "memory://")
    status, out, _ = run("doctor", "--role", "observer")
    assert status == 0
    assert out.endswith("memory://: usable as observer\n")


def test_a_store_that_cannot_be_used(run: Run) -> None:
    status, out, err = run("doctor", "redis://:secret@127.0.0.1:1")
    assert status == 1
    assert "connection    failure  the store cannot be reached" in out
    assert "\n                       -> see whether the server runs" in out
    assert out.endswith("redis://:***@127.0.0.1:1: not usable as worker: connection\n")
    assert err == ""


def test_a_report_for_machines(run: Run) -> None:
    status, out, _ = run("doctor", "fakeredis://", "--json", "--namespace", "{app}")
    report = json.loads(out)
    assert status == 0
    assert report.keys() == {"url", "namespace", "role", "checks", "usable"}
    assert (report["usable"], report["namespace"], report["role"]) == (True, "{app}", "worker")
    assert report["checks"][0].keys() == {"name", "verdict", "seen", "advice"}
    status, out, _ = run("doctor", "redis://127.0.0.1:1", "--json")
    assert status == 1
    assert json.loads(out)["usable"] is False


def test_on_a_terminal_there_are_colours(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    _, out, _ = run("doctor", "redis://127.0.0.1:1")
    assert "\x1b[1;31mfailure\x1b[0m" in out
    assert "Error 111 connecting to 127.0.0.1:1" in out


@pytest.mark.parametrize("role", Role)
def test_rights(run: Run, role: Role) -> None:
    status, out, err = run("doctor", "--acl", role)
    assert (status, out) == (0, acl_line(role) + "\n")
    assert f"ACL SETUSER pyqless-{role} >PASSWORD" in err


def test_rights_of_somebody_elsewhere(run: Run) -> None:
    _, out, err = run(
        *("doctor", "redis://host/3", "--acl", "worker", "--user", "app", "--namespace", "{app}")
    )
    assert out == acl_line(Role.WORKER, user="app", namespace="{app}", database=3) + "\n"
    assert "ACL SETUSER app >PASSWORD" in err


@pytest.mark.parametrize(
    ("url", "database"),
    [
        ("redis://host", 0),
        ("redis://host/0", 0),
        ("redis://host/15", 15),
        ("redis://host/1?db=2", 2),
        ("unix:///run/7?db=3", 3),
        ("unix:///7", 0),
        ("memory://", 0),
    ],
)
def test_rights_on_a_database(run: Run, url: str, database: int) -> None:
    _, out, _ = run("doctor", url, "--acl", "observer")
    assert out == acl_line(Role.OBSERVER, database=database) + "\n"


# -- conformance ------------------------------------------------------------------------------


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Write down what a few calls do."""
    calls = [
        ("put", "1", "w", "q", "A", "klass", '{"name": "Zoë"}', "0"),
        ("pop", "2", "q", "w", "1"),
        ("length", "3", "q"),
    ]
    path = tmp_path / "trace.jsonl"
    with Target("memory://") as core:
        path.write_text(record_trace(core, calls, seed=7).to_line() + "\n", encoding="utf-8")
    return path


def test_replay(run: Run, trace: Path) -> None:
    status, out, err = run("conformance", "replay", str(trace), str(trace))
    assert (status, err) == (0, "")
    assert "6 calls in 2 traces" in out
    status, out, _ = run("conformance", "replay", str(trace), "--storage", "fakeredis://")
    assert status == 0
    assert "3 calls in 1 trace" in out


def test_replay_finds_a_difference(run: Run, trace: Path) -> None:
    trace.write_text(trace.read_text("utf-8").replace('"reply":1', '"reply":2'), "utf-8")
    status, out, _ = run("conformance", "replay", str(trace))
    assert status == 1
    assert "trace 7, call 2: 'length' '3' 'q'" in out


def test_a_terminal_that_speaks_ascii_alone(trace: Path) -> None:
    trace.write_text(trace.read_text("utf-8").replace("Zoë\\\\\\", "Zo\\\\\\"), "utf-8")
    told = subprocess.run(
        [sys.executable, "-m", "pyqless", "conformance", "replay", str(trace)],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (told.returncode, told.stderr) == (1, "")
    assert "Zo\\xeb" in told.stdout
