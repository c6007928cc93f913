# SPDX-License-Identifier: MIT
"""A file from asyncio: the loop is never held up, whatever SQLite waits for."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pyqless.core.commands import call as command
from pyqless.errors import ClientClosed, JobNotFound
from pyqless.storage import AsyncStorage, open_async_storage, open_storage
from tests.sqlite_files import url_of, writing

NOW = 1400000000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
async def storage(path: Path) -> AsyncIterator[AsyncStorage]:
    async with open_async_storage(url_of(path, timeout=60)) as storage:
        yield storage


async def call(storage: AsyncStorage, *words: object) -> Any:
    wanted = command(tuple(map(str, words)))
    return await storage.run(wanted.transition, wanted.now)


async def test_opening_touches_no_file(path: Path, storage: AsyncStorage) -> None:
    assert list(path.parent.iterdir()) == []
    await call(storage, "put", NOW, "w", "q", "jid", "K", "{}", 0)
    assert path in path.parent.iterdir()


async def test_many_tasks_get_each_job_once(storage: AsyncStorage) -> None:
    jids = [f"jid{number}" for number in range(60)]
    await asyncio.gather(*(call(storage, "put", NOW, "w", "q", jid, "K", "{}", 0) for jid in jids))

    async def take_all(worker: str) -> list[str]:
        taken = []
        while jobs := await call(storage, "pop", NOW, "q", worker, 1):
            taken.append(jobs[0].jid)
            await call(storage, "complete", NOW, jobs[0].jid, worker, "q", "{}")
        return taken

    taken = await asyncio.gather(*(take_all(f"w{number}") for number in range(10)))
    assert Counter(jid for own in taken for jid in own) == Counter(jids)


async def test_the_loop_goes_on_while_others_hold_the_lock(
    path: Path, storage: AsyncStorage
) -> None:
    await call(storage, "put", NOW, "w", "q", "jid", "K", "{}", 0)
    longest, last = 0.0, time.monotonic()
    with writing(path):
        waiting = asyncio.create_task(call(storage, "pop", NOW, "q", "w", 1))
        for _ in range(100):
            await asyncio.sleep(0.001)
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
        assert not waiting.done()
    assert [job.jid for job in await waiting] == ["jid"]
    assert longest < 1


async def test_errors_come_through(storage: AsyncStorage) -> None:
    with pytest.raises(JobNotFound):
        await call(storage, "heartbeat", NOW, "missing", "w")
    await call(storage, "put", NOW, "w", "q", "jid", "K", "{}", 0)


async def test_a_call_that_is_cancelled_is_carried_out_all_the_same(
    path: Path, storage: AsyncStorage
) -> None:
    await call(storage, "put", NOW, "w", "q", "jid", "K", "{}", 0)
    with writing(path):
        waiting = asyncio.create_task(call(storage, "put", NOW, "w", "q", "other", "K", "{}", 0))
        while storage.metrics.attempts < 2:  # noqa: ASYNC110 - there is no event for that
            await asyncio.sleep(0.001)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    await storage.close()
    with open_storage(url_of(path)) as after:
        assert "ql:j:other" in after.dump()


async def test_a_closed_storage_says_so(storage: AsyncStorage) -> None:
    await storage.close()
    await storage.close()
    with pytest.raises(ClientClosed, match="closed"):
        await call(storage, "get", NOW, "jid")
    with pytest.raises(ClientClosed, match="closed"):
        await storage.subscribe("told")
