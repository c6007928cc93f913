# SPDX-License-Identifier: MIT
"""
Waking those who wait for jobs: what is published for them, and how they find out until when to sleep.

The Lua core tells the ``log`` channel of a put and of a job that goes on to its next queue, and is silent about
every other way in which a job becomes ready. pyqless tells of those on a channel of its own for each queue.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeVar

from pyqless.core.effects import Continue, Factory, FollowedBy, Transition
from pyqless.core.transaction import Transaction

__all__ = ["Outlook", "announced", "is_limited", "outlook"]

T = TypeVar("T")

#: the sets of a queue in which a new entry may be the next to be handed out
_READY = ("-work", "-scheduled", "-recur")


def announced(transition: Factory[T]) -> Factory[T]:
    """
    Let a transition wake those who wait for jobs in the queues that it brings some into.

    Which queues these are, what it stages tells; so jobs that were let go are announced, too.
    """

    def begin(tx: Transaction) -> Transition[Any]:
        value = yield from transition(tx)
        for queue in _reached(tx):
            tx.publish(tx.keys.wake(queue), "")
        if isinstance(value, Continue):
            return Continue(announced(value.rest))
        if isinstance(value, FollowedBy):
            return FollowedBy(value.value, announced(value.rest))
        return value

    return begin


def _reached(tx: Transaction) -> list[str]:
    keys = tx.keys
    queues: dict[str, None] = {}
    for name, key, *arguments in tx.writes:
        if name == "ZADD" and (queue := keys.queue_of(key, *_READY)) is not None:
            queues[queue] = None
        elif name == "SREM" and key == keys.paused:
            queues |= dict.fromkeys(arguments)
    return list(queues)


class Outlook(NamedTuple):
    """What somebody who waits for jobs of a queue may expect."""

    #: whether there may be something to do now
    ready: bool
    #: Unix time at which a delay, a recurrence or a lock runs out next, seconds; infinite if none will
    due: float


def outlook(tx: Transaction, queue: str) -> Transition[Outlook]:
    """
    Look whether there may be something to do in a queue, with four reads, or five.

    They go out one by one: a single read takes no transaction, and who waits has time.
    """
    keys = tx.keys
    due = math.inf
    for read in (
        ("ZRANGE", keys.locks(queue), 0, 0, "WITHSCORES"),
        ("ZRANGE", keys.scheduled(queue), 0, 0, "WITHSCORES"),
        ("ZRANGE", keys.recur(queue), 0, 0, "WITHSCORES"),
    ):
        (head,) = yield from tx.snapshot(read)
        due = min([due, *(score for _, score in head)])
    (works,) = yield from tx.snapshot(("ZCARD", keys.work(queue)))
    if not works and due > tx.now:
        return Outlook(ready=False, due=due)
    (paused,) = yield from tx.snapshot(("SISMEMBER", keys.paused, queue))
    return Outlook(ready=not paused, due=math.inf if paused else due)


def is_limited(tx: Transaction, queue: str) -> Transition[bool]:
    """Whether a queue has a limit on running jobs, so that the end of one may make room for another."""
    (text,) = yield from tx.snapshot(("HGET", tx.keys.config, f"{queue}-max-concurrency"))
    return text not in (None, "0")
