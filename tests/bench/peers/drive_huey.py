# SPDX-License-Identifier: MIT
# mypy: disable-error-code="import-not-found"
"""huey on Redis: a consumer of one thread, as its command starts it."""

from __future__ import annotations

from collections.abc import Iterator

from driver import drive, job
from huey import RedisHuey


class Huey:
    def __init__(self, url: str, variant: str) -> None:
        self.huey = RedisHuey("bench", url=url)
        self.task = self.huey.task()(job)

    def put(self, texts: Iterator[str]) -> None:
        for text in texts:
            self.task(text)

    def work(self) -> None:
        self.huey.create_consumer(workers=1).run()


if __name__ == "__main__":
    drive(Huey)
