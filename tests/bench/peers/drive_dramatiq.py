# SPDX-License-Identifier: MIT
# mypy: disable-error-code="import-not-found"
"""dramatiq on Redis: one process with one thread for jobs, beside one that fetches them ahead."""

from __future__ import annotations

import time
from collections.abc import Iterator

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from driver import drive, job


class Dramatiq:
    def __init__(self, url: str, variant: str) -> None:
        self.broker = RedisBroker(url=url)
        dramatiq.set_broker(self.broker)
        self.actor = dramatiq.actor(job)

    def put(self, texts: Iterator[str]) -> None:
        for text in texts:
            self.actor.send(text)

    def work(self) -> None:
        self.broker.emit_after("process_boot")
        dramatiq.Worker(self.broker, worker_threads=1).start()
        while True:
            time.sleep(60)


if __name__ == "__main__":
    drive(Dramatiq)
