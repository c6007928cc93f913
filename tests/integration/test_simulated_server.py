# SPDX-License-Identifier: MIT
"""The simulator's server answers as a real one, on two connections that get into each other's way."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

import pytest

from pyqless.core.effects import Command
from pyqless.storage.redis.borrowing import borrow
from pyqless.storage.redis.pools import open_pool
from pyqless.storage.redis.protocol import ServerError, reply_of
from pyqless.storage.redis.wire import Wire
from pyqless.testing.simulator.server import WRITING, Server
from pyqless.testing.simulator.session import Session

#: what is drawn, each on one of two keys of its type
READS: Final[tuple[Command, ...]] = (
    ("HGETALL", "h"),
    ("HMGET", "h", "a", "b"),
    ("LRANGE", "l", 0, -1),
    ("SMEMBERS", "s"),
    ("SISMEMBER", "s", "a"),
    ("ZRANGE", "z", 0, 1, "WITHSCORES"),
    ("ZREVRANGE", "z", 0, -1),
    ("ZRANGEBYSCORE", "z", 0, "+inf", "WITHSCORES", "LIMIT", 0, 1),
    ("ZSCORE", "z", "a"),
    ("ZCARD", "z"),
    ("EXISTS", "h"),
    ("HGETALL", "l"),
)
WRITES: Final[tuple[Command, ...]] = (
    ("HSET", "h", "a", "1", "b", "text"),
    ("HSET", "h", "a", "1"),
    ("HDEL", "h", "a", "b"),
    ("HINCRBY", "h", "a", 2),
    ("HINCRBY", "h", "b", 2),
    ("RPUSH", "l", "a", "b"),
    ("LPUSH", "l", "c"),
    ("LTRIM", "l", 1, -1),
    ("LPOP", "l"),
    ("LREM", "l", 0, "a"),
    ("SADD", "s", "a", "b"),
    ("SREM", "s", "a", "b"),
    ("ZADD", "z", 1.5, "a"),
    ("ZADD", "z", "NX", 2.0, "a"),
    ("ZADD", "z", "XX", -0.25, "b"),
    ("ZADD", "z", float("inf"), "b"),
    ("ZINCRBY", "z", -1, "c"),
    ("ZREM", "z", "a", "b"),
    ("DEL", "h"),
    ("DEL", "z"),
    ("SADD", "h", "a"),
)
#: each as often as it is likely
CONTROLS: Final[tuple[Command, ...]] = (
    *[("WATCH", key, other) for key in "hlsz" for other in "hz"],
    *[("MULTI",)] * 8,
    *[("EXEC",)] * 6,
    ("DISCARD",),
    ("UNWATCH",),
    ("PING",),
    ("NO-SUCH-COMMAND", "h"),
)


class Nobody:
    """Looks away."""

    def committed(self, origin: Any, writes: list[Command]) -> None:
        pass

    def stray(self, origin: Any, write: Command) -> None:
        pass

    def vanished(self, key: str) -> None:
        pass


class Side:
    """One connection to the real server and one to ours."""

    def __init__(self, real: Wire, ours: Session) -> None:
        self._real = real
        self._ours = ours
        self._queue: list[Command] | None = None

    def send(self, command: Command) -> tuple[Any, Any]:
        """Send a command on both; gives what is to be the same of the replies."""
        if self._queue is not None and command[0] in ("WATCH", "MULTI"):
            # here servers differ
            command = ("EXEC",)
        (real,), ours = self._real.exchange((command,)), self._ours.handle(command, None)
        found = self._told(command, real), self._told(command, ours)
        self._follow(command, ours)
        return found

    def _follow(self, command: Command, reply: Any) -> None:
        if command[0] == "MULTI":
            self._queue = []
        elif command[0] in ("EXEC", "DISCARD"):
            self._queue = None
        elif self._queue is not None and reply == "QUEUED":
            self._queue.append(command)

    def _told(self, command: Command, reply: Any) -> Any:
        if isinstance(reply, ServerError):
            return reply.code
        if command[0] == "EXEC" and isinstance(reply, list):
            return [
                self._told(each, found)
                for each, found in zip(self._queue or (), reply, strict=True)
            ]
        if reply == "QUEUED":
            return reply
        if command[0] in WRITING:
            return "written"
        return reply_of(command, reply)


@pytest.mark.parametrize("seed", range(5))
def test_the_simulated_server_answers_as_a_real_one(one_redis_url: str, seed: int) -> None:
    chance = random.Random(seed)
    draw: list[Callable[[], Command]] = [
        lambda: chance.choice(READS),
        lambda: chance.choice(WRITES),
        lambda: chance.choice(CONTROLS),
    ]
    pool = open_pool(one_redis_url)
    server = Server(lambda: 0.0, Nobody())
    sides = [Side(borrow(pool), Session(server)) for _ in range(2)]
    seen = set()
    for _ in range(3000):
        command = chance.choice(draw)()
        real, ours = chance.choice(sides).send(command)
        assert ours == real, command
        if command == ("EXEC",):
            seen.add(repr(real)[:5])
    assert {"None", "'EXEC"} <= seen
    pool.disconnect()
