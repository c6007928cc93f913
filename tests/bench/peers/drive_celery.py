# SPDX-License-Identifier: MIT
# mypy: disable-error-code="import-not-found"
"""Celery on Redis: the pool ``solo``, which runs jobs in the worker's own process, and the usual one of one child."""

from __future__ import annotations

from collections.abc import Iterator

from celery import Celery
from driver import drive, job


class Tasks:
    def __init__(self, url: str, variant: str) -> None:
        self.app = Celery("bench", broker=url)
        self.pool = variant
        self.task = self.app.task(name="run")(job)

    def put(self, texts: Iterator[str]) -> None:
        for text in texts:
            self.task.delay(text)

    def work(self) -> None:
        self.app.worker_main(["worker", "-P", self.pool, "-c", "1", "--loglevel", "ERROR"])


if __name__ == "__main__":
    drive(Tasks)
