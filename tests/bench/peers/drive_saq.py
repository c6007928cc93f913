# SPDX-License-Identifier: MIT
# mypy: disable-error-code="import-not-found"
"""saq: one coroutine at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from driver import drive, job
from saq import Queue, Worker


async def run(context: Any, *, text: str) -> None:
    job(text)


class Saq:
    def __init__(self, url: str, variant: str) -> None:
        self.url = url

    def put(self, texts: Iterator[str]) -> None:
        asyncio.run(self._put(texts))

    async def _put(self, texts: Iterator[str]) -> None:
        queue = Queue.from_url(self.url)
        await queue.connect()
        for text in texts:
            await queue.enqueue("run", text=text)
        await queue.disconnect()

    def work(self) -> None:
        asyncio.run(self._work())

    async def _work(self) -> None:
        queue = Queue.from_url(self.url)
        await queue.connect()
        await Worker(queue, [run], concurrency=1).start()


if __name__ == "__main__":
    drive(Saq)
