# SPDX-License-Identifier: MIT
"""In which order a worker looks at its queues."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final, Protocol

from pyqless.errors import InvalidArgument

__all__ = [
    "RESERVERS",
    "Ordered",
    "Reserver",
    "RoundRobin",
    "ShuffledRoundRobin",
    "expand",
    "is_pattern",
]


class Reserver(Protocol):
    """
    Puts queues into an order; any object with these two will do.

    The worker takes names from ``order`` one by one, and stops at the first queue that has a job:
    a generator learns that way how far it came.
    """

    @property
    def description(self) -> str:
        """A word or two, for people."""

    def order(self, queues: Sequence[str]) -> Iterator[str]:
        """The queues, each at most once, in the order in which they are to be tried for the next job."""


class Ordered:
    """The first queue first, always: a later one gets its turn when those before it are empty."""

    description = "ordered"

    def order(self, queues: Sequence[str]) -> Iterator[str]:
        """See ``Reserver.order``."""
        return iter(queues)


class RoundRobin:
    """Each queue in its turn: goes on after the queue that was tried last."""

    description = "round robin"

    def __init__(self) -> None:
        self._last: str | None = None

    def order(self, queues: Sequence[str]) -> Iterator[str]:
        """See ``Reserver.order``."""
        start = queues.index(self._last) + 1 if self._last in queues else 0
        for name in (*queues[start:], *queues[:start]):
            self._last = name
            yield name


class ShuffledRoundRobin(RoundRobin):
    """
    As ``RoundRobin``, over an order drawn once, so that many workers do not all look at the same queue.

    Args:
        shuffle: puts a list into another order.
    """

    description = "shuffled round robin"

    def __init__(self, shuffle: Callable[[list[str]], None] = random.shuffle) -> None:
        super().__init__()
        self._shuffle = shuffle
        self._drawn: list[str] = []

    def order(self, queues: Sequence[str]) -> Iterator[str]:
        """See ``Reserver.order``."""
        if sorted(self._drawn) != sorted(queues):
            self._drawn = list(queues)
            self._shuffle(self._drawn)
        return super().order(self._drawn)


#: by the names that ``JOB_RESERVER`` and the command line know
RESERVERS: Final[dict[str, Callable[[], Reserver]]] = {
    "Ordered": Ordered,
    "RoundRobin": RoundRobin,
    "ShuffledRoundRobin": ShuffledRoundRobin,
}


# -- names and patterns -----------------------------------------------------------------------


def is_pattern(name: str) -> bool:
    """Whether a name stands for others: it holds ``*``, or begins with ``!``."""
    return "*" in name or name.startswith("!")


def expand(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """
    Replace patterns by the names of queues.

    Args:
        names: plain names, which stay even if nobody knows them; ``*`` for any text; ``!`` before a name
            or pattern takes away what stands before it.
        known: the queues that there are.

    Returns:
        list: each queue once, where it was first meant.

    Raises:
        InvalidArgument: there is no name at all.
    """
    if not names:
        raise InvalidArgument("queues must name one at least", argument="queues", value=names)
    chosen: dict[str, None] = {}
    for name in names:
        if name.startswith("!"):
            chosen = {kept: None for kept in chosen if not _matches(kept, name[1:])}
        elif "*" in name:
            chosen |= {queue: None for queue in sorted(known) if _matches(queue, name)}
        else:
            chosen[name] = None
    return list(chosen)


def _matches(name: str, pattern: str) -> bool:
    literal = pattern.replace("[", "[[]").replace("?", "[?]")
    return fnmatchcase(name, literal)
