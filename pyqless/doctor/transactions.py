# SPDX-License-Identifier: MIT
"""Whether a store keeps what it promises: experiments on keys of the examiner's own, which expire by themselves."""

from __future__ import annotations

import math
from typing import Any, Final

from pyqless.core.effects import Command
from pyqless.doctor.report import Check, Verdict
from pyqless.doctor.session import Session
from pyqless.storage.base import Storage
from pyqless.storage.redis.protocol import ServerError, reply_of

__all__ = ["Laboratory", "messages", "scores", "snapshots", "transactions"]

#: seconds after which what was written is gone, should nobody clean up
LIFE: Final = 60
#: seconds to wait for a message
PATIENCE: Final = 2.0

#: texts that only a double with all its digits tells apart, the smallest first
SCORES: Final = (
    -math.inf,
    -1732912345.6789012,
    -5e-324,
    0.0,
    0.1,
    0.10000000000000002,
    99.8267087654321,
    99.82670876543212,
    1732912345.6789012,
    1732912345.6789014,
    9007199254740991.0,
    math.inf,
)


class Laboratory:
    """
    Two connections, and the names of keys that nobody else uses.

    Args:
        name: the beginning of the keys' names, and the name of a channel.
    """

    def __init__(self, storage: Storage, name: str, one: Session, other: Session) -> None:
        self.storage = storage
        self.channel = name
        self.hash, self.second, self.zset = (f"{name}:{part}" for part in ("a", "b", "c"))
        self.one = one
        self.other = other

    def write(self, session: Session, key: str, value: str, *more: Command) -> Any:
        """Write a key, and whatever more, in the transaction that is open; gives the reply of EXEC."""
        return session.ask(("HSET", key, "field", value), ("EXPIRE", key, LIFE), *more, ("EXEC",))[
            -1
        ]

    def read(self, key: str) -> Any:
        """Read what was written."""
        return self.one.ask_one("HGET", key, "field")

    def clean_up(self) -> None:
        """Remove what was written."""
        self.other.ask_one("DEL", self.hash, self.second, self.zset)


def transactions(laboratory: Laboratory) -> Check:
    """WATCH, MULTI and EXEC: a transaction whose guards have changed does not take place; nor does half a one."""
    for experiment in (_quiet_one_commits, _conflict_aborts, _faulty_one_aborts):
        if problem := experiment(laboratory):
            advice = "use another store: on this one jobs would be lost or done twice"
            return Check("transactions", Verdict.FAILURE, problem, advice)
    return Check("transactions", Verdict.OK, "whole or not at all, and not after a conflict")


def _quiet_one_commits(lab: Laboratory) -> str:
    lab.one.ask(("WATCH", lab.hash), ("MULTI",))
    reply = lab.write(lab.one, lab.hash, "1")
    if not isinstance(reply, list) or lab.read(lab.hash) != "1":
        return f"a transaction without a conflict does not take place: {reply!r}"
    return ""


def _conflict_aborts(lab: Laboratory) -> str:
    lab.one.ask_one("WATCH", lab.hash)
    lab.other.ask_one("MULTI")
    lab.write(lab.other, lab.hash, "2")
    lab.one.ask_one("MULTI")
    reply = lab.write(lab.one, lab.second, "3")
    if reply is not None or lab.read(lab.second) is not None:
        return "EXEC takes place although a watched key has changed"
    return ""


def _faulty_one_aborts(lab: Laboratory) -> str:
    lab.one.ask_one("MULTI")
    # one argument short: refused when it is queued
    reply = lab.write(lab.one, lab.second, "4", ("HSET", lab.second, "field"))
    if not isinstance(reply, ServerError) or lab.read(lab.second) is not None:
        return "half a transaction takes place where the other half is refused"
    return ""


def snapshots(session: Session, key: str) -> Check:
    """MULTI and EXEC around reads: all that an observer needs of transactions."""
    session.ask_one("MULTI")
    reply = session.ask(("HGET", key, "field"), ("EXEC",))[-1]
    if reply == [None]:
        return Check("transactions", Verdict.OK, "several reads see one instant")
    problem = f"reads between MULTI and EXEC give {reply!r}"
    return Check("transactions", Verdict.FAILURE, problem, "use another store")


def messages(laboratory: Laboratory) -> Check:
    """PUBLISH and SUBSCRIBE: what is published in a transaction arrives after EXEC, and never after DISCARD."""
    lab = laboratory
    publish = ("PUBLISH", lab.channel)
    with lab.storage.subscribe(lab.channel) as subscription:
        lab.one.ask_one("MULTI")
        lab.one.ask((*publish, "never"), ("DISCARD",))
        lab.one.ask_one("MULTI")
        lab.one.ask_one(*publish, "second")
        lab.other.ask_one(*publish, "first")
        lab.one.ask_one("EXEC")
        arrived = [subscription.get(PATIENCE), subscription.get(PATIENCE)]
    texts = [message and message.data for message in arrived]
    if texts == ["first", "second"]:
        return Check("messages", Verdict.OK, "delivered, in a transaction after EXEC only")
    problem = f"of the messages first, second there arrive {texts!r}"
    advice = "see whether a proxy stands between; listeners would miss events or see false ones"
    return Check("messages", Verdict.FAILURE, problem, advice)


def scores(laboratory: Laboratory) -> Check:
    """ZADD and ZRANGE: scores come back as the doubles they were, in their order."""
    lab = laboratory
    pairs = [(f"{number:02}", score) for number, score in enumerate(SCORES)]
    entries = [word for member, score in reversed(pairs) for word in (score, member)]
    lab.one.ask_one("MULTI")
    lab.one.ask(("ZADD", lab.zset, *entries), ("EXPIRE", lab.zset, LIFE), ("EXEC",))
    read = ("ZRANGE", lab.zset, 0, -1, "WITHSCORES")
    if (found := reply_of(read, lab.one.ask_one(*read))) == pairs:
        return Check("scores", Verdict.OK, "exact to 17 digits, in order")
    problem = f"scores come back as {found!r}"
    return Check("scores", Verdict.FAILURE, problem, "use another store: priorities would mix")
