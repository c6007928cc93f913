# SPDX-License-Identifier: MIT
"""
Bytes to and from a server, on connections borrowed from redis-py: the only module that looks inside it.

redis-py opens connections (URLs, TLS, passwords, pools, sentinels). From then on the socket is ours,
for redis-py would repeat an EXEC whose reply was lost, and reconnect in the middle of a transaction.
Where a connection has no socket, as fakeredis's, its own way of reading replies is used.

What is taken for granted of redis-py's inside: ``Connection._sock``; ``_reader`` and ``_writer`` of the one for
asyncio; where pools keep what is idle (``_idle``); and that a connection handed out owes no reply.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Any, Protocol

import redis
import redis.asyncio
from redis.exceptions import (
    AuthenticationError,
    ExecAbortError,
    NoPermissionError,
    RedisError,
    ResponseError,
)
from redis.exceptions import TimeoutError as RedisTimeout

from pyqless.core.effects import Command
from pyqless.errors import StorageError, StoreRefused, StoreUnavailable, StoreUnsupported
from pyqless.storage.redis.protocol import ServerError, pack
from pyqless.storage.redis.replies import Replies
from pyqless.storage.redis.steps import LinkLost

__all__ = ["AsyncWire", "Wire", "borrow", "borrow_async"]

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


def borrow(pool: Any) -> Wire:
    """
    Borrow a connection from a redis-py pool.

    Raises:
        StoreUnavailable: there is none to be had.
        StoreRefused: the server does not let us in.
        StoreUnsupported: it is of a kind that cannot be trusted with transactions.
    """
    try:
        connection = pool.get_connection()
    except (RedisError, OSError) as error:
        raise _no_connection(error, pool) from error
    except BaseException:
        for half_open in _idle(pool):
            half_open.disconnect()
        raise
    if isinstance(getattr(connection, "_sock", None), socket.socket):
        return _SocketWire(pool, connection)
    if _is_fake(connection):
        return _ConnectionWire(pool, connection)
    pool.release(connection)
    raise _untrusted(connection)


async def borrow_async(pool: Any) -> AsyncWire:
    """As ``borrow``, from a pool of redis.asyncio."""
    try:
        connection = await pool.get_connection()
    except (RedisError, OSError) as error:
        raise _no_connection(error, pool) from error
    except BaseException:
        for half_open in _idle(pool):
            await half_open.disconnect(nowait=True)
        raise
    if isinstance(getattr(connection, "_reader", None), asyncio.StreamReader):
        return _StreamWire(pool, connection)
    if _is_fake(connection):
        return _AsyncConnectionWire(pool, connection)
    await pool.release(connection)
    raise _untrusted(connection)


def _idle(pool: Any) -> list[Any]:
    """
    The connections that nobody has borrowed.

    Interrupted in the middle of the handshake, redis-py keeps a connection among them as if it were ready:
    with replies to come, and perhaps in the wrong database.
    """
    kept = pool.pool.queue if hasattr(pool, "pool") else pool._available_connections
    return [connection for connection in kept if connection is not None]


def _is_fake(connection: Any) -> bool:
    return type(connection).__module__.startswith("fakeredis")


def _no_connection(error: Exception, pool: Any) -> StorageError:
    if isinstance(error, AuthenticationError | NoPermissionError):
        return StoreRefused(f"the store does not let us in: {error}")
    if "DB index" in str(error):
        number = pool.connection_kwargs.get("db")
        return StoreRefused(
            f"the store has no database {number}: {error}", argument="url", value=number
        )
    # a server that speaks no TLS waits for the end of what it takes for a command
    hint = "; does it speak TLS on that port?" if _waits_for_tls(error, pool) else ""
    return StoreUnavailable(f"the store cannot be reached: {error}{hint}")


def _waits_for_tls(error: Exception, pool: Any) -> bool:
    kinds = (redis.SSLConnection, redis.asyncio.SSLConnection)
    return isinstance(error, RedisTimeout) and issubclass(pool.connection_class, kinds)


def _untrusted(connection: Any) -> StorageError:
    return StoreUnsupported(
        f"a {type(connection).__name__} may reconnect in the middle of a transaction;"
        " a client without client-side caching is needed"
    )


# -- sockets and streams ---------------------------------------------------------------------


class _SocketWire:
    """A connection whose socket we read and write."""

    def __init__(self, pool: Any, connection: Any) -> None:
        self._pool = pool
        self._connection = connection
        self._socket: socket.socket = connection._sock
        self._replies = Replies()

    def exchange(self, commands: tuple[Command, ...]) -> list[Any]:
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
        self._connection.disconnect()
        self._pool.release(self._connection)


class _StreamWire:
    """A connection whose asyncio streams we read and write."""

    def __init__(self, pool: Any, connection: Any) -> None:
        self._pool = pool
        self._connection = connection
        self._reader: asyncio.StreamReader = connection._reader
        self._writer: asyncio.StreamWriter = connection._writer
        self._timeout: float | None = connection.socket_timeout
        self._replies = Replies()

    async def exchange(self, commands: tuple[Command, ...]) -> list[Any]:
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
        # what has not been sent yet shall not be any more
        self._writer.transport.abort()
        await self._connection.disconnect(nowait=True)
        await self._pool.release(self._connection)


# -- replies one by one -----------------------------------------------------------------------


def _text(reply: Any) -> Any:
    """A reply as our own reader gives it."""
    if isinstance(reply, bytes):
        return reply.decode("utf-8", "surrogateescape")
    if isinstance(reply, list):
        return [_text(item) for item in reply]
    if isinstance(reply, set):
        return {_text(item) for item in reply}
    if isinstance(reply, dict):
        return {_text(key): _text(value) for key, value in reply.items()}
    return _server_error(reply) if isinstance(reply, ResponseError) else reply


#: error classes that redis-py strips the code from
_CODES = {NoPermissionError: "NOPERM", ExecAbortError: "EXECABORT"}


def _server_error(error: ResponseError) -> ServerError:
    code = _CODES.get(type(error))
    return ServerError(f"{code} {error}" if code else str(error))


class _ConnectionWire:
    """A connection that only redis-py can read."""

    def __init__(self, pool: Any, connection: Any) -> None:
        self._pool = pool
        self._connection = connection

    def exchange(self, commands: tuple[Command, ...]) -> list[Any]:
        try:
            self._connection.send_packed_command([pack(commands)], check_health=False)
        except (RedisError, OSError) as error:
            raise LinkLost(error, sent=False) from error
        return [self._receive() for _ in commands]

    def _receive(self) -> Any:
        try:
            return _text(self._connection.read_response(disable_decoding=True))
        except ResponseError as error:
            return _server_error(error)
        except (RedisError, OSError) as error:
            raise LinkLost(error, sent=True) from error

    def close(self) -> None:
        self._connection.disconnect()
        self._pool.release(self._connection)


class _AsyncConnectionWire:
    """A connection that only redis.asyncio can read."""

    def __init__(self, pool: Any, connection: Any) -> None:
        self._pool = pool
        self._connection = connection

    async def exchange(self, commands: tuple[Command, ...]) -> list[Any]:
        try:
            await self._connection.send_packed_command([pack(commands)], check_health=False)
        except (RedisError, OSError) as error:
            raise LinkLost(error, sent=False) from error
        return [await self._receive() for _ in commands]

    async def _receive(self) -> Any:
        try:
            return _text(await self._connection.read_response(disable_decoding=True))
        except ResponseError as error:
            return _server_error(error)
        except (RedisError, OSError) as error:
            raise LinkLost(error, sent=True) from error

    async def close(self) -> None:
        await self._connection.disconnect(nowait=True)
        await self._pool.release(self._connection)
