# SPDX-License-Identifier: MIT
"""What the server knows of one connection: what it watches, and what it has queued."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pyqless.core.effects import Command
from pyqless.core.keyspace import READS
from pyqless.storage.redis.protocol import ServerError
from pyqless.testing.simulator.server import LOOKING, WRITING, Server

__all__ = ["Session"]


class Session:
    """What the server knows of one connection."""

    def __init__(self, server: Server) -> None:
        self._server = server
        #: with which start of the server it ends, if it is not closed before
        self._start: int | None = server.starts
        #: the keys that are watched, and how often each had been touched
        self._watched: dict[str, int] = {}
        #: what is queued since MULTI
        self._queue: list[Command] | None = None
        self._is_spoilt = False
        #: how long the server had written when it wrote for this connection
        self._written = 0
        self._waits = 0.0
        #: from when to when it was blocked last, Unix time in seconds
        self._blocked = (0.0, 0.0)

    @property
    def is_open(self) -> bool:
        """Whether neither side has ended it, and it was not blocked when the server was deposed."""
        since, until = self._blocked
        return self._start == self._server.starts and not (
            since <= self._server.deposed_at <= until
        )

    def close(self) -> None:
        """End the session; what was queued is gone."""
        self._start = None

    def handle(self, command: Command, origin: Any) -> Any:
        """
        Carry out, or queue, one command.

        Args:
            origin: who sent it, for the observer.

        Returns:
            the reply in the form of protocol 2; errors are ``ServerError``.
        """
        self._server.expire()
        if self._server.is_deposed and origin is not None:
            origin.is_astray = True
        command = tuple(map(str, command))
        name = command[0]
        refusal = self._server.refuses(name) if name in _KNOWN else "ERR unknown command"
        if refusal is not None:
            self._is_spoilt |= self._queue is not None
            return ServerError(refusal)
        if name in _CONTROLS:
            return _CONTROLS[name](self, command, origin)
        if self._queue is not None:
            self._queue.append(command)
            return "QUEUED"
        if name in WRITING and not _is_own(command):
            self._server.observer.stray(origin, command)
        return self._carry_out([command])[0]

    def take_wait(self) -> float:
        """For how long what was carried out blocks the connection; seconds."""
        waits, self._waits = self._waits, 0.0
        return waits

    def _carry_out(self, commands: list[Command]) -> list[Any]:
        before = self._server.position
        replies = self._server.carry_out(commands)
        if self._server.position > before:
            self._written = self._server.position
        return replies

    def _wait(self, command: Command, _origin: Any) -> Any:
        """Block until the replicas have what was written for this connection; how many will is known by now."""
        replicas, (wanted, milliseconds) = self._server.replicas, map(int, command[1:])
        now = self._server.time()
        self._waits = replicas.wait(self._written, wanted, milliseconds / 1000)
        self._blocked = (now, now + self._waits)
        return replicas.having(self._written, now + self._waits)

    # -- transactions -----------------------------------------------------------------------

    def _watch(self, command: Command, _origin: Any) -> Any:
        if self._queue is not None:
            return ServerError("ERR WATCH inside MULTI is not allowed")
        for key in command[1:]:
            self._watched.setdefault(key, self._server.touches[key])
        return "OK"

    def _unwatch(self, command: Command, _origin: Any) -> Any:
        if self._queue is not None:
            self._queue.append(command)
            return "QUEUED"
        self._watched.clear()
        return "OK"

    def _multi(self, _command: Command, _origin: Any) -> Any:
        if self._queue is not None:
            return ServerError("ERR MULTI calls can not be nested")
        self._queue, self._is_spoilt = [], False
        return "OK"

    def _discard(self, _command: Command, _origin: Any) -> Any:
        if self._queue is None:
            return ServerError("ERR DISCARD without MULTI")
        self._queue = None
        self._watched.clear()
        return "OK"

    def _exec(self, _command: Command, origin: Any) -> Any:
        if self._queue is None:
            return ServerError("ERR EXEC without MULTI")
        queue, self._queue = self._queue, None
        watched, self._watched = self._watched, {}
        if self._is_spoilt:
            return ServerError("EXECABORT Transaction discarded because of previous errors.")
        touches = self._server.touches
        if any(touches[key] != before for key, before in watched.items()):
            return None
        replies = self._carry_out(queue)
        writes = [
            command
            for command, reply in zip(queue, replies, strict=True)
            if command[0] in WRITING and not isinstance(reply, ServerError)
        ]
        if writes:
            self._server.observer.committed(origin, writes)
        return replies


_CONTROLS: Final[dict[str, Callable[[Session, Command, Any], Any]]] = {
    "WATCH": Session._watch,  # noqa: SLF001 - the table belongs to the class
    "UNWATCH": Session._unwatch,  # noqa: SLF001
    "MULTI": Session._multi,  # noqa: SLF001
    "DISCARD": Session._discard,  # noqa: SLF001
    "EXEC": Session._exec,  # noqa: SLF001
    "WAIT": Session._wait,  # noqa: SLF001
}
_KNOWN: Final = _CONTROLS.keys() | READS.keys() | WRITING | LOOKING | {"BLPOP"}


def _is_own(command: Command) -> bool:
    """Whether a command is on a key that only pyqless knows."""
    return ":py:" in command[1]
