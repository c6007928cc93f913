# SPDX-License-Identifier: MIT
"""What is taken for granted of redis-py's and hiredis's inside, name by name, so that a new version that changes it is named here."""

from __future__ import annotations

import inspect
import queue
from collections.abc import Callable
from typing import Any, Final

import hiredis
import pytest
import redis
import redis.asyncio
from redis import exceptions
from redis.sentinel import SentinelConnectionPool

URL: Final = "redis://localhost"
MAJOR: Final = int(redis.__version__.partition(".")[0])


def test_the_version_is_one_that_is_supported() -> None:
    assert 6 <= MAJOR < 9


@pytest.mark.parametrize("kind", [redis.ConnectionPool, redis.BlockingConnectionPool])
def test_pools(kind: Any) -> None:
    """``borrowing.borrow`` asks them for connections, and ``borrowing._idle`` for those that nobody has."""
    pool = kind.from_url(URL)
    assert takes_no_arguments(pool.get_connection)
    assert list(inspect.signature(pool.release).parameters) == ["connection"]
    if kind is redis.BlockingConnectionPool:
        assert isinstance(pool.pool, queue.Queue)
    else:
        assert pool._available_connections == []
        assert not hasattr(pool, "pool")


@pytest.mark.parametrize(
    "kind", [redis.asyncio.ConnectionPool, redis.asyncio.BlockingConnectionPool]
)
async def test_pools_with_asyncio(kind: Any) -> None:
    pool = kind.from_url(URL)
    assert takes_no_arguments(pool.get_connection)
    assert list(inspect.signature(pool.release).parameters) == ["connection"]
    assert pool._available_connections == []
    assert not hasattr(pool, "pool")


def takes_no_arguments(method: Callable[..., Any]) -> bool:
    inspect.signature(method).bind()
    return True


@pytest.mark.parametrize(
    "kind", [redis.Connection, redis.SSLConnection, redis.UnixDomainSocketConnection]
)
def test_connections(kind: Any) -> None:
    """``wire.SocketWire`` reads and writes their socket."""
    connection = kind()
    assert connection._sock is None
    assert takes_no_arguments(connection.disconnect)


@pytest.mark.parametrize(
    "kind",
    [
        redis.asyncio.Connection,
        redis.asyncio.SSLConnection,
        redis.asyncio.UnixDomainSocketConnection,
    ],
)
def test_connections_with_asyncio(kind: Any) -> None:
    """``wire.StreamWire`` reads and writes their streams."""
    connection = kind(socket_timeout=3.5)
    assert connection._reader is None
    assert connection._writer is None
    assert connection.socket_timeout == 3.5
    inspect.signature(connection.disconnect).bind(nowait=True)


def test_a_pool_tells_what_it_makes() -> None:
    """``pools._checked`` makes a connection, and ``pools.describe`` tells where it leads."""
    pool = redis.ConnectionPool.from_url("redis://somewhere:7/3")
    assert pool.connection_class is redis.Connection
    assert [pool.connection_kwargs.get(name) for name in ("host", "port", "db")] == [
        "somewhere",
        7,
        3,
    ]
    pool = redis.ConnectionPool.from_url("unix:///a/b?db=3")
    assert [pool.connection_kwargs.get(name) for name in ("path", "db")] == ["/a/b", 3]


def test_sentinel() -> None:
    """``pools.describe`` tells its pools by their service."""
    assert "service_name" in inspect.signature(SentinelConnectionPool.__init__).parameters
    assert issubclass(SentinelConnectionPool, redis.ConnectionPool)


def test_errors() -> None:
    """``borrowing._no_connection`` tells a refusal from a loss."""
    assert issubclass(exceptions.AuthenticationError, exceptions.ConnectionError)
    assert issubclass(exceptions.ConnectionError, exceptions.RedisError)
    assert not issubclass(exceptions.NoPermissionError, exceptions.ConnectionError)


def test_hiredis() -> None:
    """``Replies`` reads all replies of a packet as one array."""
    incomplete = object()
    reader = hiredis.Reader(notEnoughData=incomplete)
    assert reader.gets() is incomplete
    reader.feed(b"*2\r\n")
    reader.feed(b">1\r\n+a\r\n+b\r\n+c")
    (pushed, reply) = reader.gets()
    assert (type(pushed), reply) == (hiredis.PushNotification, b"b")
    assert reader.has_data()
