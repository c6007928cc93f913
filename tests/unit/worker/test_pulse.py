# SPDX-License-Identifier: MIT
"""The heart of a worker for asyncio ends when it is told to."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from pyqless.worker.pulse import end


async def _swallow_a_cancellation() -> None:
    with suppress(asyncio.CancelledError):
        await asyncio.sleep(60)
    await asyncio.sleep(60)


def test_a_task_that_swallows_a_cancellation_is_cancelled_again() -> None:
    async def run() -> bool:
        task = asyncio.create_task(_swallow_a_cancellation())
        await asyncio.sleep(0)
        async with asyncio.timeout(5):
            await end(task)
        return task.cancelled()

    assert asyncio.run(run())
