# SPDX-License-Identifier: MIT
"""Interruptions at the few places of a transaction on a file where something is held: nothing stays so."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from pyqless import Client
from pyqless.errors import OutcomeUnknown
from pyqless.storage import open_storage
from pyqless.storage.sqlite.keyspace import StoredKeyspace
from pyqless.storage.sqlite.lane import Lane
from pyqless.storage.sqlite.lanes import Lanes
from pyqless.storage.sqlite.log import Log, LogFile
from pyqless.storage.sqlite.turns import Turns


def just_behind(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same, but interrupted as soon as it is done, the first time."""
    calls = 0

    def interrupted(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        result = function(*arguments, **options)
        calls += 1
        if calls == 1:
            raise KeyboardInterrupt
        return result

    return interrupted


def instead_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same, but interrupted before it has done anything, the first time."""
    calls = 0

    def interrupted(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise KeyboardInterrupt
        return function(*arguments, **options)

    return interrupted


@pytest.mark.parametrize(
    ("place", "name", "interrupt"),
    [
        (Lane, "begin_writing", just_behind),
        (Turns, "take", just_behind),
        (Turns, "leave", instead_of),
        (Log, "_flush", just_behind),
    ],
    ids=[
        "behind BEGIN",
        "with the turn",
        "when the turn is given back",
        "while the disk is waited for",
    ],
)
def test_others_go_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: type[Any],
    name: str,
    interrupt: Callable[[Callable[..., Any]], Callable[..., Any]],
) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db?timeout=2"
    with Client(url) as client, Client(url) as other:
        client.queues["q"].put("klass")
        monkeypatch.setattr(place, name, interrupt(getattr(place, name)))
        with pytest.raises(KeyboardInterrupt):
            client.queues["q"].put("klass")
        put: list[str] = []
        thread = threading.Thread(
            target=lambda: put.append(client.queues["q"].put("klass", jid="of a thread"))
        )
        thread.start()
        thread.join(10)
        assert put == ["of a thread"]
        other.queues["q"].put("klass", jid="of another")
        client.queues["q"].put("klass", jid="again")
        waiting = {job.jid for job in client.queues["q"].peek(9)}
        assert {"again", "of another", "of a thread"} <= waiting


def interrupted_at(place: int, call: Callable[[], object]) -> bool:
    """
    Make a call, and interrupt it where Python looks for signals: where a function begins, or behind one of C's.

    Args:
        place: counted from 1.

    Returns:
        bool: whether there is such a place; of those that lie in the storage's code, or in what opens its contexts.
    """
    left = place

    def look(frame: FrameType, event: str, _: object) -> None:
        nonlocal left
        path = frame.f_code.co_filename
        if event in ("call", "c_return") and ("sqlite" in path or "contextlib" in path):
            left -= 1
            if not left:
                raise KeyboardInterrupt

    sys.setprofile(look)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    return False


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", ["write", "look"])
def test_wherever_an_interruption_comes_all_go_on(tmp_path: Path, name: str) -> None:
    """Other threads and other processes before the one that was interrupted, and that one with nothing but the truth."""
    url = f"sqlite:///{tmp_path}/jobs.db?timeout=5"
    with Client(url) as client, Client(url) as other, ThreadPoolExecutor(1) as pool:
        queue = client.queues["q"]
        calls: dict[str, Callable[[], object]] = {
            "write": lambda: queue.put("klass"),
            "look": lambda: client.storage.run(lambda tx: tx.snapshot(("HGET", "key", "field"))),
        }
        place = 1
        while interrupted_at(place, calls[name]):
            pool.submit(client.queues["of a thread"].put, "klass").result()
            other.queues["of another"].put("klass")
            calls["look"]()
            while queue.pop():  # what was put, or was not, as the lane knows it that has put it
                pass
            assert client.storage.dump() == other.storage.dump()
            place += 1
    assert place > 40


def test_what_was_not_undone_when_another_interruption_came_is_undone_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Client(f"sqlite:///{tmp_path}/jobs.db") as client:
        queue = client.queues["q"]
        queue.put("klass", jid="first")
        for place, name in ((StoredKeyspace, "save"), (Lane, "roll_back")):
            monkeypatch.setattr(place, name, instead_of(getattr(place, name)))
        with pytest.raises(KeyboardInterrupt):
            queue.put("klass", jid="second")
        assert [job.jid for job in queue.pop(9)] == ["first"]


@pytest.mark.parametrize("fails", [False, True], ids=["well", "the disk fails"])
def test_a_call_of_a_signals_handler_while_the_disk_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, fails: bool
) -> None:
    """Both are told what the disk has said."""
    flush, told = LogFile.flush, []

    def flush_and_handle(file: LogFile) -> None:
        monkeypatch.setattr(LogFile, "flush", fail if fails else flush)
        put("of the handler")
        monkeypatch.setattr(LogFile, "flush", flush)
        LogFile.flush(file)

    def fail(_: LogFile) -> None:
        raise OSError("the disk fails")

    def put(jid: str) -> None:
        with suppress(OutcomeUnknown):
            told.append(client.queues["q"].put("klass", jid=jid))

    with Client(f"sqlite:///{tmp_path}/jobs.db") as client:
        client.queues["q"].put("klass", jid="before")
        monkeypatch.setattr(LogFile, "flush", flush_and_handle)
        thread = threading.Thread(target=put, args=("of the thread",), daemon=True)
        thread.start()
        thread.join(10)
        assert not thread.is_alive()
        assert told == ([] if fails else ["of the handler", "of the thread"])
        assert len(client.queues["q"]) == 3
        put("behind")
        assert told[-1:] == ["behind"]


class Disk(LogFile):
    """One that does something while it is waited for."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act

    def flush(self) -> None:
        self._act()


def test_a_disk_that_failed_for_a_signals_handler_is_not_asked_again() -> None:
    """It might say that all is well, and have thrown away what it could not write."""
    log = Log("jobs.db")

    def fail() -> None:
        raise OSError("the disk fails")

    def handle() -> None:
        with pytest.raises(OutcomeUnknown):
            log.flush(Disk(fail), log.committed())
        fail()

    with pytest.raises(OutcomeUnknown):
        log.flush(Disk(handle), log.committed())
    with pytest.raises(OutcomeUnknown):
        log.flush(Disk(lambda: None), log.latest)


def log_of(path: Path) -> Path:
    """SQLite's log, which the last connection removes when it is closed."""
    return path.with_name(f"{path.name}-wal")


@pytest.mark.parametrize(
    ("name", "interrupt"), [("enter", just_behind), ("leave", instead_of)], ids=["in", "out"]
)
def test_who_was_interrupted_on_the_way_is_not_waited_for(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    interrupt: Callable[[Callable[..., Any]], Callable[..., Any]],
) -> None:
    path = tmp_path / "jobs.db"
    with Client(f"sqlite:///{path}?timeout=30") as client:
        client.queues["q"].put("klass")
        monkeypatch.setattr(Lanes, name, interrupt(getattr(Lanes, name)))
        for _ in range(2):
            with suppress(KeyboardInterrupt):
                client.queues["q"].put("klass")
        began = time.monotonic()
        if not (child := os.fork()):
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert time.monotonic() - began < 10
        client.queues["q"].put("klass")
        assert log_of(path).exists()
    assert not log_of(path).exists(), "all connections are closed"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("tries", [300, pytest.param(20_000, marks=pytest.mark.soak)])
def test_whenever_a_call_was_interrupted_all_is_closed(tmp_path: Path, tries: int) -> None:
    path = tmp_path / "jobs.db"
    interrupted = 0

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for number in range(tries):
            storage = open_storage(f"sqlite:///{path}")
            storage.run(lambda tx: tx.snapshot(("HGET", "key", "field")))
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-6 + number % 100 * 5e-6)
                for _ in range(100):
                    storage.run(lambda tx: tx.snapshot(("HGET", "key", "field")))
            except KeyboardInterrupt:
                interrupted += 1
            storage.close()
            assert not log_of(path).exists(), number
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    # where Python calls back from a collection, it only tells of an interruption and goes on
    assert tries * 0.9 < interrupted <= tries
