# SPDX-License-Identifier: MIT
# mypy: disable-error-code="import-not-found"
"""pyqless: workers of three kinds, and a store in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from typing import Any

from driver import drive, job

from pyqless import AsyncClient, Client
from pyqless.worker import AsyncWorker, Finder, ForkingWorker, Runner, SerialWorker, Settings

QUEUE = "default"
finder = Finder()


@finder.register("run")
def run(held: Any) -> None:
    job(held["text"])


@finder.register("run_async")
async def run_async(held: Any) -> None:
    job(held["text"])


class Pyqless:
    """The blocking client."""

    def __init__(self, url: str, variant: str) -> None:
        self.url = url
        self.variant = variant
        self.client = Client("memory://" if variant == "memory" else url)

    def put(self, texts: Iterator[str]) -> None:
        queue = self.client.queues[QUEUE]
        for text in texts:
            queue.put("run", {"text": text})

    def work(self) -> None:
        settings = Settings(queues=[QUEUE], runner=Runner(finder=finder))
        if self.variant == "forking":
            connect = partial(_connect, self.url)
            ForkingWorker(connect, settings, name="w", processes=1, stagger=0.0).run()
        else:
            SerialWorker(self.client, settings).run()


class AsyncPyqless:
    """The client for asyncio."""

    def __init__(self, url: str, variant: str) -> None:
        self.url = url

    def put(self, texts: Iterator[str]) -> None:
        asyncio.run(self._put(texts))

    async def _put(self, texts: Iterator[str]) -> None:
        async with AsyncClient(self.url) as client:
            queue = client.queues[QUEUE]
            await queue.length()  # connects
            for text in texts:
                await queue.put("run_async", {"text": text})

    def work(self) -> None:
        asyncio.run(self._work())

    async def _work(self) -> None:
        async with AsyncClient(self.url) as client:
            settings = Settings(queues=[QUEUE], runner=Runner(finder=finder))
            await AsyncWorker(client, settings, concurrency=1).run()


def _connect(url: str, name: str) -> Client:
    return Client(url, worker_name=name)


def _make(url: str, variant: str) -> Pyqless | AsyncPyqless:
    return (AsyncPyqless if variant == "asyncio" else Pyqless)(url, variant)


if __name__ == "__main__":
    drive(_make)
