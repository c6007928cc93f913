# SPDX-License-Identifier: MIT
"""``pyqless worker``: what it makes of options and of the environment."""

from __future__ import annotations

import io
import json
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pyqless.cli import main
from pyqless.cli import worker as command
from pyqless.cli.processes import LogFormat, end, set_up
from pyqless.worker import ExitCode, Ordered, Runner, SerialWorker, ShuffledRoundRobin

#: what ``--runner`` names
runner = Runner(compat=True)

VARIABLES = (
    *("PYQLESS_URL", "REDIS_URL", "QUEUES", "INTERVAL", "JOB_RESERVER"),
    *("VERBOSE", "VVERBOSE", "RUN_AS_SINGLE_PROCESS"),
)

Start = Callable[..., Any]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Start:
    """Run the command up to the moment at which the worker would begin, and give that worker."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(command, "set_up", lambda level, *_, **__: levels.append(level))
    monkeypatch.setattr(command, "run", begin)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def start(*arguments: str, status: int = 0, **environment: str) -> Any:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        begun.clear()
        with pytest.raises(SystemExit) as end:
            main(["worker", *arguments])
        assert end.value.code == status
        return begun[0] if begun else None

    return start


begun: list[Any] = []
levels: list[int] = []


def begin(worker: Any) -> ExitCode:
    begun.append(worker)
    return ExitCode.DONE


MODULE = ("-m", "jobs.*")


def test_without_a_url_a_worker_works_on_the_file_of_the_user(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    worker = start("mail", "--kind", "serial", *MODULE, XDG_STATE_HOME=str(tmp_path))
    url = f"sqlite:///{tmp_path}/pyqless/queue.db"
    assert worker.client.storage.url == url
    assert url in capsys.readouterr().err


def test_the_environment_of_qless_workers_is_honoured(start: Start) -> None:
    worker = start(
        *MODULE,
        REDIS_URL="memory://",
        QUEUES="fizz, buzz",
        INTERVAL="7.5",
        JOB_RESERVER="ShuffledRoundRobin",
        RUN_AS_SINGLE_PROCESS="1",
        VERBOSE="1",
    )
    assert isinstance(worker, SerialWorker)
    assert list(worker.settings.queues) == ["fizz", "buzz"]
    assert worker.settings.interval == 7.5
    assert isinstance(worker.settings.reserver, ShuffledRoundRobin)
    assert worker.client.storage.url == "memory://"
    assert levels[-1] == logging.INFO


def test_options_go_before_the_environment(start: Start) -> None:
    worker = start(
        *(
            "mail",
            "--url",
            "memory://mine",
            "--kind",
            "threads",
            "-c",
            "3",
            "--reserver",
            "Ordered",
        ),
        *(*MODULE, "--interval", "1", "--name", "me", "-vv"),
        PYQLESS_URL="memory://theirs",
        QUEUES="fizz",
        INTERVAL="9",
        JOB_RESERVER="RoundRobin",
        RUN_AS_SINGLE_PROCESS="1",
    )
    assert worker.kind == "threads"
    assert (worker.name, list(worker.settings.queues)) == ("me", ["mail"])
    assert worker.client.storage.url == "memory://mine"
    assert isinstance(worker.settings.reserver, Ordered)
    assert levels[-1] == logging.DEBUG


def test_pyqless_url_goes_before_redis_url(start: Start) -> None:
    worker = start(
        *("mail", "--kind", "serial", *MODULE), PYQLESS_URL="memory://a", REDIS_URL="memory://b"
    )
    assert worker.client.storage.url == "memory://a"


def test_names_are_never_used_twice(start: Start) -> None:
    arguments = ("mail", "--kind", "serial", "--url", "memory://", *MODULE)
    assert start(*arguments).name != start(*arguments).name


def test_a_runner_of_ones_own(start: Start) -> None:
    named = f"{__name__}:runner"
    worker = start("mail", "--kind", "serial", "--url", "memory://", "--runner", named)
    assert worker.settings.runner.compat


@pytest.mark.parametrize(
    "option", [("--module", "json"), ("--time-limit", "5"), ("--compat",), ("--keep-results",)]
)
def test_what_a_runner_of_ones_own_says_for_itself_does_not_go_with_it(
    start: Start, capsys: pytest.CaptureFixture[str], option: tuple[str, ...]
) -> None:
    named = ("mail", "--url", "memory://", "--kind", "serial", "--runner", f"{__name__}:runner")
    assert start(*named, *option, status=2) is None
    told = f"Invalid value for {option[0]}: does not go with --runner"
    assert told in capsys.readouterr().err


def test_a_path_goes_before_the_current_directory_and_takes_it_away_from_nobody(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for place, module in ((here, "lies_here"), (here, "in_both"), (there, "in_both")):
        place.mkdir(exist_ok=True)
        (place / f"{module}.py").touch()
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.chdir(here)
    names = ("-m", "lies_here", "-m", "in_both")
    start("mail", "--kind", "serial", "--url", "memory://", "--path", "../there", *names)
    assert sys.modules["lies_here"].__file__ == str(here / "lies_here.py")
    assert sys.modules["in_both"].__file__ == str(there / "in_both.py")


def test_a_path_that_is_not_there(start: Start, capsys: pytest.CaptureFixture[str]) -> None:
    start("mail", "--path", "/nowhere/at/all", *MODULE, status=2)
    _, err = capsys.readouterr()
    assert "--path" in err
    assert "'/nowhere/at/all' does not exist" in err


@pytest.mark.parametrize(
    ("text", "named", "words"),
    [
        ("def f(:", "raises_on_import:runner", "cannot be imported: SyntaxError"),
        (
            "raise RuntimeError('no')",
            "raises_on_import:runner",
            "cannot be imported: RuntimeError: no",
        ),
        (
            "raise OSError('no\\nway')",
            "raises_on_import:runner",
            r"cannot be imported: OSError: no\nway",
        ),
        ("", ".raises_on_import:runner", "cannot be imported: TypeError"),
    ],
)
def test_a_runner_that_cannot_be_imported(
    start: Start,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    text: str,
    named: str,
    words: str,
) -> None:
    (tmp_path / "raises_on_import.py").write_text(text)
    start("mail", "--path", str(tmp_path), "--runner", named, status=2)
    _, err = capsys.readouterr()
    assert f"{named!r} {words}" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        MODULE,
        ("mail",),
        ("mail", "-m", "not a module"),
        ("mail", "--resume", *MODULE),
        ("mail", "--runner", "nowhere_at_all:runner"),
        ("mail", "--runner", f"{__name__}:MODULE"),
        *(("mail", "--runner", named) for named in (":", "json", "json:", ":runner")),
        ("mail", "--kind", "other", *MODULE),
        ("mail", "--url", "ftp://host", *MODULE),
        ("mail", "--url", "memory://", *MODULE),  # children could not share it
    ],
    ids=" ".join,
)
def test_wrong_usage(start: Start, arguments: tuple[str, ...]) -> None:
    assert start(*arguments, status=2) is None


@pytest.mark.parametrize(
    ("kind", "most"), [("forking", 1000), ("threads", 1000), ("asyncio", 10_000)]
)
def test_too_many_at_once(
    start: Start, capsys: pytest.CaptureFixture[str], kind: str, most: int
) -> None:
    many = ("-c", "1000000")
    start("mail", "--kind", kind, "--url", "memory://", *many, *MODULE, status=2)
    told = f"pyqless: --count must lie between 1 and {most}: 1000000\n"
    assert capsys.readouterr() == ("", told)


@pytest.mark.parametrize(
    ("kind", "option"),
    [
        ("serial", "--count"),
        *(
            (kind, option)
            for kind in ("serial", "threads", "asyncio")
            for option in ("--fork-per-job", "--spawn")
        ),
    ],
)
def test_what_means_nothing_to_a_kind_does_not_go_with_it(
    start: Start, capsys: pytest.CaptureFixture[str], kind: str, option: str
) -> None:
    more = ["5"] if option == "--count" else []
    start("mail", "--kind", kind, "--url", "memory://", *MODULE, option, *more, status=2)
    told = f"Invalid value for {option}: does not go with --kind {kind}"
    assert told in capsys.readouterr().err


def test_a_number_of_jobs_does_not_go_with_a_process_for_each(
    start: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    start("mail", "--url", "memory://", *MODULE, "--fork-per-job", "--max-jobs", "5", status=2)
    assert "--max-jobs: does not go with --fork-per-job" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "bytes_"), [("120", 120 * 2**20), ("500M", 500 * 2**20)])
def test_memory_is_told_by_its_size(start: Start, text: str, bytes_: int) -> None:
    arguments = ("mail", "--kind", "serial", "--url", "memory://", *MODULE)
    assert start(*arguments, "--max-memory", text).settings.limits.memory == bytes_


def test_times_are_spans(start: Start) -> None:
    arguments = ("mail", "--kind", "serial", "--url", "memory://", *MODULE)
    worker = start(*arguments, "--grace", "2m", "--time-limit", "1h", INTERVAL="1m")
    assert (worker.settings.grace, worker.settings.interval) == (120, 60)
    usual = start(*arguments, INTERVAL="").settings
    assert (usual.grace, usual.interval) == (10, 5)


def test_the_log_is_json_where_that_is_wanted(
    root: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up(logging.INFO, LogFormat.JSON, [*sys.path], force=True)
    logging.getLogger("pyqless.worker").info("job %s", "J", extra={"jid": "J"})
    told = json.loads(capsys.readouterr().err)
    assert (told["level"], told["message"], told["jid"]) == ("INFO", "job J", "J")


@pytest.mark.parametrize("log_format", LogFormat)
def test_a_child_leaves_the_log_as_it_is(root: logging.Logger, log_format: LogFormat) -> None:
    handlers = root.handlers[:]
    set_up(logging.INFO, log_format, [*sys.path])
    assert handlers
    assert root.handlers == handlers


def test_the_module_of_a_runner_has_the_last_word(
    root: logging.Logger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sets_up_logging.py").write_text(
        "import logging\nlogging.basicConfig(handlers=[logging.NullHandler()], force=True)\n"
    )
    monkeypatch.setattr(sys, "path", [*sys.path])
    path = [str(tmp_path), *sys.path]
    set_up(logging.INFO, LogFormat.JSON, path, "sets_up_logging", force=True)
    assert [type(handler) for handler in root.handlers] == [logging.NullHandler]


def test_another_format_of_the_log_is_refused(
    start: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    start("mail", *MODULE, "--log-format", "xml", status=2)
    assert "'--log-format': 'xml' is not one of 'text', 'json'" in capsys.readouterr().err


def test_a_process_that_is_cut_off_ends_where_nobody_reads_its_output(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Unread(io.StringIO):
        def flush(self) -> None:
            raise BrokenPipeError

    class Ended(BaseException):
        pass

    def leave(code: int) -> None:
        raise Ended(code)

    monkeypatch.setattr(sys, "stdout", Unread())
    monkeypatch.setattr(logging, "shutdown", lambda: None)
    monkeypatch.setattr(os, "_exit", leave)
    with pytest.raises(Ended) as ended:
        end(ExitCode.CUT_OFF)
    assert ended.value.args == (ExitCode.CUT_OFF,)
