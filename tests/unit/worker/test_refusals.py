# SPDX-License-Identifier: MIT
"""A worker takes no jobs whose ends the store would refuse."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any, NoReturn

import pytest

from pyqless import AsyncClient, Client
from pyqless.core.effects import Transition
from pyqless.core.transaction import Transaction
from pyqless.errors import JobLost, QlessError, StoreRefused, StoreUnavailable
from pyqless.worker import (
    AsyncWorker,
    Finder,
    Runner,
    SerialWorker,
    Settings,
    ThreadWorker,
    aio,
    serial,
    settling,
    threads,
)
from pyqless.worker.refusals import Refusals, trial
from tests.unit.worker.conftest import Clock
from tests.workers import until

NO = StoreRefused("you may not")


@pytest.fixture
def refusals(clock: Clock) -> Refusals:
    return Refusals(clock)


def test_a_refusal_keeps_jobs_away_until_an_end_is_told(
    refusals: Refusals, caplog: pytest.LogCaptureFixture
) -> None:
    assert refusals.are_over
    for _ in range(3):
        refusals.heard(NO)
    assert not refusals.are_over
    refusals.heard("complete")
    refusals.heard("complete")
    assert refusals.are_over
    assert caplog.messages == [
        "no more jobs for now: the store refuses the end of one: you may not",
        "the store takes the ends of jobs again",
    ]


@pytest.mark.parametrize("error", [StoreUnavailable("away"), JobLost("it is another's")])
def test_what_is_no_refusal_neither_begins_nor_ends_it(
    refusals: Refusals, error: QlessError
) -> None:
    refusals.heard(error)
    assert refusals.are_over
    refusals.heard(NO)
    refusals.heard(error)
    assert not refusals.are_over


def test_the_store_is_tried_now_and_then_ever_less_often(refusals: Refusals, clock: Clock) -> None:
    assert not refusals.is_trial_due
    refusals.heard(NO)
    pauses: list[float] = []
    for _ in range(8):
        before = clock.now
        while not refusals.is_trial_due:
            clock.now += 0.5
        pauses.append(clock.now - before)
        with refusals.trying():
            raise NO
    assert not refusals.are_over
    assert pauses[0] <= 1
    assert 30 <= pauses[-1] <= 60


def test_a_trial_that_is_taken_proves_little(
    refusals: Refusals, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """The next refusal is not told again, and the pause before the next trial is a longer one."""
    refusals.heard(NO)
    for seconds in (1, 2, 4):
        clock.now += seconds / 2 - 0.01
        assert not refusals.is_trial_due
        clock.now += seconds / 2 + 0.01
        assert refusals.is_trial_due
        with refusals.trying():
            pass
        assert refusals.are_over
        refusals.heard(NO)
    assert [record.levelno for record in caplog.records if record.levelno > logging.INFO] == [
        logging.WARNING
    ]


def test_a_trial_leaves_nothing_behind(client: Client) -> None:
    before = client.storage.run(_names)
    client.storage.run(trial("ann"))
    assert client.storage.run(_names) == before == []
    assert client.workers.counts() == []


def _names(tx: Transaction) -> Transition[list[str]]:
    (names,) = yield from tx.snapshot(("ZRANGE", "ql:py:workers", 0, -1))
    return list(names)


class Ends:
    """Lets the store refuse the ends of jobs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.are_refused = True
        #: how often the workers have looked whether it is time for a trial
        self.looks = 0
        for name in ("request", "turn"):
            monkeypatch.setattr(settling, name, self._unless_refused(getattr(settling, name)))
        monkeypatch.setattr(settling, "REFUSED", -1.0)  # it is given up at once
        for kind in (serial, threads, aio):
            monkeypatch.setattr(kind, "SLICE", 0.01)

    def _unless_refused(self, make: Any) -> Any:
        def made(*arguments: Any, **options: Any) -> Any:
            return _refuse if self.are_refused else make(*arguments, **options)

        return made


def _refuse(_: Transaction) -> NoReturn:
    raise NO


def begin(worker: Any) -> threading.Thread:
    work = (lambda: asyncio.run(worker.run())) if isinstance(worker, AsyncWorker) else worker.run
    thread = threading.Thread(target=work)
    thread.start()
    return thread


@pytest.mark.parametrize("kind", ["serial", "threads", "asyncio"])
def test_a_worker_takes_no_job_whose_end_it_could_not_tell(
    url: str, client: Client, clock: Clock, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    ends = Ends(monkeypatch)

    def look() -> float:
        ends.looks += 1
        return clock()

    runner = Runner(finder=Finder(functions={"k": lambda job: None}))
    options = Settings(queues=["mail"], runner=runner, interval=0.05)
    worker: Any
    if kind == "asyncio":
        worker = AsyncWorker(AsyncClient(url, worker_name="ann", clock=clock), options)
    elif kind == "threads":
        worker = ThreadWorker(client, options, 1)
    else:
        worker = SerialWorker(client, options)
    worker._refusals = Refusals(look)
    client.queues["mail"].put("k", jid="J")
    thread = begin(worker)
    try:
        until(lambda: ends.looks > 3, "it waits")
        client.queues["mail"].put("k", jid="K")
        seen = ends.looks
        until(lambda: ends.looks > seen + 3, "it waits on")
        assert [client.jobs[jid].state for jid in ("J", "K")] == ["running", "waiting"]
        ends.are_refused = False
        clock.now += 1
        until(lambda: client.jobs["K"].state == "complete", "it goes on")
        until(lambda: worker._refusals._backoff.is_fresh, "it knows")
    finally:
        worker.control.stop()
        thread.join(10)
    assert not thread.is_alive()
