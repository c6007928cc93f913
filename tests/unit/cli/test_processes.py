# SPDX-License-Identifier: MIT
"""The command line as people meet it: processes, signals, pipes, terminals."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pyqless.storage.default import VARIABLES

ROOT = Path(__file__).parent.parent.parent.parent
PYQLESS = (sys.executable, "-m", "pyqless")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """No URL, and a state directory of the test's own."""
    kept = {name: text for name, text in os.environ.items() if name not in VARIABLES}
    return {**kept, "XDG_STATE_HOME": str(tmp_path), "TERM": "xterm-256color", "COLUMNS": "150"}


def run(environment: dict[str, str], *arguments: str, given: str = "") -> tuple[int, str, str]:
    line = [*PYQLESS, *arguments]
    done = subprocess.run(
        line, env=environment, input=given, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


@contextmanager
def following(environment: dict[str, str], *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Follow events from a moment that has come, once this is entered."""
    pipe = subprocess.PIPE
    line = [*PYQLESS, "events", *arguments]
    with subprocess.Popen(line, env=environment, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stderr is not None
        try:
            while process.stderr.readline() != "pyqless: listening\n":
                assert process.poll() is None
            yield process
        finally:
            process.kill()


def test_what_is_put_in_one_terminal_runs_in_another(
    environment: dict[str, str], tmp_path: Path
) -> None:
    data = json.dumps({"marks": str(tmp_path / "marks")})
    status, out, err = run(environment, "put", "q", "tests.worker_jobs.touch", data, "--jid", "j")
    assert (status, out) == (0, "j\n")
    assert err.count("\n") == 1
    worker = ("worker", "q", "-m", "tests.worker_jobs", "--path", str(ROOT))
    # the only job is the last one, and nobody starts this worker again
    assert run(environment, *worker, "--kind", "serial", "--max-jobs", "1")[0] == 75
    status, out, _ = run(environment, "job", "j", "--json")
    assert (status, json.loads(out)["state"]) == (0, "complete")
    assert (tmp_path / "marks").read_text().startswith("began j ")


def test_events_come_from_other_processes_and_end_with_an_interrupt(
    environment: dict[str, str],
) -> None:
    with following(environment, "--json") as process:
        run(environment, "put", "q", "a.B", "--jid", "j")
        assert process.stdout is not None
        event = json.loads(process.stdout.readline())
        assert (event["event"], event["jid"]) == ("put", "j")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_who_reads_no_more_ends_the_stream_without_a_traceback(
    environment: dict[str, str],
) -> None:
    with following(environment) as process:
        assert process.stdout is not None
        process.stdout.close()
        run(environment, "put", "q", "a.B")
        assert process.wait(timeout=30) == 1
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


def test_who_reads_no_more_of_what_is_put_is_told_how_much_was(
    environment: dict[str, str], tmp_path: Path
) -> None:
    lines = tmp_path / "lines"
    lines.write_text("1\n" * 3000)
    put = f"{sys.executable} -m pyqless put q a.B --lines <{lines} | head -n 1"
    done = subprocess.run(
        ["/bin/sh", "-c", put], env=environment, capture_output=True, text=True, check=False
    )
    told = re.search(
        r"^pyqless: stopped; dealt with at least up to line ([\d,]+) of 3,000$",
        done.stderr,
        re.MULTILINE,
    )
    assert told is not None
    queues = json.loads(run(environment, "queues", "--json")[1])
    assert [queue["waiting"] for queue in queues] == [int(told[1].replace(",", ""))]


@contextmanager
def on_terminal(
    environment: dict[str, str], *arguments: str
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Run a command on a terminal; gives the process and the other side of its terminal."""
    ours, its = pty.openpty()
    line = [*PYQLESS, *arguments]
    with subprocess.Popen(line, env=environment, stdin=its, stdout=its, stderr=its) as process:
        os.close(its)
        try:
            yield process, ours
        finally:
            process.kill()
            os.close(ours)


def read_until(terminal: int, pattern: str) -> str:
    """Read what a terminal shows until something is there, or all of it."""
    seen = ""
    while not re.search(pattern, seen):
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the other side is closed
            return seen
        seen += part.decode()
    return seen


@pytest.mark.parametrize("end", ["q", "Ctrl-C"])
def test_top_fills_the_screen_until_it_is_ended(environment: dict[str, str], end: str) -> None:
    run(environment, "put", "mail", "a.B")
    with on_terminal(environment, "top", "--interval", "60") as (process, terminal):
        shown = read_until(terminal, "mail")
        assert "\x1b[?1049h" in shown
        if end == "q":
            os.write(terminal, b"q")
        else:
            process.send_signal(signal.SIGINT)
        assert "\x1b[?1049l" in read_until(terminal, "nothing more to come")
        assert process.wait(timeout=30) == 0


def test_top_does_not_wait_for_a_store_that_was_never_there(environment: dict[str, str]) -> None:
    with on_terminal(environment, "top", "--url", "redis://127.0.0.1:1") as (process, terminal):
        shown = read_until(terminal, "nothing more to come")
        assert process.wait(timeout=30) == 1
    assert shown.startswith("pyqless: the store cannot be reached: ")
    assert "\x1b[?1049h" not in shown


def test_colours_are_for_terminals(environment: dict[str, str]) -> None:
    run(environment, "put", "q", "a.B")
    run(environment, "pop", "q")
    assert "\x1b" not in run(environment, "jobs")[1]
    with on_terminal(environment, "jobs") as (_, terminal):
        assert "\x1b[32mrunning" in read_until(terminal, "nothing more to come")


def test_long_work_shows_a_bar_on_a_terminal(environment: dict[str, str]) -> None:
    given = "1\n" * 20
    assert "putting" not in run(environment, "put", "q", "a.B", "--lines", given=given)[2]
    with on_terminal(environment, "cancel", "-q", "q", "--yes") as (_, terminal):
        shown = read_until(terminal, "nothing more to come")
    assert "\x1b[?25l" in shown
    assert "cancelled 20 jobs" in shown


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_are_told_what_there_is(environment: dict[str, str], shell: str) -> None:
    asked = {**environment, "_PYQLESS_COMPLETE": f"source_{shell}"}
    status, out, _ = run(asked)
    assert status == 0
    assert "_PYQLESS_COMPLETE" in out


@pytest.mark.parametrize(
    ("words", "last", "completed"),
    [("pyqless un", 1, "unfail"), ("pyqless pop q too-many --ti", 4, "--timeout")],
)
def test_a_shell_completes_commands_and_options(
    environment: dict[str, str], words: str, last: int, completed: str
) -> None:
    asked = {
        **environment,
        "_PYQLESS_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(last),
    }
    assert run(asked)[1].split() == [completed]


def test_a_file_that_cannot_be_opened_is_told_in_one_line(
    environment: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "no-store"
    path.write_text("this is no database, but long enough to be taken for one\n" * 100)
    status, out, err = run(environment, "queues", "--url", f"sqlite:///{path}")
    assert (status, out) == (1, "")
    assert err.startswith("pyqless: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "line",
    ["--help", "--version", "queues --json", "doctor", "put q a.B", "dump", "queue -h"],
)
def test_a_full_disk_is_told_in_one_line(environment: dict[str, str], line: str) -> None:
    environment |= {"PYQLESS_URL": "fakeredis://"}
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [*PYQLESS, *line.split()],
            env=environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert re.fullmatch(r"pyqless: .* cannot be written: .*No space left on device\n", done.stderr)


def test_an_integer_that_lua_would_round_is_warned_of_in_one_line(
    environment: dict[str, str],
) -> None:
    number = "123456789012345678901234567890"
    status, out, err = run(environment, "put", "q", "a.B", number, "--jid", "j")
    assert (status, out) == (0, "j\n")
    _, warning = err.splitlines()
    assert warning.startswith("pyqless: data is an integer that Lua clients round")
    assert number in warning


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("put q a.B - <&-", 2),  # nothing is no JSON
        ("load <&-", 1),
        ("top <&-", 0),
        ("dump >&-", 0),
        ("queues --json >&-", 0),
        ("job j 2>&-", 1),
    ],
)
def test_a_stream_that_is_closed_is_empty(
    environment: dict[str, str], line: str, status: int
) -> None:
    environment |= {"PYQLESS_URL": "memory://"}
    done = subprocess.run(
        ["/bin/sh", "-c", f"{sys.executable} -m pyqless {line}"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status
    assert "Traceback" not in done.stderr


def test_bytes_that_are_no_text_are_no_data(environment: dict[str, str]) -> None:
    done = subprocess.run(
        [*PYQLESS, "put", "q", "a.B", "-"],
        env={**environment, "PYQLESS_URL": "memory://"},
        input=b'"\xff\xfe"',
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1
    assert b"DATA" in done.stderr
    assert b"is no JSON" in done.stderr
