# SPDX-License-Identifier: MIT
"""What is acknowledged is on the disk, others write meanwhile, and the file does not grow without bound."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pyqless.core.effects import Continue, Factory, FollowedBy, Transition
from pyqless.core.transaction import Transaction
from pyqless.errors import OutcomeUnknown, StoreUnavailable
from pyqless.storage import Storage, open_storage
from pyqless.storage.sqlite import file as sqlite_file
from pyqless.storage.sqlite import log
from tests.sqlite_files import call, problems, url_of

NOW = 1400000000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


def put(storage: Storage, jid: str, data: str = "{}") -> None:
    call(storage, "put", NOW, "w", "q", jid, "K", data, 0)


class Disk:
    """Stands between the storage and the disk."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.flushes = 0
        self.before: Callable[[], None] = lambda: None
        self.after: Callable[[], None] = lambda: None
        self._flush = log._flush
        monkeypatch.setattr(log, "_flush", self.flush)

    def flush(self, descriptor: int) -> None:
        self.flushes += 1
        self.before()
        self._flush(descriptor)
        self.after()


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def flushes(storage: Storage, disk: Disk, *words: object) -> int:
    """Carry out a call; tell how often it has waited for the disk."""
    before = disk.flushes
    call(storage, *words)
    return disk.flushes - before


def test_each_call_that_takes_in_or_finishes_work_waits_for_the_disk(
    path: Path, disk: Disk
) -> None:
    with open_storage(url_of(path)) as storage:
        for number in range(3):
            jid = f"jid{number}"
            assert flushes(storage, disk, "put", NOW, "w", "q", jid, "K", "{}", 0) == 1
        call(storage, "pop", NOW, "q", "w", 3)
        assert flushes(storage, disk, "log", NOW, "jid0", "message") == 1
        assert flushes(storage, disk, "complete", NOW, "jid0", "w", "q", "{}") == 1
        assert flushes(storage, disk, "fail", NOW, "jid1", "w", "group", "message") == 1
        assert flushes(storage, disk, "retry", NOW, "jid2", "q", "w") == 1
        assert flushes(storage, disk, "cancel", NOW, "jid1") == 1


def test_looking_does_not_wait_for_the_disk(path: Path, disk: Disk) -> None:
    with open_storage(url_of(path)) as storage:
        put(storage, "jid")
        assert flushes(storage, disk, "get", NOW, "jid") == 0
        assert flushes(storage, disk, "queues", NOW) == 0
        before = disk.flushes
        storage.dump()
        assert disk.flushes == before


def test_lending_does_not_wait_for_the_disk(path: Path, disk: Disk) -> None:
    with open_storage(url_of(path)) as storage:
        put(storage, "jid")
        assert flushes(storage, disk, "pop", NOW, "q", "w", 1) == 0
        assert flushes(storage, disk, "heartbeat", NOW + 1, "jid", "w") == 0
        assert flushes(storage, disk, "pop", NOW + 2, "q", "w", 1) == 0


def test_lending_waits_for_the_disk_where_the_job_must_not_run_again(
    path: Path, disk: Disk
) -> None:
    with open_storage(url_of(path)) as storage:
        call(storage, "put", NOW, "w", "q", "jid", "K", "{}", 0, "retries", 0)
        assert flushes(storage, disk, "pop", NOW, "q", "w", 1) == 1
        assert flushes(storage, disk, "heartbeat", NOW + 1, "jid", "w", '{"done": 1}') == 1


def link(number: int, end: Any) -> Factory[Any]:
    """Make the first of so many links, each of which adds its number to a list; ``end`` is the value of the last."""

    def transition(tx: Transaction) -> Transition[Any]:
        yield from tx.read(("LLEN", "ql:links"))
        tx.rpush("ql:links", str(number))
        return end if number == 1 else Continue(link(number - 1, end))

    return transition


def look(_: Transaction) -> Transition[str]:
    """Find nothing to do."""
    return "seen"
    yield


def links(storage: Storage) -> list[str]:
    """What the links have written, as far as it is committed."""
    found: list[str] = storage.dump()["ql:links"]["value"]
    return found


@pytest.mark.parametrize("end", ["done", Continue(look)])
def test_a_chain_waits_for_the_disk_once_when_all_is_committed(
    path: Path, disk: Disk, end: Any
) -> None:
    seen: list[list[str]] = []
    with open_storage(url_of(path)) as storage:
        disk.before = lambda: seen.append(links(storage))
        assert storage.run(link(3, end)) in {"done", "seen"}
    assert seen == [["3", "2", "1"]]


def test_a_chain_waits_for_what_its_end_does_not_have_to(path: Path, disk: Disk) -> None:
    def announce(tx: Transaction) -> Transition[None]:
        yield from tx.read(("EXISTS", "ql:links"))
        tx.publish("ql:log", "{}")

    with open_storage(url_of(path)) as storage:
        storage.run(announce)
        assert disk.flushes == 0
        storage.run(link(1, Continue(announce)))
        assert disk.flushes == 1


