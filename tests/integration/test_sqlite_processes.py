# SPDX-License-Identifier: MIT
"""Many processes and threads at one file: each job once, nothing lost, nobody kept waiting for long."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from pyqless.core.effects import Batch, Transition
from pyqless.core.transaction import Transaction
from pyqless.errors import ClientClosed, StoreUnavailable
from pyqless.storage import open_storage
from pyqless.storage.sqlite.patience import Patience
from tests.sqlite_files import call, problems, start, url_of, writing

NOW = 1400000000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


# -- each job once ----------------------------------------------------------------------------

TAKE_ALL = """
    with open_storage(argv[1]) as storage:
        while jobs := call(storage, "pop", 1400000000, "q", argv[2], 1):
            jid = jobs[0].jid
            call(storage, "complete", 1400000001, jid, argv[2], "q", "{}")
            print(jid)
"""


def test_eight_processes_get_each_job_once(path: Path) -> None:
    jids = {f"jid{number}" for number in range(400)}
    with open_storage(url_of(path, synchronous="normal")) as storage:
        for jid in sorted(jids):
            call(storage, "put", NOW, "w", "q", jid, "K", "{}", 0)
        url = url_of(path, synchronous="normal", timeout=60)
        workers = [start(TAKE_ALL, url, f"worker{number}") for number in range(8)]
        taken = [worker.finish() for worker in workers]
        assert Counter(jid for own in taken for jid in own) == Counter(jids)
        assert len([own for own in taken if own]) > 1
        assert call(storage, "length", NOW, "q") == 0
        assert {job.fields["state"] for job in call(storage, "multiget", NOW, *jids)} == {
            "complete"
        }
    assert problems(path) == []


def test_eight_threads_get_each_job_once(path: Path) -> None:
    jids = {f"jid{number}" for number in range(200)}
    with open_storage(url_of(path, timeout=60)) as storage:
        for jid in sorted(jids):
            call(storage, "put", NOW, "w", "q", jid, "K", "{}", 0)

        def take_all(worker: int) -> list[str]:
            taken = []
            while jobs := call(storage, "pop", NOW, "q", f"w{worker}", 1):
                taken.append(jobs[0].jid)
                call(storage, "complete", NOW, jobs[0].jid, f"w{worker}", "q", "{}")
            return taken

        with ThreadPoolExecutor(8) as pool:
            taken = list(pool.map(take_all, range(8)))
        assert Counter(jid for own in taken for jid in own) == Counter(jids)


# -- kill -9 ----------------------------------------------------------------------------------

LIVE = """
    storage, number = open_storage(argv[1]), 0
    while True:
        jid, number = f"{argv[2]}-{number}", number + 1
        call(storage, "put", 1400000000, "w", argv[2], jid, "K", '{"a": 1}', 0)
        print("put", jid, flush=True)
        if number % 2:
            (job,) = call(storage, "pop", 1400000000, argv[2], "w", 1)
            call(storage, "complete", 1400000000, job.jid, "w", argv[2], "{}")
            print("complete", job.jid, flush=True)
"""


@pytest.mark.parametrize("synchronous", ["full", "normal"])
def test_a_killed_process_loses_nothing_that_was_acknowledged(path: Path, synchronous: str) -> None:
    url, rng = url_of(path, synchronous=synchronous, timeout=60), random.Random(synchronous)
    promised: dict[str, str] = {}
    for turn in range(4):
        processes = [start(LIVE, url, f"turn{turn}-{number}") for number in range(3)]
        for process in processes:
            first = [process.stdout.readline() for _ in range(rng.randrange(1, 60))]
            process.send_signal(signal.SIGKILL)
            printed = "".join(first) + process.stdout.read()
            process.communicate()
            # the last line may be cut off
            for line in printed.splitlines()[: None if printed.endswith("\n") else -1]:
                verb, jid = line.split()
                promised[jid] = verb
        assert problems(path) == []
    with open_storage(url) as storage:
        states = {
            jid: getattr(call(storage, "get", NOW, jid), "fields", {"state": "lost"})["state"]
            for jid in promised
        }
    assert len(promised) > 100
    assert [jid for jid, state in states.items() if state == "lost"] == []
    undone = [jid for jid, verb in promised.items() if verb == "complete"]
    assert {states[jid] for jid in undone} == {"complete"}


# -- readers and writers ----------------------------------------------------------------------


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Hold a view of the file."""
    connection = apsw.Connection(str(path))
    connection.execute("BEGIN")
    connection.execute("SELECT count(*) FROM key").fetchall()
    try:
        yield
    finally:
        connection.close()


