# SPDX-License-Identifier: MIT
"""Threads that write at once: one carries out what the others wait for, and each gets what is its own."""

from __future__ import annotations

import errno
import os
import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import apsw
import pytest

from pyqless.core.effects import Factory, Transition
from pyqless.core.transaction import Transaction
from pyqless.errors import JobLost, OutcomeUnknown, StoreCorrupted, StoreRefused, StoreUnavailable
from pyqless.storage import Storage, open_storage
from pyqless.storage.sqlite import log
from pyqless.storage.sqlite import turns as turns_module
from pyqless.storage.sqlite.lane import Lane
from pyqless.storage.sqlite.patience import Patience
from pyqless.storage.sqlite.turns import Turn, Turns
from tests.sqlite_files import call, problems, url_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture(params=["full", "normal"])
def storage(path: Path, request: pytest.FixtureRequest) -> Iterator[Storage]:
    with open_storage(url_of(path, synchronous=request.param, timeout=60)) as storage:
        storage.flush()
        yield storage
    assert problems(path) == []


def turns_of(storage: Any) -> Turns:
    turns: Turns = storage.file._turns
    return turns


def commits_of(storage: Any) -> int:
    commits: int = storage.file._log.latest
    return commits


def wait_for(number: int, turns: Turns) -> None:
    """Wait until so many threads wait for a turn."""
    end = time.monotonic() + 60
    while len(turns._waiting) < number:
        assert time.monotonic() < end
        time.sleep(0.001)


@contextmanager
def busy(storage: Storage, fault: Exception | None = None) -> Iterator[Future[None]]:
    """Let a thread be in the middle of a turn, which then may end with a fault."""
    begun, go = threading.Event(), threading.Event()

    def hold(tx: Transaction) -> Transition[None]:
        yield from tx.read(("EXISTS", "ql:key"))
        begun.set()
        assert go.wait(60)
        if fault:
            raise fault

    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(storage.run, hold)
        assert begun.wait(60)
        try:
            yield held
        finally:
            go.set()


def together(
    storage: Storage, *transitions: Factory[Any], fault: Exception | None = None
) -> list[Future[Any]]:
    """
    Have transitions wait for a turn at once, the first of them in front.

    Returns:
        list: what comes of them, and before that, what of the one that has the turn.
    """
    with ThreadPoolExecutor(len(transitions)) as pool, busy(storage, fault) as held:
        futures = [held]
        for number, transition in enumerate(transitions, 1):
            futures.append(pool.submit(storage.run, transition, 1.0))
            wait_for(number, turns_of(storage))
    return futures


def adding(text: str) -> Factory[str]:
    """Add a text to a list that is not read."""

    def transition(tx: Transaction) -> Transition[str]:
        (place,) = yield from tx.read(("EXISTS", "ql:key"))
        tx.rpush("ql:list", f"{text}{place}")
        return text

    return transition


def refusing(tx: Transaction) -> Transition[None]:
    yield from tx.read(("EXISTS", "ql:key"))
    tx.rpush("ql:list", "refused")
    raise JobLost("not yours")


def misfitting(tx: Transaction) -> Transition[None]:
    yield from tx.read(("EXISTS", "ql:key"))
    tx.rpush("ql:list", "misfit")
    tx.hset("ql:other", "a", "misfit")
    tx.hset("ql:list", "a", "misfit")


def listed(storage: Storage) -> list[str]:
    """Give what is in the list; there must be nothing else."""
    dump = storage.dump()
    assert dump.keys() <= {"ql:list"}
    return list(dump["ql:list"]["value"]) if dump else []


def test_who_waits_is_served_in_one_transaction_in_the_order_of_arrival(storage: Storage) -> None:
    before = commits_of(storage)
    _, *futures = together(storage, *map(adding, "abcde"))
    assert [future.result() for future in futures] == list("abcde")
    assert listed(storage) == ["a0", "b0", "c0", "d0", "e0"]
    assert commits_of(storage) == before + 1


def test_a_transaction_serves_no_more_than_some(storage: Storage) -> None:
    before = commits_of(storage)
    texts = [f"{number:02}" for number in range(40)]
    _, *futures = together(storage, *map(adding, texts))
    assert [future.result() for future in futures] == texts
    assert listed(storage) == [f"{text}0" for text in texts]
    assert commits_of(storage) >= before + 3


