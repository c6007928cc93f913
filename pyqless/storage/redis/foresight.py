# SPDX-License-Identifier: MIT
"""
Reading ahead: what the next transition will probably read comes with the commit of the one before.

Behind EXEC, the same packet guards and reads what a transition has named, and opens the next commit.
The guards stand before the reads, so if that commit takes place, what was read was still true.
Where a guess was wrong nothing is lost but the guess: the transition is begun afresh, and reads for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from pyqless.core.effects import Ahead, Batch, Command
from pyqless.storage.base import Hints
from pyqless.storage.redis.protocol import ServerError

__all__ = ["Foresight", "Trust", "Unconfirmed"]


class Unconfirmed(Exception):
    """A transition would end, on what was read ahead, without a commit that could confirm it."""


class Foresight(NamedTuple):
    """What was read ahead."""

    topic: str
    #: what is guarded
    keys: list[str]
    #: replies as the server sent them
    replies: dict[Command, Any]

    @classmethod
    def of(cls, ahead: Ahead, keys: list[str], replies: Sequence[Any]) -> Foresight:
        """What the replies to a guess are worth, once its keys are guarded."""
        reads = (*ahead.guarded, *ahead.free)
        if ServerError in map(type, replies):
            # what was refused then may be granted now
            return cls(ahead.topic, [], {})
        return cls(ahead.topic, keys, dict(zip(reads, replies, strict=True)))

    @staticmethod
    def keys_of(ahead: Ahead) -> list[str]:
        """What has to be guarded before the reads."""
        return list(dict.fromkeys([read[1] for read in ahead.guarded]))

    def answers(self, batch: Batch) -> bool:
        """Whether a batch asks for nothing else."""
        reads = batch.reads
        return self.replies.keys() >= {*reads} and {*self.keys}.issuperset(
            [read[1] for read in reads[: batch.guarded]]
        )


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
