# SPDX-License-Identifier: MIT
"""What dead children have left behind, until it is dealt with: the store may be away when they die."""

from __future__ import annotations

import logging
import time
from functools import partial

from pyqless.client import Client
from pyqless.core import presence
from pyqless.errors import QlessError
from pyqless.worker.leftovers import Dealing, deal_with
from pyqless.worker.waiting import Backoff

__all__ = ["Estates"]

logger = logging.getLogger("pyqless.worker")


class Estates:
    """The names of dead children, and what is to become of the jobs that they had in hand."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._open: dict[str, Dealing] = {}
        self._backoff = Backoff()
        self._try_at = float("-inf")

    def __len__(self) -> int:
        return len(self._open)

    def add(self, name: str, dealing: Dealing) -> None:
        """Take on what a child leaves behind; nobody is to work under its name any more."""
        self._open[name] = dealing
        self._try_at = float("-inf")

    def settle(self) -> None:
        """Deal with all that there is, unless the store was away a moment ago."""
        if time.monotonic() < self._try_at:
            return
        for name, dealing in list(self._open.items()):
            try:
                deal_with(self._client, name, dealing)
                self._client.storage.run(partial(presence.withdraw, worker=name))
            except QlessError as error:
                text = "what %s had in hand is dealt with later: %s"
                logger.warning(text, name, error, extra={"worker": name})
                self._try_at = time.monotonic() + self._backoff.next()
                return
            del self._open[name]
        self._backoff.reset()

    def settle_within(self, seconds: float) -> None:
        """Deal with all that there is, or leave it to the locks after a while."""
        end = time.monotonic() + seconds
        while self._open and time.monotonic() < end:
            self.settle()
            if self._open:
                time.sleep(0.1)