@pytest.mark.parametrize("place", [1, 2, 3])
@pytest.mark.parametrize(("fails", "kind"), [(refusing, JobLost), (misfitting, StoreCorrupted)])
def test_who_fails_does_so_alone(
    storage: Storage, fails: Factory[None], kind: type[Exception], place: int
) -> None:
    transitions: list[Factory[Any]] = [adding("a"), adding("b")]
    transitions.insert(place - 1, fails)
    futures = together(storage, *transitions)
    assert isinstance(futures.pop(place).exception(), kind)
    assert [future.result() for future in futures] == [None, "a", "b"]
    assert listed(storage) == ["a0", "b0"]
    storage.run(adding("c"))
    assert listed(storage) == ["a0", "b0", "c0"]


def test_who_fails_in_its_own_turn_holds_nobody_up(storage: Storage) -> None:
    first, *others = together(storage, *map(adding, "abc"), fault=JobLost("not yours"))
    assert isinstance(first.exception(), JobLost)
    assert [future.result() for future in others] == ["a", "b", "c"]
    assert listed(storage) == ["a0", "b0", "c0"]


def test_what_interrupts_one_thread_does_not_interrupt_those_whose_work_it_does(
    storage: Storage,
) -> None:
    signals = [KeyboardInterrupt]

    def interrupted(tx: Transaction) -> Transition[str]:
        yield from tx.read(("EXISTS", "ql:key"))
        tx.rpush("ql:list", "b")
        if signals:
            raise signals.pop()
        return "b"

    first, *others = together(storage, adding("a"), interrupted, adding("c"))
    assert isinstance(first.exception(), KeyboardInterrupt)
    assert [future.result() for future in others] == ["a", "b", "c"]
    assert listed(storage) == ["a0", "b", "c0"]


@pytest.mark.parametrize(
    ("is_committed", "fault", "kind"),
    [(True, KeyboardInterrupt(), KeyboardInterrupt), (False, apsw.FullError(), StoreRefused)],
)
def test_what_goes_wrong_with_a_commit_is_the_fault_of_one_thread_alone(
    storage: Storage,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_committed: bool,
    fault: BaseException,
    kind: type[BaseException],
) -> None:
    usual = Lane.commit

    def commit(lane: Lane) -> None:
        monkeypatch.setattr(Lane, "commit", usual)
        if is_committed:
            usual(lane)
        raise fault

    monkeypatch.setattr(Lane, "commit", commit)
    first, *others = together(storage, *map(adding, "abc"))
    assert isinstance(first.exception(), kind)
    assert [future.result() for future in others] == ["a", "b", "c"]
    assert listed(storage) == ["a0", "b0", "c0"]


@pytest.mark.parametrize("synchronous", ["full", "normal"])
def test_the_disk_is_waited_for_once_where_it_has_to_be(
    path: Path, monkeypatch: pytest.MonkeyPatch, synchronous: str
) -> None:
    flushed: list[int] = []
    monkeypatch.setattr(log, "_flush", flushed.append)
    with open_storage(url_of(path, synchronous=synchronous, timeout=60)) as storage:
        storage.flush()
        flushed.clear()
        for future in together(storage, *map(adding, "abcde")):
            future.result()
        assert len(flushed) == (synchronous == "full")


