# SPDX-License-Identifier: MIT
"""A Redis in memory that carries out one command after the other, as far as the driver can tell it from one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, Protocol

from pyqless.core.effects import Command
from pyqless.core.keyspace import READS, WRITES, Keyspace, NotAnInteger, WrongType
from pyqless.storage.redis.protocol import ServerError
from pyqless.testing.simulator.replicas import Replicas

__all__ = ["LOOKING", "WRITING", "Observer", "Server"]

#: what comes back of the writes whose reply somebody may look at
_REPLIES: Final[dict[str, Callable[[Keyspace, Command], Any]]] = {
    "HINCRBY": lambda keyspace, write: int(keyspace.read(("HGET", write[1], write[2]))),
    "LPUSH": lambda keyspace, write: keyspace.read(("LLEN", write[1])),
    "RPUSH": lambda keyspace, write: keyspace.read(("LLEN", write[1])),
}
#: what changes something
WRITING: Final = WRITES.keys() | {"PUBLISH", "EXPIRE", "SET"}
#: what looks at no key
LOOKING: Final = frozenset(("PING", "TIME", "UNWATCH"))
_WRONG_TYPE: Final = "WRONGTYPE Operation against a key holding the wrong kind of value"


class Observer(Protocol):
    """Who is told what the server carries out."""

    def committed(self, origin: Any, writes: list[Command]) -> None:
        """An EXEC has carried out writes."""

    def stray(self, origin: Any, write: Command) -> None:
        """A write has been carried out outside a transaction."""

    def vanished(self, key: str) -> None:
        """A key has gone, and nobody has deleted it."""


class _Entry(NamedTuple):
    """What was written at one instant."""

    moment: float
    writes: list[Command]


class Server:
    """
    One store.

    Args:
        time: what time it is, Unix time in seconds.
        observer: is told of every write.
        refuses: says why a command is refused, such as ``OOM ...``, or None.
        replicas: its copies; none unless given.
    """

    def __init__(
        self,
        time: Callable[[], float],
        observer: Observer,
        refuses: Callable[[str], str | None] = lambda _: None,
        replicas: Replicas | None = None,
    ) -> None:
        self.keyspace = Keyspace()
        self.observer = observer
        self.refuses = refuses
        self.time = time
        self.replicas = replicas or Replicas(0, time, lambda: 0.0)
        self._journal: list[_Entry] = []
        #: how often it has been started
        self.starts = 1
        #: when another took its place, of which it knows nothing; Unix time in seconds
        self.deposed_at = -math.inf
        self._deadlines: dict[str, float] = {}
        #: how often each key was touched: what comes and goes again has been, other than its version
        self.touches: Counter[str] = Counter()

    @property
    def position(self) -> int:
        """How often something has been written."""
        return len(self._journal)

    def restart(self, lost: float) -> float:
        """
        End all sessions, and forget the last writes.

        Args:
            lost: of how many seconds.

        Returns:
            float: what has been written up to this moment is still there.
        """
        kept = self.time() - lost
        length = sum(entry.moment <= kept for entry in self._journal)
        self.replicas.cut(length)
        self._begin_anew(length)
        return kept

    def fail_over(self) -> float:
        """
        End all sessions, and let a copy take the store's place.

        Returns:
            float: what has been written up to this moment is still there.
        """
        self._begin_anew(self.replicas.fail_over())
        return self._journal[-1].moment if self._journal else 0.0

    def depose(self, observer: Observer) -> tuple[Server, float]:
        """
        Let a copy take the store's place, while the store goes on for those who have not noticed.

        Args:
            observer: is told from now on what the store does, which will be gone with it.

        Returns:
            the copy, and up to which moment it has what has been written.
        """
        heir = Server(self.time, self.observer, self.refuses, self.replicas)
        heir._journal = self._journal.copy()
        self.replicas = self.replicas.left_behind()
        self.observer, self.deposed_at = observer, self.time()
        return heir, heir.fail_over()

    @property
    def is_deposed(self) -> bool:
        """Whether another has taken its place."""
        return self.deposed_at > -math.inf

    def stop(self) -> None:
        """End all sessions."""
        self.starts += 1

    def _begin_anew(self, length: int) -> None:
        """Hold what the first writes make."""
        self.stop()
        del self._journal[length:]
        self.keyspace.flush()
        for entry in self._journal:
            for write in entry.writes:
                self._write(write)

    def carry_out(self, commands: Iterable[Command]) -> list[Any]:
        """Carry out commands at one instant; a command that fails does not stop the others."""
        written: list[Command] = []
        replies = [self._reply(command, written) for command in commands]
        if written:
            self._journal.append(_Entry(self.time(), written))
            self.replicas.follow()
        return replies

    def expire(self) -> None:
        """Let go what is due."""
        for key in [key for key, moment in self._deadlines.items() if moment <= self.time()]:
            self.lose(key)

    def lose(self, key: str, name: str | None = None) -> None:
        """
        Evict a key, or let somebody rename it.

        Args:
            name: what it is called from then on.
        """
        taken = [("RENAME", key, name) if name else ("DEL", key)]
        self.carry_out(taken)
        self.observer.vanished(key)

    def _reply(self, command: Command, written: list[Command]) -> Any:
        try:
            if command[0] in ("BLPOP", "LPOP"):
                return self._take(command[0], command[1], written)
            if command[0] in READS:
                return _raw(command, self.keyspace.read(command))
            if command[0] in LOOKING:
                return self._look(command)
            reply = self._write(command)
        except WrongType:
            return ServerError(_WRONG_TYPE)
        except (NotAnInteger, ValueError) as error:
            return ServerError(f"ERR {error}")
        written.append(command)
        return reply

    def _take(self, name: str, key: str, written: list[Command]) -> Any:
        """Take the head of a list; who finds none waits in vain, for here all that happens takes no time."""
        values = self.keyspace.read(("LRANGE", key, 0, 0))
        if not values:
            return None
        written.append(("LPOP", key))
        self._write(("LPOP", key))
        return [key, *values] if name == "BLPOP" else values[0]

    def _look(self, command: Command) -> Any:
        if command[0] == "TIME":
            moment = self.time()
            return [str(int(moment)), str(int(moment % 1 * 1e6))]
        return "PONG" if command[0] == "PING" else "OK"

    def _write(self, write: Command) -> Any:
        name = write[0]
        key = write[1]
        if name == "PUBLISH":
            return 0
        if name == "EXPIRE":
            if key not in self.keyspace.data:
                return 0
            self._deadlines[key] = self.time() + float(write[2])
            self.touches[key] += 1
            return 1
        if name == "SET":
            self.keyspace.replace(key, write[2])
            self.touches[key] += 1
            return "OK"
        if name == "RENAME":
            self.keyspace.replace(write[2], self.keyspace.data[key])
            write = ("DEL", key)
        if name == "HSET":
            return self._set_fields(write)
        self._change(write)
        return _REPLIES[name](self.keyspace, write) if name in _REPLIES else 1

    def _set_fields(self, write: Command) -> int:
        """Write fields of a hash; tells how many of them are new."""
        length = ("HLEN", write[1])
        before: int = self.keyspace.read(length)
        self._change(write)
        return int(self.keyspace.read(length)) - before

    def _change(self, write: Command) -> None:
        key, versions = write[1], self.keyspace.versions
        before = versions.get(key)
        self.keyspace.write(write)
        self.touches[key] += versions.get(key) != before
        if key not in versions:
            self._deadlines.pop(key, None)


def _raw(read: Command, reply: Any) -> Any:
    """A reply of the keyspace as protocol 2 has it; sets in one order, so that runs can be repeated."""
    if isinstance(reply, dict):
        return [text for pair in reply.items() for text in pair]
    if isinstance(reply, set):
        return sorted(reply)
    if isinstance(reply, float):
        return repr(reply)
    if "WITHSCORES" in read:
        return [text for member, score in reply for text in (member, repr(score))]
    return reply
