# SPDX-License-Identifier: MIT
"""Nothing that breaks ends a heart, a parent or a janitor; what jobs tell of themselves is looked at before it gets there."""

from __future__ import annotations

import asyncio
import logging
import math
import threading
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

import pytest

from pyqless import AsyncClient, Client
from pyqless.client.progress import NOTE_LIMIT
from pyqless.errors import InvalidArgument
from pyqless.worker import (
    Finder,
    ForkingWorker,
    Progress,
    Runner,
    Settings,
    StopReason,
    ThreadWorker,
    keeper,
    pulse,
    steady,
)
from pyqless.worker.attempts import Attempt
from pyqless.worker.context import BlockingJob
from pyqless.worker.custody import Custody
from pyqless.worker.janitor import Janitor
from pyqless.worker.keeper import ThreadKeeper
from pyqless.worker.pulse import Pulse
from pyqless.worker.steady import Steady
from tests.unit.worker.conftest import Clock
from tests.workers import until


class Text(str):
    """A text of the job's own kind."""

    __slots__ = ()


class Number(float):
    """A number of the job's own kind."""


@pytest.fixture(autouse=True)
def no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steady, "REST", 0.001)
    for heart in (keeper, pulse):
        monkeypatch.setattr(heart, "TICK", 0.01)


def break_down(*_: object) -> NoReturn:
    raise TypeError("nobody has foreseen this")


def popped(client: Client) -> tuple[Any, Attempt]:
    client.queues["mail"].put("k", jid="J")
    (job,) = client.queues["mail"].pop(1)
    return job, Attempt.of(job, client.storage.clock())


# -- what a job tells -------------------------------------------------------------------------


@pytest.mark.parametrize("value", [Decimal("0.5"), math.nan, math.inf, 10**400, "1", True, {1}])
@pytest.mark.parametrize("argument", ["done", "total"])
def test_progress_that_is_no_number_is_refused(client: Client, argument: str, value: Any) -> None:
    job, attempt = popped(client)
    with pytest.raises(InvalidArgument) as refused:
        BlockingJob(job, attempt).progress(**{"done": 1, argument: value})
    assert refused.value.argument == argument
    assert attempt.progress is None


@pytest.mark.parametrize("note", [None, 3, object(), "half \ud800 of a pair"])
def test_a_note_that_is_no_text_is_refused(note: Any) -> None:
    with pytest.raises(InvalidArgument) as refused:
        Progress(1, note=note)
    assert refused.value.argument == "note"


def test_a_long_note_is_cut() -> None:
    assert Progress(1, note="x" * 5_000).note == "x" * NOTE_LIMIT


def test_numbers_and_texts_of_a_jobs_own_kind_become_plain_ones() -> None:
    kept = Progress(Number(0.5), True + 1, Text("half"))
    assert [type(value) for value in (kept.done, kept.total, kept.note)] == [float, int, str]
    assert kept == Progress(0.5, 2, "half")


@pytest.mark.parametrize("seconds", [0, -1, math.nan, Decimal(3), "3"])
def test_a_limit_that_is_no_time_is_refused(client: Client, seconds: Any) -> None:
    job, attempt = popped(client)
    with pytest.raises(InvalidArgument):
        BlockingJob(job, attempt).limit_time(seconds)
    assert attempt.deadline is None


# -- hearts -----------------------------------------------------------------------------------


def breaking(real: Callable[..., Any], faults: int, tried: list[int]) -> Callable[..., Any]:
    """What breaks some times, and then works."""

    def call(*args: Any) -> Any:
        tried.append(1)
        return break_down() if len(tried) <= faults else real(*args)

    return call


