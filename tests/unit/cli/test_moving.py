# SPDX-License-Identifier: MIT
"""pyqless dump, load and diff."""

from __future__ import annotations

import io
import sys
import uuid
from collections.abc import Callable

import pytest

from pyqless.cli import main
from pyqless.cli.moving import _bar
from pyqless.storage import open_storage
from pyqless.storage.default import VARIABLES
from pyqless.storage.parts import Part

#: the status, and the bytes on stdout and the text on stderr
Run = Callable[..., tuple[object, bytes, str]]

JOB = Part("ql:j:a", "hash", (("jid", "a"), ("state", "waiting")))
QUEUE = Part("ql:q:main-work", "zset", (("a", 0.1),))


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str, given: bytes = b"") -> tuple[object, bytes, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        with pytest.raises(SystemExit) as end:
            main(arguments)
        out, err = capsysbinary.readouterr()
        return end.value.code, out, err.decode()

    return run


def filled(*parts: Part) -> str:
    """The URL of a store in memory that holds these."""
    url = f"memory://{uuid.uuid4().hex}"
    with open_storage(url) as storage:
        storage.restore(parts)
    return url


def test_a_store_is_dumped_and_loaded(run: Run) -> None:
    source, target = filled(JOB, QUEUE), filled()

    status, dump, told = run("dump", source)
    assert (status, told) == (0, "dumped 2 keys with 3 entries (namespace ql)\n")
    status, out, told = run("load", target, given=dump)
    assert (status, out, told) == (0, b"", "loaded 2 keys with 3 entries (namespace ql)\n")

    assert run("diff", source, target) == (0, b"", "")


def test_the_url_may_come_from_the_environment(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYQLESS_URL", filled(JOB))
    status, dump, _ = run("dump")
    assert status == 0
    assert b"waiting" in dump


def test_a_store_that_shows_no_instant_is_warned_of(run: Run) -> None:
    status, _, told = run("dump", "fakeredis://")
    assert status == 0
    assert told.endswith("This store cannot show one instant: was anybody at work on it?\n")


def test_nothing_is_written_of_a_store_that_cannot_be_read(run: Run) -> None:
    status, dump, told = run("dump", "redis://ann:s3cret@127.0.0.1:1")
    assert (status, dump) == (1, b"")
    assert told.count("\n") == 1
    assert "s3cret" not in told


def test_a_store_that_holds_something_is_refused(run: Run) -> None:
    dump, target = run("dump", filled(JOB))[1], filled(QUEUE)
    status, out, told = run("load", target, given=dump)
    assert (status, out) == (1, b"")
    assert told == (
        f"pyqless: {target} holds ql:q:main-work and perhaps more: replace it, or merge the two,"
        " with --replace or --merge\n"
    )


@pytest.mark.parametrize(
    ("option", "lines"),
    [
        ("--replace", b"- ql:q:main-work: 'zset'\n"),
        ("--merge", b"~ ql:q:main-work 0: ('a', 0.1) | ('b', 0.0)\n"),
    ],
)
def test_a_store_is_replaced_or_merged(run: Run, option: str, lines: bytes) -> None:
    dump = run("dump", filled(JOB))[1]
    other = Part(QUEUE.key, "zset", (("b", 0.0), ("a", 0.1)))
    target = filled(QUEUE if option == "--replace" else other)
    assert run("load", target, option, given=dump)[0] == 0
    assert run("diff", filled(JOB, QUEUE), target) == (1, lines, "")


def test_one_cannot_replace_and_merge(run: Run) -> None:
    status, _, told = run("load", filled(), "--replace", "--merge")
    assert status == 2
    assert "--merge" in told


def test_a_damaged_dump_is_refused(run: Run) -> None:
    dump, target = run("dump", filled(JOB))[1], filled(QUEUE)
    status, _, told = run("load", target, "--replace", given=dump[:-1])
    assert status == 1
    assert told == "pyqless: the dump is incomplete or damaged: its checksum is wrong\n"
    assert run("diff", target, filled(QUEUE)) == (0, b"", "")


def test_namespaces(run: Run) -> None:
    source, target = filled(JOB), filled(QUEUE)
    dump = run("dump", source)[1]
    assert run("load", target, "--namespace", "other", given=dump)[0] == 0
    with open_storage(target, namespace="other") as storage:
        assert [part.key for part in storage.scan()] == ["other:j:a"]


def test_every_difference_has_a_line(run: Run) -> None:
    one = filled(JOB, Part("ql:a", "set", ("x", "y")), Part("ql:b", "list", ("\udcff" * 99,)))
    other = filled(
        Part(JOB.key, "hash", (("jid", "a"), ("worker", "w"), ("state", "running"))),
        Part("ql:a", "set", ("x", "z")),
        QUEUE,
    )
    status, lines, _ = run("diff", one, other)
    assert status == 1
    assert lines.decode().splitlines() == [
        "- ql:a 'y': 'y'",
        "+ ql:a 'z': 'z'",
        "- ql:b: 'list'",
        "~ ql:j:a 'state': 'waiting' | 'running'",
        "+ ql:j:a 'worker': 'w'",
        "+ ql:q:main-work: 'zset'",
    ]
    longer = filled(Part("ql:b", "list", ("x" * 100,)))
    _, lines, _ = run("diff", longer, filled(Part("ql:b", "list", ("y",))))
    assert lines.decode() == f"~ ql:b 0: '{'x' * 59}... | 'y'\n"


def test_a_dump_is_not_for_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True)
    status, _, told = run("dump", "memory://")
    assert status == 2
    assert "pyqless dump URL > FILE" in told


def test_a_full_disk_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.BytesIO):
        def write(self, *_: object) -> int:
            raise OSError(28, "No space left on device")

    class Stdout(io.StringIO):
        buffer = Full()

    monkeypatch.setattr(sys, "stdout", Stdout())
    status, _, told = run("dump", filled(JOB))
    assert status == 1
    assert told == "pyqless: the dump cannot be written: [Errno 28] No space left on device\n"


def test_a_terminal_sees_a_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes this for a terminal
    monkeypatch.setenv("TERM", "xterm")
    with _bar("dumped") as progress:
        for keys in range(201):
            progress(keys, 200)
    shown = capsys.readouterr().err
    assert "keys dumped" in shown
    assert "200/200" in shown
