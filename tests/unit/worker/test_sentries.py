# SPDX-License-Identifier: MIT
"""A coroutine that holds the loop is told by name while it does."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

import pytest

from pyqless import AsyncClient, Queue
from pyqless.worker import AsyncWorker, Finder, Limits, Runner, Settings, sentries


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentries, "HELD", 0.1)
    monkeypatch.setattr(sentries, "LOOK", 0.02)


async def run(client: AsyncClient, finder: Finder) -> None:
    options = Settings(queues=["mail"], runner=Runner(finder=finder), limits=Limits(jobs=2))
    await AsyncWorker(client, options, 2).run()


def told(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if "holds the loop" in record.message]


async def test_who_holds_the_loop_is_told_once(
    async_client: AsyncClient, queue: Queue, finder: Finder, caplog: pytest.LogCaptureFixture
) -> None:
    @finder.register("block")
    async def block(_: Any) -> None:
        end = time.monotonic() + 5
        while not told(caplog) and time.monotonic() < end:
            time.sleep(0.01)  # noqa: ASYNC251 - that is what it is about
        time.sleep(0.1)  # noqa: ASYNC251 - and again

    @finder.register("wait")
    async def wait(_: Any) -> None:
        await asyncio.sleep(0.05)

    queue.put("wait", jid="W")
    queue.put("block", jid="B")
    await run(async_client, finder)
    (record,) = told(caplog)
    assert record.levelno == logging.WARNING
    assert record.message.startswith("job B (block) holds the loop, and no lock is renewed")
    assert f"{__file__}:" in record.message
    assert (record.__dict__["jid"], record.__dict__["klass"]) == ("B", "block")


async def test_what_waits_holds_nothing(
    async_client: AsyncClient, queue: Queue, finder: Finder, caplog: pytest.LogCaptureFixture
) -> None:
    @finder.register("wait")
    async def wait(_: Any) -> None:
        await asyncio.sleep(0.3)

    for jid in "AB":
        queue.put("wait", jid=jid)
    await run(async_client, finder)
    assert told(caplog) == []


async def test_what_held_the_loop_and_the_thread_is_told_afterwards(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sentries.Sentry, "_watch", lambda *_: None)
    with sentries.Sentry(lambda _: None):
        time.sleep(0.2)  # noqa: ASYNC251 - that is what it is about
        await asyncio.sleep(0.05)
    (told,) = caplog.messages
    assert told.startswith("the loop was held for 0.")


async def test_what_is_no_job_is_told_by_its_place_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with sentries.Sentry(lambda _: None):
        end = time.monotonic() + 5
        while not told(caplog) and time.monotonic() < end:
            time.sleep(0.01)  # noqa: ASYNC251 - as above
    (record,) = told(caplog)
    assert record.message.startswith("something holds the loop")
    assert f"{__file__}:" in record.message
