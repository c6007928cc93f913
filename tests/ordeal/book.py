# SPDX-License-Identifier: MIT
"""
The book: a list in the store, of which pyqless knows nothing, and into which transactions enter themselves.

So the store tells what took effect, how often, and in which order.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple

import redis

from pyqless.core.effects import Factory, FollowedBy, Transition
from pyqless.core.transaction import Transaction
from pyqless.storage.redis import RedisStorage
from tests.blocking import BlockingStorage

__all__ = ["Entry", "Event", "SigningStorage", "SigningTasks", "read"]

_BOOK: Final = "ordeal:book"

Event = Literal["put", "pop", "heartbeat", "complete", "fail", "retry"]


class Entry(NamedTuple):
    """What a transaction has entered."""

    #: of the call
    number: int
    event: Event
    jid: str
    worker: str


def read(server: redis.Redis) -> list[Entry]:
    """What took effect, in its order."""
    return [Entry(*json.loads(text)) for text in server.lrange(_BOOK, 0, -1)]


class SigningStorage(RedisStorage):
    """Lets transactions enter themselves."""

    #: what the call at work enters; None if it only looks
    signature: Entry | None = None

    def run(self, transition: Factory[Any], now: float | None = None) -> Any:
        signature = self.signature
        signed = transition if signature is None else _signed(transition, signature)
        return super().run(signed, now)


class SigningTasks(SigningStorage, BlockingStorage):
    """The same for asyncio."""


def _signed(transition: Factory[Any], signature: Entry) -> Factory[Any]:
    def begin(tx: Transaction) -> Transition[Any]:
        value = yield from transition(tx)
        for jid in _jids(value, signature):
            tx.rpush(_BOOK, json.dumps(signature._replace(jid=jid)))
        return value

    return begin


def _jids(value: Any, signature: Entry) -> Sequence[str]:
    """Which jobs a transition has changed; put and pop tell only in the end."""
    reply = value.value if isinstance(value, FollowedBy) else value
    if signature.event == "pop":
        return [job.jid for job in reply]
    return [reply if signature.event == "put" else signature.jid]
