# SPDX-License-Identifier: MIT
"""Jobs that ask of the store all that a job may."""

from __future__ import annotations

from typing import Any

__all__: list[str] = []


def run(job: Any) -> dict[str, int]:
    """Run errands, and leave jobs behind that do nothing."""
    job.progress(1, 2, "half")
    job.log("at work")
    job.tag("red")
    queue, first = job.client.queues[job.queue_name], f"{job.jid}-first"
    queue.put("tests.errands.rest", {}, jid=first)
    queue.put("tests.errands.rest", {"depends": 1}, depends=[first], delay=0.01, unique=True)
    queue.put("tests.errands.rest", {}, unique=True, max_waiting=99, on_conflict="keep")
    queue.put_many([("tests.errands.rest", {"of": "many"})])
    job.explain()
    job.checkpoint()
    job.heartbeat()
    return {"done": 2}


async def run_async(job: Any) -> dict[str, int]:
    """As ``run``, for asyncio."""
    job.progress(1, 2, "half")
    await job.log("at work")
    await job.tag("red")
    queue, first = job.client.queues[job.queue_name], f"{job.jid}-first"
    await queue.put("tests.errands.rest", {}, jid=first)
    await queue.put("tests.errands.rest", {"depends": 1}, depends=[first], delay=0.01, unique=True)
    await queue.put("tests.errands.rest", {}, unique=True, max_waiting=99, on_conflict="keep")
    await queue.put_many([("tests.errands.rest", {"of": "many"})])
    await job.explain()
    await job.checkpoint()
    await job.heartbeat()
    return {"done": 2}


def rest(_: Any) -> None:
    """Do nothing."""


def again(job: Any) -> None:
    """Ask to be tried again, once."""
    if job.data.setdefault("tries", 0):
        return
    job.data["tries"] = 1
    job.retry(delay=0.01)