def test_who_need_not_wait_for_the_disk_does_not_wait_for_those_who_must(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lent, waits = threading.Event(), []

    def flush(_: int) -> None:
        waits.append(lent.wait(5))

    with open_storage(url_of(path, timeout=60)) as storage:
        call(storage, "put", 1, "w", "q", "jid", "K", "{}", 0)
        monkeypatch.setattr(log, "_flush", flush)
        with ThreadPoolExecutor(2) as pool:
            with busy(storage):
                added = pool.submit(storage.run, adding("a"))
                wait_for(1, turns_of(storage))
                popped = pool.submit(call, storage, "pop", 1, "q", "w", 1)
                popped.add_done_callback(lambda _: lent.set())
                wait_for(2, turns_of(storage))
            assert [job.jid for job in popped.result(60)] == ["jid"]
            assert added.result(60) == "a"
        assert waits == [True]


def test_an_interruption_behind_the_commit_leaves_nothing_unflushed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[int] = []
    usual = Lane.commit

    def commit(lane: Lane) -> None:
        usual(lane)
        raise KeyboardInterrupt

    with open_storage(url_of(path, timeout=60)) as storage:
        storage.flush()
        with monkeypatch.context() as patched:
            patched.setattr(log, "_flush", flushed.append)
            patched.setattr(Lane, "commit", commit)
            first, second = together(storage, adding("a"))
        assert isinstance(first.exception(), KeyboardInterrupt)
        assert second.result() == "a"
        assert len(flushed) == 1


def test_a_disk_that_fails_is_told_to_all_whose_work_is_in_doubt(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with open_storage(url_of(path, timeout=60)) as storage:
        storage.flush()
        monkeypatch.setattr(log, "_flush", fail)
        _, *futures = together(storage, adding("a"), refusing, adding("c"))
        kinds = [type(future.exception()) for future in futures]
        assert kinds == [OutcomeUnknown, JobLost, OutcomeUnknown]
        assert listed(storage) == ["a0", "c0"]


def test_many_threads_get_what_is_their_own(storage: Storage) -> None:
    def work(number: int) -> list[str]:
        rng, added = random.Random(number), []
        for turn in range(60):
            if fails := rng.choice([None, None, None, refusing, misfitting]):
                with pytest.raises((JobLost, StoreCorrupted)):
                    storage.run(fails)
            else:
                added.append(storage.run(adding(f"{number}-{turn}-")) + "0")
        return added

    storage.run(adding("first"))
    with ThreadPoolExecutor(8) as pool:
        added = [text for own in pool.map(work, range(8)) for text in own]
    found = listed(storage)[1:]
    assert sorted(found) == sorted(added)
    for number in range(8):
        own = [text for text in found if text.startswith(f"{number}-")]
        assert own == [text for text in added if text.startswith(f"{number}-")]


# -- waiting in vain --------------------------------------------------------------------------


class Impatience(Patience):
    """Is interrupted, or has no time left, as soon as something has happened."""

    def __init__(self, fault: type[BaseException] | None, happened: threading.Event) -> None:
        super().__init__(60)
        self.fault = fault
        self.happened = happened

    def left(self) -> float:
        """See ``Patience.left``."""
        assert self.happened.wait(60)
        if self.fault:
            raise self.fault
        return 0.0


class Bell(SimpleQueue[None]):
    """Tells that it has rung."""

    def __init__(self, rung: threading.Event) -> None:
        self.rung = rung

    def put(self, item: None, *_: Any, **__: Any) -> None:
        """See ``SimpleQueue.put``."""
        super().put(item)
        self.rung.set()


@pytest.mark.parametrize("fault", [None, KeyboardInterrupt])
@pytest.mark.parametrize("when", ["before its turn has come", "when it has come"])
def test_who_gives_up_is_not_served_and_does_not_hold_up_the_others(
    storage: Storage,
    monkeypatch: pytest.MonkeyPatch,
    fault: type[BaseException] | None,
    when: str,
) -> None:
    turns, happened = turns_of(storage), threading.Event()
    worked: list[Turn] = []
    impatient = Turn(worked.append, Impatience(fault, happened))
    monkeypatch.setattr(turns_module, "SimpleQueue", lambda: Bell(happened))
    with ThreadPoolExecutor(2) as pool:
        # who fails takes nobody along, but calls the next
        with busy(storage, JobLost("not yours")):
            gives_up = pool.submit(turns.take, impatient)
            wait_for(1, turns)
            monkeypatch.undo()
            patient = pool.submit(storage.run, adding("a"))
            wait_for(2, turns)
            if when.startswith("before"):
                happened.set()
                assert (gives_up.exception(60) is None) == (fault is None)
                assert len(turns._waiting) == 1
        assert patient.result(60) == "a"
        assert isinstance(gives_up.exception(60), fault) if fault else not gives_up.result(60)
    assert worked == []


def test_the_work_of_others_is_no_way_into_a_transition_either(storage: Storage) -> None:
    def nested(tx: Transaction) -> Transition[None]:
        yield from tx.read(("EXISTS", "ql:key"))
        storage.run(adding("inner"))

    _, first, second = together(storage, adding("a"), nested)
    assert first.result() == "a"
    assert isinstance(second.exception(), StoreUnavailable)
    assert listed(storage) == ["a0"]
