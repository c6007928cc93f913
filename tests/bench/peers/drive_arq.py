# SPDX-License-Identifier: MIT
# mypy: disable-error-code="import-not-found"
"""
arq: one coroutine at a time.

It takes one job at each look at the queue; here it looks every 10 ms, not every half second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from arq import create_pool
from arq.connections import RedisSettings
from arq.worker import Worker
from driver import drive, job


async def run(context: Any, text: str) -> None:
    job(text)


class Arq:
    def __init__(self, url: str, variant: str) -> None:
        self.settings = RedisSettings.from_dsn(url)

    def put(self, texts: Iterator[str]) -> None:
        asyncio.run(self._put(texts))

    async def _put(self, texts: Iterator[str]) -> None:
        pool = await create_pool(self.settings)
        for text in texts:
            await pool.enqueue_job("run", text)
        await pool.aclose()

    def work(self) -> None:
        asyncio.set_event_loop(asyncio.new_event_loop())
        Worker(functions=[run], redis_settings=self.settings, max_jobs=1, poll_delay=0.01).run()


if __name__ == "__main__":
    drive(Arq)