def test_housekeeping_does_not_wait_for_the_disk(path: Path, disk: Disk) -> None:
    seen: list[list[str]] = []
    with open_storage(url_of(path)) as storage:
        disk.before = lambda: seen.append(links(storage))
        assert storage.run(link(2, FollowedBy("done", link(2, None)))) == "done"
        assert seen == [["2", "1"]]
        assert links(storage) == ["2", "1", "2", "1"]


def test_normal_does_not_wait_for_the_disk(path: Path, disk: Disk) -> None:
    with open_storage(url_of(path, synchronous="normal")) as storage:
        put(storage, "jid")
    assert disk.flushes == 0


def test_a_power_cut_undoes_nothing_that_was_acknowledged(
    path: Path, tmp_path: Path, disk: Disk
) -> None:
    """What is copied when the disk is done is what a power cut leaves at least."""
    left = tmp_path / "left"

    def copy() -> None:
        shutil.rmtree(left, ignore_errors=True)
        left.mkdir()
        for name in (path.name, f"{path.name}-wal"):
            shutil.copy(path.parent / name, left / name)

    disk.after = copy
    with open_storage(url_of(path)) as storage:
        # enough for the log to begin anew a few times
        for number in range(400):
            put(storage, f"jid{number}", '"%s"' % ("x" * 10_000))
            if number % 20 == 0:
                with open_storage(url_of(left / path.name)) as after:
                    jids = [f"jid{each}" for each in range(number + 1)]
                    found = call(after, "multiget", NOW, *jids)
                    assert [job.jid for job in found] == jids
                copy()
        assert problems(left / path.name) == []


def test_a_power_cut_gives_back_what_was_lent(path: Path, tmp_path: Path, disk: Disk) -> None:
    left = tmp_path / "left"
    left.mkdir()

    def copy() -> None:
        for name in (path.name, f"{path.name}-wal"):
            shutil.copy(path.parent / name, left / name)

    disk.after = copy
    with open_storage(url_of(path)) as storage:
        put(storage, "jid")
        (lent,) = call(storage, "pop", NOW, "q", "w", 1)
        assert lent.fields["state"] == "running"
        disk.after = lambda: None
    with open_storage(url_of(left / path.name)) as after:
        assert call(after, "get", NOW, "jid").fields["state"] == "waiting"
        (again,) = call(after, "pop", NOW, "q", "other", 1)
        assert call(after, "complete", NOW, again.jid, "other", "q", "{}") == "complete"
    assert problems(left / path.name) == []


def test_the_log_s_file_is_the_one_that_is_written(path: Path) -> None:
    wal = path.with_name("jobs.db-wal")
    with open_storage(url_of(path)) as storage:
        put(storage, "jid")
        before = wal.stat().st_ino
        for number in range(3):
            with open_storage(url_of(path)) as other:
                put(other, f"other{number}")
        put(storage, "another")
        assert wal.stat().st_ino == before


@contextmanager
def held(disk: Disk) -> Iterator[threading.Event]:
    """Hold the disk up; the event says that somebody waits for it."""
    waits, go = threading.Event(), threading.Event()

    def wait() -> None:
        waits.set()
        assert go.wait(60)

    disk.before = wait
    try:
        yield waits
    finally:
        if disk.before is wait:
            disk.before = lambda: None
        go.set()


def test_the_log_stays_open_while_one_waits_for_the_disk(path: Path, disk: Disk) -> None:
    storage = open_storage(url_of(path))
    storage.flush()
    with ThreadPoolExecutor(1) as pool:
        with held(disk) as waits:
            waiting = pool.submit(put, storage, "jid")
            assert waits.wait(60)
            storage.close()
        waiting.result(60)
    assert not path.with_name("jobs.db-wal").exists()
    with open_storage(url_of(path)) as after:
        assert call(after, "get", NOW, "jid") is not None