def test_the_heart_in_a_thread_beats_on_after_a_tick_that_broke(
    client: Client, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    _, attempt = popped(client)
    ticks: list[int] = []
    heart = ThreadKeeper(client, listen=False, on_tick=breaking(lambda: None, 3, ticks))
    heart.watch(attempt)
    until(lambda: len(ticks) > 2)
    clock.now += 30
    until(lambda: attempt.expires >= clock.now + 60)
    heart.close()
    shown = [record for record in caplog.records if record.exc_info]
    assert [record.levelno for record in shown] == [logging.ERROR]  # once, and not each time
    assert "nobody has foreseen this" in caplog.text


def test_the_heart_in_a_thread_beats_again_after_a_beat_that_broke(
    client: Client, clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    _, attempt = popped(client)
    beats: list[int] = []
    monkeypatch.setattr(client.storage, "run", breaking(client.storage.run, 1, beats))
    heart = ThreadKeeper(client, listen=False)
    clock.now += 30
    heart.watch(attempt)
    heart._book.hasten("J")
    until(lambda: beats)
    clock.now += 2
    until(lambda: attempt.expires >= clock.now + 60)
    heart.close()
    assert "its lock was not renewed" in caplog.text
    assert attempt.stopped is None


def test_the_heart_for_asyncio_beats_on_whatever_breaks(
    url: str, client: Client, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, attempt = popped(client)

    async def main() -> int:
        ticks: list[int] = []

        async def tick() -> None:
            breaking(lambda: None, 2, ticks)()

        async with AsyncClient(url, clock=clock, worker_name="ann") as async_client:
            monkeypatch.setattr(
                async_client.storage, "run", breaking(async_client.storage.run, 1, [])
            )
            beating = Pulse(async_client, tick, listen=False)
            beating.watch(attempt)
            beating._book.hasten("J")
            heart = asyncio.create_task(beating.run())
            async with asyncio.timeout(5):
                while attempt.expires < clock.now + 60 or len(ticks) < 4:
                    clock.now += 2
                    await asyncio.sleep(0.01)
            heart.cancel()
        return len(ticks)

    clock.now += 10
    assert asyncio.run(main()) >= 4


async def test_a_lock_whose_renewals_break_until_it_expires_is_lost(
    async_client: AsyncClient, client: Client, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, attempt = popped(client)
    monkeypatch.setattr(async_client.storage, "run", break_down)
    beating = Pulse(async_client, lambda: asyncio.sleep(0), listen=False)
    beating.watch(attempt)
    heart = asyncio.create_task(beating.run())
    async with asyncio.timeout(5):
        while attempt.stopped is None:
            clock.now += 2
            await asyncio.sleep(0.01)
    heart.cancel()
    assert attempt.stopped is StopReason.LOST


def test_the_parent_keeps_a_lock_whose_renewal_broke(
    client: Client, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, attempt = popped(client)
    custody = Custody(client, listen=False)
    custody.take(attempt, lambda: False)
    monkeypatch.setattr(client.storage, "run", breaking(client.storage.run, 1, []))
    for _ in range(2):
        clock.now += 30
        custody.keep(lambda: None)
    assert attempt.expires == clock.now + 60
    assert attempt.stopped is None


def test_the_parent_goes_on_whatever_breaks_beside_the_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = ForkingWorker(
        lambda name: Client(f"sqlite:///{tmp_path}/jobs.db", worker_name=name),
        Settings(queues=["mail"]),
        name="ann",
        processes=1,
    )
    kept: list[int] = []
    monkeypatch.setattr(worker._custody, "keep", lambda _: kept.append(1))
    monkeypatch.setattr(worker, "_fill", lambda _: None)
    for step in ("_hear", "_bury_all", "_tell"):
        monkeypatch.setattr(worker, step, break_down)
    worker._turn()
    worker.client.close()
    assert kept == [1]


def test_a_janitor_makes_its_next_pass_after_one_that_broke(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    janitor = Janitor(client)
    passes: list[int] = []
    monkeypatch.setattr(janitor, "run", breaking(janitor.run, 1, passes))
    janitor.loop(1, lambda _: len(passes) < 2)
    assert len(passes) == 2


# -- around a round ---------------------------------------------------------------------------


def test_what_is_no_fault_passes() -> None:
    with pytest.raises(KeyboardInterrupt), Steady("it"):
        raise KeyboardInterrupt


def test_the_traceback_is_shown_again_after_a_while(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    around = Steady("it", clock)
    for _ in range(2):
        with around:
            break_down()
    clock.now += steady.SHOWN
    with around:
        break_down()
    assert sum(record.exc_info is not None for record in caplog.records) == 2


def test_jobs_in_threads_keep_their_locks_until_they_end_if_the_worker_breaks(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, ends = threading.Event(), threading.Event()

    def run(job: Any) -> None:
        began.set()
        assert ends.wait(5)
        assert worker._own_keeper is not None
        assert not worker._own_keeper._closed

    client.queues["mail"].put("run", jid="J")
    runner = Runner(finder=Finder(functions={"run": run}))
    worker = ThreadWorker(client, Settings(queues=["mail"], runner=runner, interval=0.05), 1)

    def turn() -> None:
        if began.is_set():
            threading.Timer(0.05, ends.set).start()
            break_down()
        ThreadWorker._turn(worker)

    monkeypatch.setattr(worker, "_turn", turn)
    with pytest.raises(TypeError, match="nobody has foreseen this"):
        worker.run()
    assert client.jobs["J"].state == "complete"
    assert worker.control.is_stopping, (
        "a job that does not end is waited for no longer than its time"
    )
