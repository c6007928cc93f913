# SPDX-License-Identifier: MIT
# mypy: disable-error-code="import-not-found"
"""reqless, the client that comes with the Lua core: its serial worker, which polls; here every 10 ms, not every minute."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from driver import drive, job
from reqless import Client
from reqless.workers.serial import SerialWorker


class Work:
    """What its jobs name."""

    @staticmethod
    def process(held: Any) -> None:
        job(json.loads(held.data)["text"])
        held.complete()


class Reqless:
    def __init__(self, url: str, variant: str) -> None:
        self.client = Client(url)

    def put(self, texts: Iterator[str]) -> None:
        queue = self.client.queues["default"]
        for text in texts:
            queue.put("drive_reqless.Work", json.dumps({"text": text}))

    def work(self) -> None:
        SerialWorker(["default"], self.client, interval=0.01).run()


if __name__ == "__main__":
    drive(Reqless)
