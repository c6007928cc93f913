# SPDX-License-Identifier: MIT
"""What a storage is, whether it blocks or not."""

from __future__ import annotations

import logging
from collections.abc import Callable
from math import isfinite
from typing import Any, ClassVar

from pyqless.core.keys import Keys
from pyqless.core.transaction import Transaction
from pyqless.errors import ClientClosed, InvalidArgument
from pyqless.storage.metrics import Metrics

__all__ = ["Clock", "Described", "Hints", "closed", "logger", "require_lanes"]

#: gives the moment, Unix time in seconds
Clock = Callable[[], float]

logger = logging.getLogger("pyqless")


def closed() -> ClientClosed:
    """Say that a storage was closed."""
    return ClientClosed("the client is closed, and so is its storage: it takes no more calls")


def require_lanes(lanes: object) -> int:
    """
    How many calls to carry out at once.

    Raises:
        InvalidArgument: it is no number of lanes.
    """
    if isinstance(lanes, bool) or not isinstance(lanes, int) or lanes < 1:
        text = f"lanes must be a whole number from 1 on, not {lanes!r}"
        raise InvalidArgument(text, argument="lanes", value=lanes)
    return lanes


def _require_moment(moment: object) -> None:
    """Whole numbers and the like are moments, too; what is none would go into the store, and stay there."""
    if isinstance(moment, bool) or not isinstance(moment, int | float) or not isfinite(moment):
        text = f"clock must give Unix time in seconds, not {moment!r}"
        raise InvalidArgument(text, argument="clock", value=moment)


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
        #: whether it was closed, and is of no use any more
        self.is_closed = False
        #: hints that transitions leave for later ones
        self.memory: dict[Any, Any] = Hints()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.url} namespace={self.keys.namespace!r}>"

    def require_open(self) -> None:
        """
        Make sure that this is still of use.

        Raises:
            ClientClosed: it was closed.
        """
        if self.is_closed:
            raise closed()

    def moment(self) -> float:
        """
        What the clock says, Unix time in seconds.

        Raises:
            InvalidArgument: that is no moment.
        """
        moment = self.clock()
        if type(moment) is not float or not isfinite(moment):
            _require_moment(moment)
        return moment

    def committed(self, tx: Transaction) -> None:
        """Count a commit, and tell of the faults that the transition passed over."""
        self.metrics.commits += 1
        for fault in tx.reports:
            self.metrics.damaged += 1
            logger.warning("passed over damaged data: %s", fault)
