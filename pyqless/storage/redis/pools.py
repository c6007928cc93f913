# SPDX-License-Identifier: MIT
"""Connection pools of redis-py: from a URL, or what the caller has already; and URLs without their secrets."""

from __future__ import annotations

import math
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import redis
import redis.asyncio
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from pyqless.errors import InvalidArgument
from pyqless.storage.redaction import redacted

__all__ = ["async_pool_of", "open_async_pool", "open_pool", "pool_of", "redacted"]

#: What the URL says comes first. Timeouts are in seconds; the replies of protocol 2 are read faster than those of 3;
#: a connection that cannot be had is the driver's business, and not to be tried for again and again below it.
_DEFAULTS = {"socket_timeout": 5.0, "socket_connect_timeout": 5.0, "protocol": 2}


_TIMEOUTS = ("socket_timeout", "socket_connect_timeout")


def open_pool(url: str, **options: Any) -> redis.ConnectionPool:
    """
    A pool for a URL.

    Args:
        options: of redis-py's connections; the URL's own query comes first.

    Raises:
        InvalidArgument: the URL or an option makes no sense to redis-py.
    """
    given = {**_DEFAULTS, "retry": redis.retry.Retry(NoBackoff(), 0), **options}
    pool: redis.ConnectionPool = _checked(redis.ConnectionPool, url, given)
    return pool


def open_async_pool(url: str, **options: Any) -> redis.asyncio.ConnectionPool:
    """As ``open_pool``, for asyncio."""
    given = {**_DEFAULTS, "retry": redis.asyncio.retry.Retry(NoBackoff(), 0), **options}
    pool: redis.asyncio.ConnectionPool = _checked(redis.asyncio.ConnectionPool, url, given)
    return pool


def _checked(kind: Any, url: str, options: dict[str, Any]) -> Any:
    if not _is_readable(url):
        text = "url makes no sense; a password in it must be percent-encoded"
        raise InvalidArgument(text, argument="url")
    _require_database(url)
    try:
        pool = kind.from_url(url, **options)
        # an option that there is none of shows only where a connection is made
        pool.connection_class(**pool.connection_kwargs)
    except (ValueError, TypeError, AttributeError, OverflowError, RedisError) as error:
        raise InvalidArgument(f"url or options make no sense: {error}", argument="url") from error
    for name in _TIMEOUTS:
        _require_seconds(name, pool.connection_kwargs.get(name))
    return pool


def _require_seconds(name: str, value: object) -> None:
    """redis-py finds out only where a connection is made."""
    if value is None or (
        isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf
    ):
        return
    text = f"{name} must be a number of seconds above 0, or None for any time, not {value!r}"
    raise InvalidArgument(text, argument=name, value=value)


def _require_database(url: str) -> None:
    """redis-py takes database 0 where it cannot read the number."""
    parts = urlsplit(url)
    name = parts.path.removeprefix("/")
    if parts.scheme in ("redis", "rediss") and name and not name.isdecimal():
        text = f"url must name its database by number, not {name!r}"
        raise InvalidArgument(text, argument="url", value=name)


def _is_readable(url: str) -> bool:
    """Whether all stands in its place: what a password's / or ? has torn apart would be shown in errors."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    names = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
    misplaced = "@" in "".join([parts.fragment, *names])
    return not misplaced and (parts.scheme == "unix" or "@" not in parts.path)


def pool_of(connection: Any) -> Any:
    """
    The pool of a redis-py client, such as a sentinel's master, or the pool itself.

    Raises:
        InvalidArgument: it is neither.
    """
    pool = getattr(connection, "connection_pool", connection)
    if not isinstance(pool, redis.ConnectionPool):
        raise _no_pool(connection, "redis", "AsyncClient", redis.asyncio.ConnectionPool)
    return pool


def async_pool_of(connection: Any) -> Any:
    """As ``pool_of``, for redis.asyncio."""
    pool = getattr(connection, "connection_pool", connection)
    if not isinstance(pool, redis.asyncio.ConnectionPool):
        raise _no_pool(connection, "redis.asyncio", "Client", redis.ConnectionPool)
    return pool


def _no_pool(connection: object, module: str, other: str, others: Any) -> InvalidArgument:
    kind = type(connection)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    is_others = isinstance(getattr(connection, "connection_pool", connection), others)
    advice = f", which is for {other}" if is_others else ""
    return InvalidArgument(
        f"connection must be a client or a pool of {module}, not a {name}{advice}",
        argument="connection",
    )


def describe(pool: Any) -> str:
    """A URL for a pool, without its password."""
    settings = pool.connection_kwargs
    if hasattr(pool, "service_name"):
        return f"sentinel://{pool.service_name}/{settings.get('db') or 0}"
    if "path" in settings:
        return f"unix://{settings['path']}?db={settings.get('db') or 0}"
    host, port = settings.get("host", "localhost"), settings.get("port", 6379)
    return f"redis://{host}:{port}/{settings.get('db') or 0}"
