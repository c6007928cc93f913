# SPDX-License-Identifier: MIT
"""
The fence of a connection: it tells which of its transactions was the last that took place.

A connection that breaks after EXEC was sent leaves it open whether EXEC took place, and it may still take
place later. So each connection has a *fence*: a hash that every one of its transactions guards and writes its
number to. After such a break, the fence is written to on a new connection, so that the old EXEC can no longer
succeed, and tells which transaction was the last.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from pyqless.core.effects import Command
from pyqless.errors import OutcomeUnknown
from pyqless.storage.redis.protocol import ServerError

__all__ = ["FENCE_LIFE", "Fence"]

#: seconds after its last use at which a fence expires, give or take the next
FENCE_LIFE: Final = 86400

#: seconds after which the next transaction puts off its fence's expiry
_EXTEND_AFTER: Final = 3600.0

#: what HSET is answered of number and birth where there was neither
_BOTH_NEW: Final = 2


class Fence:
    """
    What is known of a fence, and the commands that make, keep and ask it.

    Args:
        key: where it is; nobody else's.
        monotonic: a clock that never goes back, seconds.
    """

    def __init__(self, key: str, monotonic: Callable[[], float]) -> None:
        self.key = key
        self._monotonic = monotonic
        #: the number of the last transaction that was sent
        self._sent = 0
        #: how often it was to be made: one that has another number is not the one that was made last
        self._births = 0
        #: when to put off its expiry
        self._extend_at = -math.inf

    # -- making and keeping -----------------------------------------------------------------

    def birth(self) -> tuple[Command, ...]:
        """
        The commands that go before the first guard of a transaction.

        The fence must be there before the first commit whose outcome it may have to tell: only so does one that is
        missing say that it was lost, and not that there was no commit.
        """
        if self._monotonic() < self._extend_at:
            return ()
        self._births += 1
        return ("HSET", self.key, "birth", str(self._births)), self.expire()

    def number(self, now: float) -> tuple[Command, ...]:
        """
        The commands that go behind the writes of the next transaction, and number it.

        Args:
            now: on the monotonic clock.
        """
        self._sent += 1
        # its birth is there unless it was lost: so what HSET is answered tells
        numbered = ("HSET", self.key, "seq", str(self._sent), "birth", str(self._births))
        return (numbered,) if now < self._extend_at else (numbered, self.expire())

    def note(self, replies: Sequence[Any]) -> bool:
        """
        Note what the commands that number a transaction were answered.

        Returns:
            bool: whether the fence will expire: not if it was lost, and is there again.
        """
        if len(replies) > 1:
            self.put_off()
        elif replies[0] == _BOTH_NEW:
            self.begin_anew()
            return False
        return True

    def expire(self) -> Command:
        """The command that puts off its expiry."""
        return ("EXPIRE", self.key, FENCE_LIFE)

    def put_off(self) -> None:
        """Note that the expiry was put off."""
        self._extend_at = self._monotonic() + _EXTEND_AFTER

    def begin_anew(self) -> None:
        """Have the next transaction make it first of all, as on another connection."""
        self._extend_at = -math.inf

    # -- asking -----------------------------------------------------------------------------

    def questions(self) -> tuple[Command, ...]:
        """
        The commands that ask which transaction was the last.

        The write comes first: what is read behind it is final. Sent twice, it does no harm.
        """
        return (
            ("HINCRBY", self.key, "epoch", 1),
            ("HGET", self.key, "seq"),
            ("HGET", self.key, "birth"),
            self.expire(),
        )

    def tell(self, replies: Sequence[Any]) -> bool | ServerError:
        """
        Read the answers.

        Returns:
            whether the transaction that was sent last took place; or why the server would not say.

        Raises:
            OutcomeUnknown: this fence is not the one that was there before the transaction.
        """
        *answers, _ = replies
        _, number, birth = answers
        if number == str(self._sent):
            return True
        refused = next((answer for answer in answers if isinstance(answer, ServerError)), None)
        if refused is not None:
            return refused
        if number is None and birth != str(self._births):
            raise OutcomeUnknown(
                "the connection broke during a commit, and its fence is gone:"
                " the store was flushed, evicts keys, or failed over;"
                " whether the commit took place shows in the job itself",
                argument=self.key,
            )
        return False
