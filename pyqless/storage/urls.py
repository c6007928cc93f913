# SPDX-License-Identifier: MIT
"""Which storage a URL means."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import urlsplit

from pyqless.errors import InvalidArgument
from pyqless.storage.base import AsyncStorage, Clock, Storage
from pyqless.storage.fakeredis import open_async_fakeredis, open_fakeredis
from pyqless.storage.memory import AsyncMemoryStorage, MemoryStorage
from pyqless.storage.redis import AsyncRedisStorage, RedisStorage
from pyqless.storage.sqlite import open_async_sqlite, open_sqlite

__all__ = ["SCHEMES", "open_async_storage", "open_storage"]

#: what a URL may begin with
SCHEMES = ("memory", "redis", "rediss", "unix", "fakeredis", "sqlite")


def open_storage(
    url: str | None = None,
    *,
    connection: Any = None,
    namespace: str = "ql",
    clock: Clock = time.time,
    **options: Any,
) -> Storage:
    """
    Open the storage that a URL means.

    Args:
        url: ``memory://``, ``redis://``, ``rediss://``, ``unix://``, ``fakeredis://``, or ``sqlite:///`` and the
            path of a file.
        connection: instead of a URL, a redis-py client, a pool, or a sentinel's master.
        namespace: what stands before the first colon of every key.
        clock: gives the moment of calls that bring none, Unix time in seconds.
        options: of the storage; see ``RedisStorage``.

    Raises:
        InvalidArgument: the URL means no storage.
    """
    common: dict[str, Any] = {"namespace": namespace, "clock": clock, **options}
    if connection is not None:
        return RedisStorage(connection=connection, **common)
    match _scheme(url):
        case "memory":
            return MemoryStorage(str(url), **common)
        case "fakeredis":
            return open_fakeredis(str(url), **common)
        case "sqlite":
            return open_sqlite(str(url), **common)
        case _:
            return RedisStorage(url, **common)


def open_async_storage(
    url: str | None = None,
    *,
    connection: Any = None,
    namespace: str = "ql",
    clock: Clock = time.time,
    **options: Any,
) -> AsyncStorage:
    """As ``open_storage``, for asyncio; ``connection`` is of redis.asyncio."""
    common: dict[str, Any] = {"namespace": namespace, "clock": clock, **options}
    if connection is not None:
        return AsyncRedisStorage(connection=connection, **common)
    match _scheme(url):
        case "memory":
            return AsyncMemoryStorage(str(url), **common)
        case "fakeredis":
            return open_async_fakeredis(str(url), **common)
        case "sqlite":
            return open_async_sqlite(str(url), **common)
        case _:
            return AsyncRedisStorage(url, **common)


def _scheme(url: str | None) -> str:
    try:
        scheme = urlsplit(url).scheme if isinstance(url, str) else ""
    except ValueError as error:
        raise InvalidArgument(f"url makes no sense: {error}", argument="url") from error
    if scheme not in SCHEMES:
        known = ", ".join(f"{name}://" for name in SCHEMES)
        raise InvalidArgument(f"url must begin with one of {known}", argument="url")
    return scheme
