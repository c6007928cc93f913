# SPDX-License-Identifier: MIT
"""What dead children have left behind, until it is dealt with: the store may be away when they die."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from pyqless.client import Client
from pyqless.core import presence
from pyqless.errors import QlessError
from pyqless.worker.attempts import Attempt
from pyqless.worker.ends import log_left
from pyqless.worker.hurrying import within
from pyqless.worker.leftovers import Dealing, deal_with
from pyqless.worker.records import quietly
from pyqless.worker.waiting import Backoff

__all__ = ["Estates"]

logger = logging.getLogger("pyqless.worker")


class _Estate(NamedTuple):
    """What a child leaves behind."""

    dealing: Dealing
    #: the runs that it has told of
    attempts: Sequence[Attempt]


class Estates:
    """The names of dead children, and what is to become of the jobs that they had in hand."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._open: dict[str, _Estate] = {}
        self._backoff = Backoff()
        self._try_at = float("-inf")

    def __len__(self) -> int:
        return len(self._open)

    def add(self, name: str, dealing: Dealing, attempts: Sequence[Attempt] = ()) -> None:
        """Take on what a child leaves behind; nobody is to work under its name any more."""
        self._open[name] = _Estate(dealing, attempts)
        self._try_at = float("-inf")

    def settle(self) -> None:
        """Deal with all that there is, unless the store was away a moment ago."""
        if time.monotonic() < self._try_at:
            return
        for name, estate in list(self._open.items()):
            try:
                deal_with(self._client, name, estate.dealing)
                self._client.storage.run(partial(presence.withdraw, worker=name))
            except QlessError as error:
                log = logger.warning if self._backoff.is_fresh else logger.debug
                log("what %s has left is seen to later: %s", name, error, extra={"worker": name})
                self._try_at = time.monotonic() + self._backoff.next()
                return
            del self._open[name]
        self._backoff.reset()

    def settle_within(self, seconds: float) -> None:
        """Deal with all that there is, or leave it to the locks after a while; who does so forks no more."""
        with quietly():
            within(seconds, partial(self._settle_until, time.monotonic() + seconds))
        for attempt in chain.from_iterable(estate.attempts for estate in self._open.values()):
            log_left(attempt, self._client.storage.clock(), "the store does not hear of it")

    def _settle_until(self, end: float) -> None:
        while self._open and time.monotonic() < end:
            self.settle()
            if self._open:
                time.sleep(0.1)
