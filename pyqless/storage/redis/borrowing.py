# SPDX-License-Identifier: MIT
"""Connections from redis-py's pools, for us alone, and what it means where there is none to be had."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import redis
import redis.asyncio
from redis.exceptions import AuthenticationError, NoPermissionError, RedisError
from redis.exceptions import TimeoutError as RedisTimeout

from pyqless.errors import (
    InvalidArgument,
    StorageError,
    StoreRefused,
    StoreUnavailable,
    StoreUnsupported,
)
from pyqless.storage.redis.piecemeal import AsyncPiecemealWire, PiecemealWire
from pyqless.storage.redis.wire import AsyncWire, SocketWire, StreamWire, Wire

__all__ = ["borrow", "borrow_async"]


def borrow(pool: Any) -> Wire:
    """
    Borrow a connection from a redis-py pool.

    Raises:
        StoreUnavailable: there is none to be had.
        StoreRefused: the server does not let us in.
        StoreUnsupported: it is of a kind that cannot be trusted with transactions.
        InvalidArgument: redis-py can make nothing of its options.
    """
    try:
        connection = pool.get_connection()
    except (RedisError, OSError) as error:
        raise _no_connection(error, pool) from error
    except BaseException as error:
        for half_open in _idle(pool):
            half_open.disconnect()
        _require_options(error)
        raise
    if isinstance(getattr(connection, "_sock", None), socket.socket):
        return SocketWire(pool, connection)
    if _is_fake(connection):
        return PiecemealWire(pool, connection)
    pool.release(connection)
    raise _untrusted(connection)


async def borrow_async(pool: Any) -> AsyncWire:
    """As ``borrow``, from a pool of redis.asyncio."""
    try:
        connection = await pool.get_connection()
    except (RedisError, OSError) as error:
        raise _no_connection(error, pool) from error
    except BaseException as error:
        for half_open in _idle(pool):
            await half_open.disconnect(nowait=True)
        _require_options(error)
        raise
    if isinstance(getattr(connection, "_reader", None), asyncio.StreamReader):
        return StreamWire(pool, connection)
    if _is_fake(connection):
        return AsyncPiecemealWire(pool, connection)
    await pool.release(connection)
    raise _untrusted(connection)


def _require_options(error: BaseException) -> None:
    """Tell what redis-py cannot work with, which it finds out only when it connects."""
    if isinstance(error, TypeError | AttributeError | LookupError):
        text = f"redis-py can make nothing of the options of its connections: {error}"
        raise InvalidArgument(text, argument="options") from error


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
