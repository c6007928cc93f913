# SPDX-License-Identifier: MIT
"""Which queues a worker looks at: names and patterns, in the order of its reserver, but for those that are damaged."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from typing import Final

from pyqless.core.effects import Factory
from pyqless.core.waking import Outlook, outlook
from pyqless.errors import StoreCorrupted
from pyqless.worker.reservers import Ordered, Reserver, expand, is_pattern

__all__ = ["LOOK_AROUND", "Lookout"]

logger = logging.getLogger("pyqless.worker")

#: seconds between two looks at which queues there are, where names are patterns
LOOK_AROUND: Final = 5.0


class Lookout:
    """
    Which queues are to be looked at, and in which order.

    Args:
        queues: names and patterns, see ``reservers.expand``.
    """

    def __init__(self, queues: Sequence[str], reserver: Reserver | None) -> None:
        expand(queues, ())  # is refused here rather than later
        self._names = list(queues)
        self._reserver = reserver or Ordered()
        self._has_patterns = any(map(is_pattern, queues))
        self._look_at = float("-inf")
        self._begun: Iterator[str] | None = None
        self._damaged: set[str] = set()
        #: what the names meant when last looked at
        self.queues = [] if self._has_patterns else expand(queues, ())

    def __str__(self) -> str:
        return f"{', '.join(self._names)} ({self._reserver.description})"

    def needs_known(self, now: float) -> bool:
        """Whether it is time to ask which queues there are."""
        return self._has_patterns and now >= self._look_at

    def know(self, known: Sequence[str], now: float) -> bool:
        """Take note of the queues that there are, and tell whether that makes others of those to be looked at."""
        before, self.queues = self.queues, expand(self._names, known)
        self._look_at = now + LOOK_AROUND
        self._begun = None
        return self.queues != before

    def looks(self, *, at_first: bool) -> list[tuple[str, Factory[Outlook]]]:
        """What is to be tried before any job is taken: who may pop, but not look, is refused here rather than later."""
        some = self.queues[:1] if at_first else ()
        return [(name, partial(outlook, queue=name)) for name in some]

    @property
    def sound(self) -> list[str]:
        """The queues that were not found damaged when last tried."""
        return [name for name in self.queues if name not in self._damaged]

    @contextmanager
    def passing_over(self, queue: str) -> Iterator[None]:
        """Try a queue; one whose keys hold what no queue can is told once, and keeps nobody from the others."""
        try:
            yield
        except StoreCorrupted as error:
            if error.argument == "path":  # the whole file is damaged
                raise
            if queue not in self._damaged:
                logger.warning("no jobs of queue %r for now: %s", queue, error)
            self._damaged.add(queue)
        else:
            self._damaged.discard(queue)

    def order(self) -> Iterator[str]:
        """The queues in the order in which to try them; taken one by one."""
        begun, self._begun = self._begun, None
        return self._reserver.order(self.queues) if begun is None else begun

    def first(self) -> str | None:
        """The queue to try next, if there is any; the next order is the one that begins with it."""
        names = self._reserver.order(self.queues)
        head = list(islice(names, 1))
        self._begun = chain(head, names)
        return next(iter(head), None)
