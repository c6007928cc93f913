# SPDX-License-Identifier: MIT
# mypy: disable-error-code="import-not-found"
"""BullMQ, its port to Python: one coroutine at a time, which is its default."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from bullmq import Queue, Worker
from driver import drive, job


async def run(held: Any, token: str) -> None:
    job(held.data["text"])


class BullMq:
    def __init__(self, url: str, variant: str) -> None:
        self.options = {"connection": url}

    def put(self, texts: Iterator[str]) -> None:
        asyncio.run(self._put(texts))

    async def _put(self, texts: Iterator[str]) -> None:
        queue = Queue("bench", self.options)
        for text in texts:
            await queue.add("run", {"text": text}, {})
        await queue.close()

    def work(self) -> None:
        asyncio.run(self._work())

    async def _work(self) -> None:
        worker = Worker("bench", run, self.options)  # begins by itself
        await asyncio.Event().wait()
        await worker.close()


if __name__ == "__main__":
    drive(BullMq)
