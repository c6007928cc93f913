# SPDX-License-Identifier: MIT
"""A worker is part of a program: it ends with the task or by the order of the program, and leaves nothing in hand."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pyqless import AsyncClient, Client, Queue
from pyqless.worker import AsyncWorker, ExitCode, Finder, Runner, Settings, records


@pytest.mark.parametrize("how", ["cancelled", "stopped"])
async def test_the_jobs_of_a_task_that_ends_go_back(
    client: Client, async_client: AsyncClient, queue: Queue, finder: Finder, how: str
) -> None:
    began = asyncio.Event()

    @finder.register("run")
    async def run(_: Any) -> None:
        began.set()
        await asyncio.sleep(60)

    queue.put("run", jid="J", retries=3)
    options = Settings(queues=["mail"], runner=Runner(finder=finder), grace=0)
    worker = AsyncWorker(async_client, options, 2)
    task = asyncio.create_task(worker.run())
    async with asyncio.timeout(5):
        await began.wait()
        if how == "cancelled":
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            worker.control.stop()
            assert await task is ExitCode.CUT_OFF
    job = client.jobs["J"]
    assert (job.state, job.remaining) == ("waiting", 3)
    assert records(client) == []