def test_a_log_that_cannot_be_flushed_is_said_before_the_commit(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with open_storage(url_of(path)) as storage:
        with monkeypatch.context() as broken:
            broken.setattr(os, "fsync", fail)
            with pytest.raises(StoreUnavailable, match="cannot be flushed"):
                put(storage, "jid")
        assert call(storage, "get", NOW, "jid") is None
        put(storage, "jid")


def test_others_write_while_one_waits_for_the_disk(path: Path, disk: Disk) -> None:
    with (
        open_storage(url_of(path)) as storage,
        open_storage(url_of(path, synchronous="normal", timeout=1)) as other,
        ThreadPoolExecutor(1) as pool,
    ):
        storage.flush()
        with held(disk) as waits:
            waiting = pool.submit(put, storage, "slow")
            assert waits.wait(60)
            put(other, "fast")
            assert not waiting.done()
        waiting.result(60)
        assert {job.jid for job in call(storage, "multiget", NOW, "slow", "fast")} == {
            "slow",
            "fast",
        }


def test_threads_share_their_waits_for_the_disk(path: Path, disk: Disk) -> None:
    with open_storage(url_of(path, timeout=60)) as storage, ThreadPoolExecutor(9) as pool:
        storage.flush()
        before = disk.flushes
        with held(disk) as waits:
            first = pool.submit(put, storage, "first")
            assert waits.wait(60)
            others = [pool.submit(put, storage, f"jid{number}") for number in range(8)]
            jids = [f"jid{number}" for number in range(8)]
            while len(call(storage, "multiget", NOW, *jids)) < 8:  # until all are committed
                assert not any(other.done() for other in others)
        for each in (first, *others):
            each.result(60)
        assert disk.flushes - before == 2


def test_who_was_waited_for_does_not_wait_for_those_that_came_later(path: Path, disk: Disk) -> None:
    begun, go = [threading.Event() for _ in range(3)], [threading.Event() for _ in range(3)]
    turns = iter(range(3))

    def wait() -> None:
        turn = next(turns)
        begun[turn].set()
        assert go[turn].wait(60)

    with open_storage(url_of(path, timeout=60)) as storage, ThreadPoolExecutor(6) as pool:
        storage.flush()
        disk.before = wait

        def committed(*jids: str) -> list[Future[None]]:
            futures = [pool.submit(put, storage, jid) for jid in jids]
            while len(call(storage, "multiget", NOW, *jids)) < len(jids):
                pass
            return futures

        try:
            (first,) = committed("first")
            assert begun[0].wait(60)
            shared = committed("a", "b", "c", "d")
            go[0].set()
            assert begun[1].wait(60)
            (late,) = committed("late")
            go[1].set()
            assert begun[2].wait(60)
            for each in (first, *shared):
                each.result(60)
            assert not late.done()
        finally:
            for gate in go:
                gate.set()
        late.result(60)


def test_a_disk_that_fails_is_said(path: Path, disk: Disk) -> None:
    def fail() -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with open_storage(url_of(path)) as storage:
        storage.flush()
        disk.before = fail
        with pytest.raises(OutcomeUnknown, match="power cut may undo") as raised:
            put(storage, "jid")
        assert raised.value.argument == "path"
        disk.before = lambda: None
        put(storage, "other")


def test_a_disk_that_fails_has_failed_for_all_who_wait(path: Path, disk: Disk) -> None:
    def fail_at_once() -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    jids = [f"jid{number}" for number in range(3)]
    with open_storage(url_of(path, timeout=60)) as storage, ThreadPoolExecutor(4) as pool:
        storage.flush()
        before = disk.flushes
        with held(disk) as waits:
            first = pool.submit(put, storage, "first")
            assert waits.wait(60)
            others = [pool.submit(put, storage, jid) for jid in jids]
            while len(call(storage, "multiget", NOW, *jids)) < 3:  # until all are committed
                assert not any(other.done() for other in others)
            disk.before = fail_at_once  # from the next time on
        first.result(60)
        assert [type(other.exception(60)) for other in others] == [OutcomeUnknown] * 3
        assert disk.flushes - before == 2
        disk.before = lambda: None
        put(storage, "later")


# -- space ------------------------------------------------------------------------------------


def test_jobs_that_come_and_go_leave_the_file_as_large_as_it_was(path: Path) -> None:
    def live(first: int) -> int:
        for number in range(first, first + 600):
            jid = f"jid{number}"
            put(storage, jid, '"%s"' % ("x" * 2000))
            call(storage, "pop", NOW, "q", "w", 1)
            call(storage, "complete", NOW, jid, "w", "q", "{}")
        return path.stat().st_size

    with open_storage(url_of(path, synchronous="normal")) as storage:
        call(storage, "config.set", NOW, "jobs-history-count", 20)
        sizes = [live(turn * 600) for turn in range(3)]
        assert sizes[2] <= sizes[0] * 1.5 + 65536
        assert path.with_name("jobs.db-wal").stat().st_size < 16 * 2**20


def test_what_is_deleted_is_given_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "_TIDY_EVERY", 4)
    monkeypatch.setattr(sqlite_file, "_SPARE_PAGES", 16)
    with open_storage(url_of(path, synchronous="normal")) as storage:
        for number in range(1000):
            put(storage, f"jid{number}", '"%s"' % ("x" * 4000))
    before = path.stat().st_size
    assert before > 4_000_000
    with open_storage(url_of(path, synchronous="normal")) as storage:
        storage.clear()
        for number in range(20):
            put(storage, f"jid{number}")
    assert path.stat().st_size < before / 10
    assert problems(path) == []


def test_a_transaction_gives_back_no_more_than_it_has_time_for(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "_TIDY_EVERY", 1)
    monkeypatch.setattr(sqlite_file, "_SPARE_PAGES", 0)
    with open_storage(url_of(path, synchronous="normal")) as storage:
        for number in range(3000):
            put(storage, f"jid{number}", '"%s"' % ("x" * 4000))
        with storage.file.looking() as lane:  # type: ignore[attr-defined]
            before = lane.execute("PRAGMA page_count").get
        storage.flush()
        with storage.file.looking() as lane:  # type: ignore[attr-defined]
            after = lane.execute("PRAGMA page_count").get
        assert 0 < before - after <= 1100
