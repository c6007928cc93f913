# SPDX-License-Identifier: MIT
"""
Bytes to and from a server, on connections borrowed from redis-py.

redis-py opens connections (URLs, TLS, passwords, pools, sentinels). From then on the socket is ours,
for redis-py would repeat an EXEC whose reply was lost, and reconnect in the middle of a transaction.

What is taken for granted of redis-py's inside, here and in ``borrowing``: ``Connection._sock``; ``_reader`` and
``_writer`` of the one for asyncio; where pools keep what is idle; and that a connection handed out owes no reply.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Any, Protocol

from pyqless.core.effects import Command
from pyqless.storage.redis.protocol import pack
from pyqless.storage.redis.replies import Replies
from pyqless.storage.redis.steps import LinkLost

__all__ = ["AsyncWire", "SocketWire", "StreamWire", "Wire"]

_CHUNK = 65536


class Wire(Protocol):
    """A connection to a server."""

    def exchange(self, commands: tuple[Command, ...]) -> list[Any]:
        """
        Send commands in one packet and read the reply to each.

        Raises:
            LinkLost: the connection broke, was too slow, or made no sense.
        """

    def close(self) -> None:
        """Close the connection; what was not read is lost."""


class AsyncWire(Protocol):
    """As ``Wire``, for asyncio."""

    async def exchange(self, commands: tuple[Command, ...]) -> list[Any]:
        """As ``Wire.exchange``."""

    async def close(self) -> None:
        """As ``Wire.close``."""


class SocketWire:
    """
    A connection whose socket we read and write.

    Args:
        pool: it was borrowed from.
    """

    def __init__(self, pool: Any, connection: Any) -> None:
        self._pool = pool
        self._connection = connection
        self._socket: socket.socket = connection._sock
        self._replies = Replies()

    def exchange(self, commands: tuple[Command, ...]) -> list[Any]:
        """As ``Wire.exchange``."""
        packet = pack(commands)
        try:
            self._socket.sendall(packet)
        except OSError as error:
            # a timeout may come from somebody's signal handler, behind the last byte
            raise LinkLost(error, sent=not isinstance(error, ConnectionError)) from error
        self._replies.expect(len(commands))
        while True:
            try:
                data = self._socket.recv(_CHUNK)
            except OSError as error:
                raise LinkLost(error, sent=True) from error
            replies = self._replies.take(data)
            if replies is not None:
                return replies

    def close(self) -> None:
        """As ``Wire.close``."""
        self._connection.disconnect()
        self._pool.release(self._connection)


class StreamWire:
    """As ``SocketWire``, of asyncio streams."""

    def __init__(self, pool: Any, connection: Any) -> None:
        self._pool = pool
        self._connection = connection
        self._reader: asyncio.StreamReader = connection._reader
        self._writer: asyncio.StreamWriter = connection._writer
        self._timeout: float | None = connection.socket_timeout
        self._replies = Replies()

    async def exchange(self, commands: tuple[Command, ...]) -> list[Any]:
        """As ``AsyncWire.exchange``."""
        packet = pack(commands)
        try:
            async with asyncio.timeout(self._timeout):
                self._writer.write(packet)
                self._replies.expect(len(commands))
                while True:
                    replies = self._replies.take(await self._reader.read(_CHUNK))
                    if replies is not None:
                        return replies
        except OSError as error:
            # what the transport has buffered may still be sent
            raise LinkLost(error, sent=True) from error

    async def close(self) -> None:
        """As ``AsyncWire.close``."""
        # what has not been sent yet shall not be any more
        self._writer.transport.abort()
        await self._connection.disconnect(nowait=True)
        await self._pool.release(self._connection)
