# SPDX-License-Identifier: MIT
"""What a storage is, whether it blocks or not."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, ClassVar

from pyqless.core.keys import Keys
from pyqless.core.transaction import Transaction
from pyqless.storage.metrics import Metrics

__all__ = ["Clock", "Described", "Hints", "logger"]

#: gives the moment, Unix time in seconds
Clock = Callable[[], float]

logger = logging.getLogger("pyqless")


class Hints(dict[Any, Any]):
    """What transitions note for later ones; all is forgotten where it becomes too much, as with ever new queues."""

    #: how many there may be
    MANY: ClassVar[int] = 10_000

    def __setitem__(self, key: Any, value: Any) -> None:
        if len(self) >= self.MANY and key not in self:
            self.clear()
        super().__setitem__(key, value)


class Described:
    """What a storage is, whether it blocks or not."""

    def __init__(self, url: str, namespace: str, clock: Clock) -> None:
        #: without its password
        self.url = url
        self.keys = Keys(namespace)
        self.clock = clock
        self.metrics = Metrics()
        #: hints that transitions leave for later ones
        self.memory: dict[Any, Any] = Hints()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.url} namespace={self.keys.namespace!r}>"

    def committed(self, tx: Transaction) -> None:
        """Count a commit, and tell of the faults that the transition passed over."""
        self.metrics.commits += 1
        for fault in tx.reports:
            self.metrics.damaged += 1
            logger.warning("passed over damaged data: %s", fault)
