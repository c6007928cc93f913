# SPDX-License-Identifier: MIT
# mypy: disable-error-code="import-not-found"
"""rq: its usual worker, which forks for each job, and its simple one, which does not."""

from __future__ import annotations

from collections.abc import Iterator

from driver import drive, job
from redis import Redis
from rq import Queue, SimpleWorker, Worker


class Rq:
    def __init__(self, url: str, variant: str) -> None:
        self.queue = Queue(connection=Redis.from_url(url))
        self.kind = SimpleWorker if variant == "simple" else Worker

    def put(self, texts: Iterator[str]) -> None:
        for text in texts:
            self.queue.enqueue(job, text)

    def work(self) -> None:
        worker = self.kind([self.queue], connection=self.queue.connection)
        worker.work(logging_level="ERROR")


if __name__ == "__main__":
    drive(Rq)
