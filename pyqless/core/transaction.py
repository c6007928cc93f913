# SPDX-License-Identifier: MIT
"""One attempt at a transition: its moment, what it reads and stages, and what is remembered between attempts."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from pyqless.core.effects import Ahead, Command
from pyqless.core.keys import Keys
from pyqless.core.overlay import Overlay
from pyqless.errors import StoreCorrupted

__all__ = ["LOOKS", "Stale", "Transaction"]

#: how many entries of lists the store should go through for one transaction at most: to strike one off, it goes
#: through all of them
LOOKS: Final = 128_000


class Stale(Exception):
    """What was read without a guard no longer holds: the attempt starts afresh, as after a conflict."""


class Transaction(Overlay):
    """
    What a transition works on.

    Args:
        now: the moment of the call, Unix time in seconds; finite.
        keys: the key map of the namespace.
        attempt: how many attempts at the transition have met a conflict before this one.
        memory: what earlier transitions of the same storage have noted for later ones: hints, no facts;
            None where nobody can come between.
        chance: from 0 up to 1, by which a rule may choose among equals.
        takes_turns: whether a batch may wait for its turn.
    """

    __slots__ = (
        "ahead",
        "attempt",
        "beside",
        "chance",
        "foresees",
        "gathers",
        "grows",
        "keys",
        "lengths",
        "looks",
        "memory",
        "now",
        "reports",
        "samples",
        "takes_turns",
    )

    def __init__(
        self,
        now: float,
        keys: Keys,
        attempt: int = 0,
        memory: dict[Any, Any] | None = None,
        chance: float = 0.0,
        *,
        takes_turns: bool = False,
    ) -> None:
        super().__init__()
        self.now = now
        self.chance = chance
        self.keys = keys
        self.attempt = attempt
        self.memory = memory
        self.takes_turns = takes_turns
        #: what is read at the beginning of many transitions in one, too, only to be known
        self.beside: dict[Command, None] = {}
        #: how many entries the store goes through for what is staged, of how long lists, as far as that is counted
        self.looks = 0
        self.lengths: dict[str, int] = {}
        #: whether it brings in new work, which a store that is nearly full had better not take
        self.grows = False
        #: whether to foresee what the next transition will read: not where others follow in the same transaction
        self.foresees = memory is not None
        #: what that is, probably
        self.ahead: Ahead | None = None
        #: faults found in single entries and passed over; storages log and count them at the commit
        self.reports: list[StoreCorrupted] = []
        #: whether samples of times are gathered, to be entered together, and those that are, each with its ``Sampler``
        self.gathers = False
        self.samples: list[tuple[Any, float]] = []

    def foresee(self, topic: str, *reads: Command, aging: Collection[str] = ()) -> None:
        """
        Name what the next transition on the same connection will probably read; the last word counts.

        Args:
            topic, reads, aging: see ``Ahead``.
        """
        self.ahead = Ahead(topic, reads, aging)
