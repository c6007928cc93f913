# SPDX-License-Identifier: MIT
"""Where a worker's jobs come from: its queues, in the order of its reserver, for as long as it takes any."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from pyqless.client import Client, Job
from pyqless.errors import QlessError, RequestError
from pyqless.worker.control import Control
from pyqless.worker.reservers import Ordered, Reserver, expand, is_pattern
from pyqless.worker.waiting import Backoff, Bell

__all__ = ["Fetcher"]

logger = logging.getLogger("pyqless.worker")

#: seconds between two looks at which queues there are, where names are patterns
LOOK_AROUND: Final = 5.0


class Fetcher:
    """
    Pops jobs, one or some at a time.

    Args:
        queues: names and patterns, see ``reservers.expand``.
        interval: seconds between two looks at empty queues, at most.
    """

    def __init__(
        self,
        client: Client,
        queues: Sequence[str],
        control: Control,
        *,
        reserver: Reserver | None = None,
        interval: float = 5.0,
    ) -> None:
        expand(queues, ())  # is refused here rather than later
        self._client = client
        self._names = list(queues)
        self._control = control
        self._reserver = reserver or Ordered()
        self._bell = Bell(client, interval, lambda: not control.is_running)
        self._backoff = Backoff()
        self._has_patterns = any(map(is_pattern, queues))
        self._queues: list[str] = []
        self._look_at = float("-inf")

    def __str__(self) -> str:
        return f"{', '.join(self._names)} ({self._reserver.description})"

    def fetch(self, count: int = 1) -> list[Job]:
        """
        Pop jobs of the first queue that has any, without waiting for one.

        Returns:
            list: at most so many jobs; empty where there is none, and where the store is away, after a pause.

        Raises:
            RequestError: a name that no store would take.
        """
        try:
            jobs = self._pop(count)
        except RequestError:
            raise
        except QlessError as error:
            log = logger.warning if self._backoff.is_fresh else logger.debug
            pause = self._backoff.next()
            log("no jobs for now, trying again: %s", error)
            self._bell.pause(pause)
            return []
        if not self._backoff.is_fresh:
            logger.warning("the store is back")
            self._backoff.reset()
        return jobs

    def _pop(self, count: int) -> list[Job]:
        for name in self._reserver.order(self._current()):
            if jobs := self._client.queues[name].pop(count):
                return jobs
        return []

    def _current(self) -> list[str]:
        """The queues that the names mean now."""
        now = float(self._client.storage.clock())
        if not self._queues or (self._has_patterns and now >= self._look_at):
            counts = self._client.queues.counts() if self._has_patterns else []
            self._queues = expand(self._names, [queue.name for queue in counts])
            self._look_at = now + LOOK_AROUND
        return self._queues

    def wait(self) -> None:
        """Wait until there may be something to fetch."""
        if self._backoff.is_fresh:
            self._bell.wait(self._queues)

    def pause(self, seconds: float) -> None:
        """Wait, whatever there may be to fetch."""
        self._bell.pause(seconds)

    def close(self) -> None:
        """Listen no longer for jobs."""
        self._bell.close()