def look(tx: Transaction) -> Transition[int]:
    (reply,) = yield from tx.snapshot(("ZCARD", tx.keys.work("q")))
    return int(reply)


def test_a_reader_does_not_wait_for_a_writer(path: Path) -> None:
    with open_storage(url_of(path, timeout=0)) as storage:
        call(storage, "put", NOW, "w", "q", "jid", "K", "{}", 0)
        with writing(path), open_storage(url_of(path, timeout=0)) as new:
            assert new.run(look) == 1
            assert storage.run(look) == 1
            assert "ql:j:jid" in storage.dump()
            assert next(part.key for part in storage.scan()) == "ql:j:jid"


def test_a_writer_does_not_wait_for_a_reader(path: Path) -> None:
    with open_storage(url_of(path, timeout=0)) as storage:
        call(storage, "put", NOW, "w", "q", "jid", "K", "{}", 0)
        with reading(path):
            call(storage, "put", NOW, "w", "q", "other", "K", "{}", 0)
            assert storage.run(look) == 2


def test_a_transition_that_looks_first_and_then_writes_begins_afresh(path: Path) -> None:
    attempts = []

    def transition(tx: Transaction) -> Transition[int]:
        attempts.append(tx.now)
        (seen,) = yield Batch((("LLEN", "ql:list"),), snapshot=True)
        tx.rpush("ql:list", str(seen))
        return int(seen)

    with open_storage(url_of(path)) as storage:
        assert [storage.run(transition, 5.0) for _ in range(3)] == [0, 1, 2]
        assert attempts == [5.0] * 6
        assert storage.dump() == {"ql:list": {"type": "list", "value": ["0", "1", "2"]}}


def test_who_waits_too_long_is_told_so(path: Path) -> None:
    with open_storage(url_of(path, timeout=0.2)) as storage:
        call(storage, "put", NOW, "w", "q", "jid", "K", "{}", 0)
        with writing(path):
            begun = time.monotonic()
            with pytest.raises(StoreUnavailable, match=r"locked for 0\.2 seconds"):
                call(storage, "put", NOW, "w", "q", "other", "K", "{}", 0)
            assert 0.2 <= time.monotonic() - begun < 5
        assert call(storage, "get", NOW, "other") is None
        call(storage, "put", NOW, "w", "q", "other", "K", "{}", 0)


def test_threads_that_wait_too_long_are_told_so_too(path: Path) -> None:
    with open_storage(url_of(path, timeout=0.5)) as storage:
        storage.flush()
        with writing(path), ThreadPoolExecutor(4) as pool:
            waits = [
                pool.submit(call, storage, "put", NOW, "w", "q", f"jid{number}", "K", "{}", 0)
                for number in range(4)
            ]
            faults = [wait.exception(60) for wait in waits]
        assert [type(fault) for fault in faults] == [StoreUnavailable] * 4


