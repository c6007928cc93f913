# SPDX-License-Identifier: MIT
"""
Reading ahead: what the next transition will probably read comes with the commit of the one before.

Behind EXEC, the same packet guards and reads what a transition has named, and opens the next commit.
The guards stand before the reads, so if that commit takes place, what was read was still true.
Where a guess was wrong nothing is lost but the guess: the transition is begun afresh, and reads for itself.
"""

from __future__ import annotations

from typing import Any, Final

from pyqless.core.effects import Ahead, Batch, key_of
from pyqless.storage.described import Hints
from pyqless.storage.redis.protocol import ServerError

__all__ = ["Foresight", "Trust", "Unconfirmed"]


class Unconfirmed(Exception):
    """A transition would end, on what was read ahead, without a commit that could confirm it."""


class Foresight:
    """
    What was read ahead.

    Args:
        ahead: the guess.
        guards: the keys that are guarded.
        replies: to the guess's reads, as the server sent them.
    """

    __slots__ = ("_at", "_guarded", "guards", "reads", "replies", "topic")

    def __init__(self, ahead: Ahead, guards: list[str], replies: list[Any]) -> None:
        self.topic = ahead.topic
        self.guards = guards
        self.reads = ahead.reads
        self.replies = replies
        #: where the next batch is expected
        self._at = 0
        if ServerError in map(type, replies):
            # what was refused then may be granted now
            self.guards, self.reads, self.replies = [], (), []
        self._guarded = frozenset(self.guards)

    def answer(self, batch: Batch) -> list[Any] | None:
        """The replies to a batch, if it asks for nothing else."""
        reads, begin = batch.reads, self._at
        if batch.snapshot or not self._guarded.issuperset(map(key_of, reads[: batch.guarded])):
            return None
        self._at = end = begin + len(reads)
        if self.reads[begin:end] == reads:
            return self.replies[begin:end]
        known, replies = self.reads, self.replies
        try:
            return [replies[known.index(read)] for read in reads]
        except ValueError:
            return None


#: what a wrong guess counts for, in right ones; from how much doubt on no guess is made; and its limit
_WRONG: Final = 4
_DOUBTFUL: Final = 12
_HOPELESS: Final = 60


class Trust:
    """Which topics are worth guessing about: not those that others keep changing."""

    def __init__(self) -> None:
        self._doubts: dict[str, int] = Hints()

    def allows(self, topic: str) -> bool:
        """Whether to guess; each refusal brings the next try nearer."""
        doubt = self._doubts.get(topic, 0)
        if doubt < _DOUBTFUL:
            return True
        self._doubts[topic] = doubt - 1
        return False

    def right(self, topic: str) -> None:
        """A guess was right."""
        doubt = self._doubts.get(topic, 0)
        if doubt:
            self._doubts[topic] = doubt - 1

    def unused(self, topic: str) -> None:
        """Something else came than was guessed, which costs little."""
        self._doubts[topic] = min(self._doubts.get(topic, 0) + 1, _HOPELESS)

    def wrong(self, topic: str) -> None:
        """A guess had to be taken back."""
        doubt = self._doubts.get(topic, 0)
        self._doubts[topic] = min(max(2 * doubt, doubt + _WRONG), _HOPELESS)
