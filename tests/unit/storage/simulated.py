# SPDX-License-Identifier: MIT
"""A server that is simulated, one connection to it, and the driver on it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from typing import Any

from pyqless.core.commands import call
from pyqless.core.effects import Command, Factory
from pyqless.core.keyspace import READS, Keyspace
from pyqless.errors import QlessError, StoreUnavailable
from pyqless.storage.described import Described
from pyqless.storage.redis.driver import carry_out
from pyqless.storage.redis.lane import Lane
from pyqless.storage.redis.policy import Policy
from pyqless.storage.redis.protocol import ServerError
from pyqless.storage.redis.steps import Close, Connect, Exchange, LinkLost, Pause, Step, Steps

Packet = tuple[Command, ...]
#: sees a packet and the replies to it, and returns the replies that arrive; or raises LinkLost
Meddler = Callable[[Packet, list[Any]], list[Any]]


def faithful(_: Packet, replies: list[Any]) -> list[Any]:
    return replies


class Server:
    """One connection to a server; others write to its keyspace directly."""

    def __init__(self) -> None:
        self.keyspace = Keyspace()
        self.packets: list[Packet] = []
        #: what was published
        self.messages: list[Command] = []
        self.meddle: Meddler = faithful
        #: acts before each command that is carried out, or queued
        self.before: Callable[[Command], object] = lambda _: None
        #: what the user has no right to
        self.forbidden: set[str] = set()
        self.is_reachable = True
        #: the number of the connection
        self.connection = 0
        self._forget()

    def _forget(self) -> None:
        self._watched: dict[str, int] = {}
        self._queue: list[Command] | None = None

    def perform(self, step: Step) -> Any:
        """Do what the driver asks for."""
        match step:
            case Connect():
                if not self.is_reachable:
                    raise StoreUnavailable("nobody is there")
                self.connection += 1
                self._forget()
            case Close():
                self._forget()
            case Exchange(commands):
                self.packets.append(commands)
                return self.meddle(commands, [self._reply(command) for command in commands])
            case Pause():
                pass
        return None

    def _reply(self, command: Command) -> Any:
        self.before(command)
        name, *keys = command
        if name in self.forbidden:
            return ServerError(f"NOPERM this user has no permissions to run the '{name}' command")
        if name in ("EXEC", "DISCARD"):
            return self._exec() if name == "EXEC" else self._discard()
        if self._queue is not None:
            self._queue.append(command)
            return "QUEUED"
        match name:
            case "WATCH":
                for key in keys:
                    self._watched.setdefault(key, self.keyspace.versions.get(key, 0))
            case "UNWATCH":
                self._watched = {}
            case "MULTI":
                self._queue = []
            case _:
                return self._carry_out(command)
        return "OK"

    def _discard(self) -> Any:
        if self._queue is None:
            return ServerError("ERR DISCARD without MULTI")
        self._forget()
        return "OK"

    def _exec(self) -> Any:
        versions, queued = self.keyspace.versions, self._queue
        if queued is None:
            return ServerError("ERR EXEC without MULTI")
        void = any(versions.get(key, 0) != version for key, version in self._watched.items())
        self._forget()
        return None if void else [self._carry_out(command) for command in queued]

    def _carry_out(self, command: Command) -> Any:
        if command[0] == "PUBLISH":
            self.messages.append(command[1:])
        if command[0] in ("PUBLISH", "EXPIRE"):
            return 1
        try:
            if command[0] in ("BLPOP", "LPOP"):
                return self._take(*command[:2])
            if command[0] in READS:
                return on_the_wire(self.keyspace.read(command))
            return self._write(tuple(map(str, command)))
        except TypeError:
            return ServerError("WRONGTYPE of a key")

    def _write(self, command: Command) -> int:
        """Write; of HSET it is told how many fields are new."""
        if command[0] != "HSET":
            self.keyspace.write(command)
            return 1
        before: int = self.keyspace.read(("HLEN", command[1]))
        self.keyspace.write(command)
        after: int = self.keyspace.read(("HLEN", command[1]))
        return after - before

    def _take(self, name: str, key: str) -> Any:
        """The head of a list; nobody waits here."""
        values = self.keyspace.read(("LRANGE", key, 0, 0))
        self.keyspace.write(("LPOP", key))
        if not values:
            return None
        return [key, *values] if name == "BLPOP" else values[0]


def on_the_wire(reply: Any) -> Any:
    """A reply of the keyspace as protocol 2 has it."""
    if isinstance(reply, set):
        return sorted(reply)
    if isinstance(reply, list) and reply and isinstance(reply[0], tuple):
        return [text for member, score in reply for text in (member, repr(score))]
    return repr(reply) if isinstance(reply, float) else reply


class Bench:
    """
    A storage, a lane and a connection.

    Args:
        others: on the same server.
    """

    def __init__(self, policy: Policy | None = None, *, others: Bench | None = None) -> None:
        self.time = 0.0
        self.policy = policy or Policy(attempts=5, monotonic=lambda: self.time, chance=lambda: 0.0)
        self.server = Server()
        if others is not None:
            self.server.keyspace = others.server.keyspace
        self.storage = Described("simulated://", "ql", lambda: 7.0)
        self.lane = Lane(self.storage.keys, self.policy, self.storage.metrics)

    def run(self, transition: Factory[Any], now: float | None = None) -> Any:
        steps: Steps[Any] = carry_out(self.storage, self.policy, self.lane, transition, now)
        try:
            step = next(steps)
            while True:
                try:
                    answer = self.server.perform(step)
                except (LinkLost, StoreUnavailable) as event:
                    step = steps.throw(event)
                else:
                    step = steps.send(answer)
        except StopIteration as end:
            return end.value

    def call(self, words: str) -> Any:
        """
        Run a call that is written as in a shell, with its moment.

        Returns:
            what a wire client gets, of jobs their jids; or the error that it is told.
        """
        wanted = call(shlex.split(words))
        try:
            reply = wanted.render(self.run(wanted.transition, wanted.now))
        except QlessError as error:
            return error
        if not words.startswith(("pop", "peek")):
            return reply
        return [job["jid"] for job in json.loads(str(reply))]

    def sent(self) -> list[list[str]]:
        """The names of the commands of each packet."""
        return [[command[0] for command in packet] for packet in self.server.packets]

    def others_set(self, key: str, field: str, text: str) -> None:
        self.server.keyspace.write(("HSET", key, field, text))


def once(name: str, act: Callable[[list[Any]], list[Any]]) -> Meddler:
    """Meddle with the first packet that has a command of this name."""
    done = False

    def meddle(packet: Packet, replies: list[Any]) -> list[Any]:
        nonlocal done
        if done or name not in [command[0] for command in packet]:
            return replies
        done = True
        return act(replies)

    return meddle


def lose(_: list[Any]) -> list[Any]:
    raise LinkLost("lost", sent=True)


def last(reply: Any) -> Callable[[list[Any]], list[Any]]:
    return lambda replies: [*replies[:-1], reply]
