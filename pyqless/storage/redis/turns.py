# SPDX-License-Identifier: MIT
"""
Whose turn it is, where many want the same: a token that goes from hand to hand, first come, first served.

Of those who try at once to take the head of a queue, all but one try in vain. So where that has happened, each waits
with BLPOP for a token, in the packet of its reads, which are carried out once the token has come, and gives it back
behind EXEC.

Nothing but speed rests on it: the guards decide, and whoever waits in vain goes on without. The token may be lost with
its holder, or be late. Then somebody makes another, under a new name; one that has not the latest name is not given
back. So there is one in the end, however many were made.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from pyqless.core.effects import Command
from pyqless.storage.described import Hints
from pyqless.storage.redis.policy import Policy
from pyqless.storage.redis.protocol import ServerError

__all__ = ["Turns"]

#: seconds to wait for a token, and half as long again at most, lest all give up at once: longer than a long queue of
#: others takes. An idle server takes up to a tenth of a second more to go on behind a BLPOP that came to nothing
_PATIENCE: Final = 0.5

#: seconds after which a token that nobody wants expires, and its name
_TOKEN_LIFE: Final = 10
_NAME_LIFE: Final = 86400


class Turns:
    """The turns that one connection takes."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        #: the keys of tokens, and whether there should be one
        self._found: dict[str, bool] = Hints()
        #: what is waited for, if it is not only looked at
        self._key = ""
        self._waits = False
        #: how many tokens were made
        self._made = 0
        #: the shortest exchange on this connection, seconds
        self.nearest = math.inf
        self._are_refused = False
        #: gives back what is held
        self._back: tuple[Command, ...] = ()

    @property
    def are_worth_it(self) -> bool:
        """Whether to take turns: not where others would have to wait for a long way."""
        return self.nearest < self._policy.near and not self._are_refused

    def begin_anew(self) -> None:
        """Begin with another connection; a token that was held is lost."""
        self.nearest, self._are_refused, self._back = math.inf, False, ()

    def wait(self, key: str | None) -> tuple[Command, ...]:
        """The commands that wait for a turn, if that is wanted and to be had; the first reads behind the guards."""
        if key is None or self._back or not self.are_worth_it:
            return ()
        self._key, self._waits = key, self._found.get(key, False)
        # who waits in vain, or longer than its connection bears, only looks the next time: tokens may get lost
        self._found[key] = False
        name = ("HGET", _latest(key), "name")
        if not self._waits:
            return ("LPOP", key), name
        return ("BLPOP", key, f"{_PATIENCE * (1 + self._policy.chance() / 2):.3f}"), name

    def came(self, replies: Sequence[Any], maker: str) -> None:
        """
        Note what ``wait`` was answered.

        Args:
            maker: begins the name of a token that is made now; nobody else's.
        """
        key, (token, latest) = self._key, replies
        if _is_error(token, "UNBLOCKED"):
            token = None  # by somebody's command
        self._are_refused = _is_error(token) or _is_error(latest)
        if self._are_refused:
            return
        self._found[key] = token is not None or not self._waits
        if token is None or latest is None:
            self._back = self._make(key, maker)
        elif latest == (token[1] if type(token) is list else token):
            self._back = _give(key, latest)

    def _make(self, key: str, maker: str) -> tuple[Command, ...]:
        self._made += 1
        name, place = f"{maker}-{self._made}", _latest(key)
        return (
            ("HSET", place, "name", name),
            ("EXPIRE", place, _NAME_LIFE),
            *_give(key, name),
        )

    def end(self) -> tuple[Command, ...]:
        """The commands that give back what is held."""
        back, self._back = self._back, ()
        return back


def _latest(key: str) -> str:
    """Where the name of the latest token is; not behind the queue's name, for a queue may be called anything."""
    return key.replace(":turn:", ":latest-turn:", 1)


def _is_error(reply: Any, code: str | None = None) -> bool:
    return isinstance(reply, ServerError) and code in (None, reply.code)


def _give(key: str, name: str) -> tuple[Command, ...]:
    return ("RPUSH", key, name), ("EXPIRE", key, _TOKEN_LIFE)
