# SPDX-License-Identifier: MIT
"""A store that does not answer keeps no worker from its end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest

from pyqless import AsyncClient, Client, Job, Queue
from pyqless.errors import StoreUnavailable
from pyqless.worker import (
    AsyncWorker,
    ExitCode,
    Runner,
    SerialWorker,
    Settings,
    aio,
    base,
    estates,
    hurrying,
    keeper,
)
from pyqless.worker.attempts import Attempt
from pyqless.worker.estates import Estates
from pyqless.worker.hurrying import unless, within
from pyqless.worker.keeper import ThreadKeeper
from pyqless.worker.leftovers import release
from pyqless.worker.settling import settle
from pyqless.worker.verdicts import Done, Untold
from tests.workers import until


@pytest.fixture
def silence(client: Client) -> Iterator[threading.Event]:
    """Give what a store waits for that answers to nobody, until the end of the test; its client is there for longer."""
    assert client.storage is not None
    over = threading.Event()
    yield over
    over.set()
    for thread in threading.enumerate():
        if thread.name in ("pyqless-call", "pyqless-heart"):
            thread.join(5)


class Silent:
    """A storage that is away at first, and then takes calls without an answer."""

    def __init__(self, storage: Any, silence: threading.Event, faults: int = 0) -> None:
        self.clock = storage.clock
        self._silence = silence
        self._faults = faults
        self.calls = 0

    def run(self, _: Any) -> NoReturn:
        self.calls += 1
        if self.calls > self._faults:
            self._silence.wait()
        raise StoreUnavailable("away")


@pytest.fixture
def job(queue: Queue) -> Job:
    queue.put("klass", {}, jid="J")
    (job,) = queue.pop(1)
    return job


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hurrying, "SLICE", 0.01)


# -- calls ------------------------------------------------------------------------------------


def test_an_answer_in_time_is_given() -> None:
    assert within(5, lambda: 3) == 3
    assert unless(lambda: False, lambda: None) is None


@pytest.mark.parametrize("error", [TimeoutError("the call's own"), ValueError("no"), SystemExit(3)])
def test_what_a_call_raises_comes_out(error: BaseException) -> None:
    def fail() -> NoReturn:
        raise error

    with pytest.raises(type(error)) as raised:
        within(5, fail)
    assert raised.value is error


def test_a_call_without_an_answer_is_left_behind(silence: threading.Event) -> None:
    with pytest.raises(StoreUnavailable, match="does not answer in time"):
        within(0.01, silence.wait)
    over = iter([False, True])
    with pytest.raises(StoreUnavailable, match="does not answer in time"):
        unless(lambda: next(over), silence.wait)
    assert list(over) == []


# -- ends -------------------------------------------------------------------------------------


def test_a_store_that_was_away_is_not_waited_for_beyond_the_end(
    client: Client, job: Job, silence: threading.Event
) -> None:
    storage: Any = Silent(client.storage, silence, faults=1)
    attempt = Attempt.of(job, client.storage.clock())
    settled = settle(
        storage,
        Runner(),
        Done(None),
        job,
        attempt,
        lambda _: None,
        gives_up=lambda: storage.calls > 1,
    )
    assert isinstance(settled.verdict, Untold)
    assert storage.calls == 2


def test_the_heart_of_a_worker_that_ends_is_left_behind(
    client: Client, job: Job, silence: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "LAST_BEAT", 0.01)
    silent = Silent(client.storage, silence)
    monkeypatch.setattr(client.storage, "run", silent.run)
    kept = ThreadKeeper(client, listen=False)
    kept.watch(Attempt.of(job, client.storage.clock()))
    kept._book.hasten("J")
    until(lambda: silent.calls)
    kept.close()
    assert kept._thread is not None
    assert kept._thread.is_alive()


def test_no_worker_waits_to_take_back_what_it_has_told(
    client: Client, silence: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "FAREWELL", 0.01)
    worker = SerialWorker(client, Settings(queues=["mail"]))
    monkeypatch.setattr(client.storage, "run", lambda _: silence.wait())
    worker.close()
    monkeypatch.undo()


async def test_nor_does_one_for_asyncio(
    async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aio, "FAREWELL", 0.01)
    worker = AsyncWorker(async_client, Settings(queues=["mail"]), 1)
    real = async_client.storage.run

    async def run(transition: Any) -> Any:
        if not worker.control.is_running:
            await asyncio.sleep(60)
        return await real(transition)

    monkeypatch.setattr(async_client.storage, "run", run)
    task = asyncio.create_task(worker.run())
    await asyncio.sleep(0.01)
    worker.control.finish()
    async with asyncio.timeout(5):
        assert await task is ExitCode.DONE


def test_what_children_leave_is_seen_to_within_a_time(
    client: Client,
    silence: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    job: Job,
) -> None:
    left = Estates(client)
    left.add("ann", release("ann", "over"), [Attempt.of(job, client.storage.clock())])
    monkeypatch.setattr(estates, "deal_with", lambda *_: silence.wait())
    left.settle_within(0.01)
    assert len(left) == 1
    assert "job J (klass) is left to its lock" in caplog.text
