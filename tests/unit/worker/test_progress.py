# SPDX-License-Identifier: MIT
"""How far a job has come is seen by every client while it is in hand."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import Any

import pytest

from pyqless import AsyncClient, Client, Queue
from pyqless.core import presence
from pyqless.errors import InvalidArgument
from pyqless.worker import (
    AsyncWorker,
    Finder,
    Limits,
    Progress,
    Runner,
    Settings,
    records,
    records_async,
)
from tests.unit.worker.conftest import Clock


def tell(client: Client, jobs: Any) -> None:
    fields = {"jobs": jobs if isinstance(jobs, str) else json.dumps(jobs)}
    client.storage.run(partial(presence.announce, worker="ann", fields=fields))


async def test_what_a_job_tells_is_seen_by_both_clients(
    client: Client, async_client: AsyncClient, queue: Queue, finder: Finder, clock: Clock
) -> None:
    seen: list[Any] = []

    @finder.register("run")
    async def run(job: Any) -> None:
        job.progress(1, 3, "first")
        async with asyncio.timeout(5):
            while (told := await job.client.jobs.progress(job)) is None:  # noqa: ASYNC110 - the worker tells it in its own time
                await asyncio.sleep(0.01)
        seen.append((told, client.jobs.progress("J")))
        seen.append([record.jobs[0].jid for record in await records_async(job.client)])

    queue.put("run", jid="J")
    assert client.jobs.progress("J") is None
    options = Settings(queues=["mail"], runner=Runner(finder=finder), limits=Limits(jobs=1))
    await AsyncWorker(async_client, options, 1).run()
    assert seen == [(Progress(1, 3, "first"), Progress(1, 3, "first")), ["J"]]
    assert client.jobs.progress("J") is None
    assert await async_client.jobs.progress("J") is None


@pytest.mark.parametrize(
    ("jobs", "told"),
    [
        ([{"jid": "J", "progress": {"done": 1.5}}], Progress(1.5)),
        ([{"jid": "K", "progress": {"done": 1}}], None),
        ([{"jid": "J"}], None),
        ([{"jid": "J", "progress": {"done": "much"}}], None),
        ([{"jid": "J", "progress": {"done": 1, "unit": "pages"}}], None),
        ([{"jid": "J", "progress": 3}], None),
        ([{}], None),
        (["J"], None),
        ("no JSON", None),
    ],
)
def test_what_makes_no_sense_is_nothing(
    client: Client, queue: Queue, jobs: Any, told: Progress | None
) -> None:
    queue.put("run", jid="J")
    assert queue.pop() is not None
    tell(client, jobs)
    assert client.jobs.progress("J") == told


async def test_records_take_the_client_that_is_theirs(
    client: Client, async_client: AsyncClient
) -> None:
    blocking: Any = client
    other: Any = async_client
    with pytest.raises(InvalidArgument, match="client must be of type Client, not AsyncClient"):
        records(other)
    with pytest.raises(InvalidArgument, match="client must be of type AsyncClient, not Client"):
        await records_async(blocking)
    assert await records_async(async_client) == records(client) == []
