# SPDX-License-Identifier: MIT
"""Waiting for jobs, for the client that blocks."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Self, overload

from pyqless.client.checks import Span
from pyqless.client.entering import EnteredBlocking
from pyqless.client.requests import queues as requests
from pyqless.client.sync.job import Job
from pyqless.client.sync.listening import Listener
from pyqless.client.waiting import Waiting, seconds, still_handed
from pyqless.errors import NotReplicated

if TYPE_CHECKING:
    from pyqless.client.sync.client import Client

__all__ = ["Consumer"]


class Consumer(EnteredBlocking):
    """
    Takes jobs from some queues, and waits for them; see ``Client.consumer``.

    It listens on a connection of its own from the first wait on, so it should be closed.
    One thread at a time may use it.
    """

    def __init__(self, client: Client, queues: Iterable[str], interval: Span | None) -> None:
        self.client = client
        self._waiting = Waiting(client.storage.keys, queues, interval)
        self._listener = Listener(client.storage, lambda: self._waiting.channels)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {', '.join(map(repr, self._waiting.queues))}>"

    @overload
    def pop(self, count: None = None, *, timeout: Span | None = None) -> Job | None: ...

    @overload
    def pop(self, count: int, *, timeout: Span | None = None) -> list[Job]: ...

    @overload
    def pop(self, count: int | None, *, timeout: Span | None = None) -> Job | list[Job] | None: ...

    def pop(
        self, count: int | None = None, *, timeout: Span | None = None
    ) -> Job | list[Job] | None:
        """
        Take jobs in hand, from the first queue that has any.

        Args:
            count: how many at most, 1 or more.
            timeout: seconds, or a timedelta, to wait for a job at most; None: not at all; ``math.inf``: for ever.

        Returns:
            Job: or None if there was none in time; with ``count`` a list, maybe empty.
        """
        jobs = self._wait(count, seconds(timeout))
        return jobs if count is not None else next(iter(jobs), None)

    def __iter__(self) -> Iterator[Job]:
        """Take one job after another, for ever."""
        while (job := self.pop(timeout=math.inf)) is not None:
            yield job

    def close(self) -> None:
        """Listen no longer."""
        self._listener.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _wait(self, count: int | None, timeout: float) -> list[Job]:
        end = time.monotonic() + timeout
        jobs: list[Job] = []
        is_new = True
        while True:
            if is_new:
                self._waiting.tried(self.client.storage.clock())
                jobs = self._take(count)
            left = end - time.monotonic()
            if jobs or left <= 0:
                return jobs
            # what came in before there was anybody to listen is not told
            is_new = self._listener.begin() or self._is_woken(left)

    def _take(self, count: int | None) -> list[Job]:
        for name in self._waiting.queues:
            request = requests.pop(self.client.queues[name], count)
            try:
                seen = self.client.storage.run(request)
            except NotReplicated as error:
                seen = still_handed(error)
            if seen:
                return [Job(self.client, job, job.worker) for job in seen]
        return []

    def _is_woken(self, left: float) -> bool:
        """Sleep until something may be due, and tell whether jobs should be asked for."""
        storage, waiting = self.client.storage, self._waiting
        waiting.learn([(name, storage.run(question)) for name, question in waiting.questions()])
        rest = waiting.rest([storage.run(look) for look in waiting.looks()], storage.clock())
        if rest is None:
            return True
        return waiting.slept(woken=self._listener.hears(min(left, rest), waiting.wakes))