def test_who_has_waited_goes_on_at_a_new_moment(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks, waits = iter(range(100)), threading.Event()
    pause = Patience.pause

    def pause_and_tell(patience: Patience) -> bool:
        waits.set()
        return pause(patience)

    monkeypatch.setattr(Patience, "pause", pause_and_tell)
    with open_storage(url_of(path, timeout=60), clock=lambda: float(next(ticks))) as storage:
        storage.flush()
        with ThreadPoolExecutor(1) as pool:
            with writing(path):
                waiting = pool.submit(storage.run, note_the_moment)
                assert waits.wait(60)
            waiting.result(60)
        assert storage.dump() == {"ql:moments": {"type": "list", "value": ["1.0"]}}


def note_the_moment(tx: Transaction) -> Transition[None]:
    yield from tx.read(("EXISTS", "ql:moments"))
    tx.rpush("ql:moments", str(tx.now))


def test_a_transition_inside_another_is_refused_at_once(path: Path) -> None:
    with open_storage(url_of(path)) as storage, open_storage(url_of(path)) as other:

        def transition(tx: Transaction) -> Transition[None]:
            yield from tx.read(("EXISTS", "ql:key"))
            call(other, "put", NOW, "w", "q", "jid", "K", "{}", 0)

        begun = time.monotonic()
        with pytest.raises(StoreUnavailable, match="in the middle of another"):
            storage.run(transition)
        assert time.monotonic() - begun < 5
        call(storage, "put", NOW, "w", "q", "jid", "K", "{}", 0)


def test_a_closed_storage_says_so(path: Path) -> None:
    storage = open_storage(url_of(path))
    call(storage, "put", NOW, "w", "q", "jid", "K", "{}", 0)
    storage.close()
    storage.close()
    with pytest.raises(ClientClosed, match="closed"):
        call(storage, "get", NOW, "jid")


# -- interruptions ----------------------------------------------------------------------------


def test_an_interrupted_transition_leaves_nothing_behind(path: Path) -> None:
    def transition(tx: Transaction) -> Transition[None]:
        yield from tx.read(("EXISTS", "ql:key"))
        tx.hset("ql:key", "a", "1")
        raise KeyboardInterrupt

    with open_storage(url_of(path, timeout=1)) as storage:
        with pytest.raises(KeyboardInterrupt):
            storage.run(transition)
        assert storage.dump() == {}
        call(storage, "put", NOW, "w", "q", "jid", "K", "{}", 0)
        assert storage.run(look) == 1


# -- forks ------------------------------------------------------------------------------------

FORK = """
    import os, threading
    storage = open_storage(argv[1])
    call(storage, "put", 1400000000, "w", "q", "before", "K", "{}", 0)
    stop = threading.Event()

    def work():
        number = 0
        while not stop.is_set():
            call(storage, "put", 1400000000, "w", "q", f"thread{number}", "K", "{}", 0)
            number += 1

    thread = threading.Thread(target=work)
    thread.start()
    children = []
    for number in range(5):
        child = os.fork()
        if not child:
            for each in range(20):
                call(storage, "put", 1400000000, "w", "q", f"child{number}-{each}", "K", "{}", 0)
            storage.close()
            os._exit(0)
        children.append(child)
        call(storage, "put", 1400000000, "w", "q", f"parent{number}", "K", "{}", 0)
    codes = [os.waitpid(child, 0)[1] for child in children]
    stop.set()
    thread.join()
    storage.close()
    print(codes)
"""


def test_forked_processes_each_open_the_file_themselves(path: Path) -> None:
    assert start(FORK, url_of(path, timeout=60)).finish() == [str([0] * 5)]
    assert problems(path) == []
    expected = ["before", *(f"parent{number}" for number in range(5))]
    expected += [f"child{number}-{each}" for number in range(5) for each in range(20)]
    with open_storage(url_of(path)) as storage:
        assert [jid for jid in expected if call(storage, "get", NOW, jid) is None] == []


UNNOTICED_FORK = """
    import ctypes, os
    storage = open_storage(argv[1])
    call(storage, "put", 1400000000, "w", "q", "before", "K", "{}", 0)
    child = ctypes.PyDLL(None).fork()
    if not child:
        for each in (storage, open_storage(argv[1])):
            try:
                call(each, "put", 1400000000, "w", "q", "child", "K", "{}", 0)
            except Exception as error:
                print(type(error).__name__, flush=True)
            each.close()
        os._exit(0)
    os.waitpid(child, 0)
    call(storage, "put", 1400000000, "w", "q", "parent", "K", "{}", 0)
    storage.close()
"""


def test_a_fork_behind_python_s_back_is_found_out(path: Path) -> None:
    assert start(UNNOTICED_FORK, url_of(path)).finish() == ["StoreUnsupported"] * 2
    with open_storage(url_of(path)) as storage:
        assert call(storage, "get", NOW, "child") is None
        assert call(storage, "get", NOW, "parent") is not None


FORK_IN_THE_MIDDLE = """
    import os
    storage, children = open_storage(argv[1]), []

    def transition(tx):
        yield from tx.read(("EXISTS", "ql:key"))
        children.append(os.fork())
        if not children[0]:
            os._exit(0)
        tx.hset("ql:key", "a", "1")

    storage.run(transition)
    print(os.waitpid(children[0], 0)[1])
    storage.close()
"""


def test_a_fork_in_the_middle_of_a_transition_does_the_parent_no_harm(path: Path) -> None:
    assert start(FORK_IN_THE_MIDDLE, url_of(path, timeout=0.1)).finish() == ["0"]
    with open_storage(url_of(path)) as storage:
        assert storage.dump() == {"ql:key": {"type": "hash", "value": {"a": "1"}}}
    assert problems(path) == []
