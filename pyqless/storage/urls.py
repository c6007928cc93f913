# SPDX-License-Identifier: MIT
"""Which storage a URL means."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeVar

from pyqless.errors import InvalidArgument
from pyqless.storage.base import AsyncStorage, Storage
from pyqless.storage.described import Clock
from pyqless.storage.fakeredis import open_async_fakeredis, open_fakeredis
from pyqless.storage.memory import AsyncMemoryStorage, MemoryStorage
from pyqless.storage.queries import without_options
from pyqless.storage.redis import AsyncRedisStorage, RedisStorage
from pyqless.storage.spelling import SCHEMES, naming_options, spelled
from pyqless.storage.sqlite import open_async_sqlite, open_sqlite

__all__ = ["SCHEMES", "open_async_storage", "open_storage"]

S = TypeVar("S")

_OPENERS: Final[Mapping[str, Callable[..., Storage]]] = {
    "memory": MemoryStorage,
    "fakeredis": open_fakeredis,
    "sqlite": open_sqlite,
}

_ASYNC_OPENERS: Final[Mapping[str, Callable[..., AsyncStorage]]] = {
    "memory": AsyncMemoryStorage,
    "fakeredis": open_async_fakeredis,
    "sqlite": open_async_sqlite,
}


def open_storage(
    url: str | None = None,
    *,
    connection: Any = None,
    namespace: str = "ql",
    clock: Clock | Literal["store"] = time.time,
    **options: Any,
) -> Storage:
    """
    Open the storage that a URL means.

    Args:
        url: ``memory://``, ``redis://``, ``rediss://``, ``unix://``, ``fakeredis://``, or ``sqlite:///`` and the
            path of a file.
        connection: instead of a URL, a redis-py client, a pool, or a sentinel's master.
        namespace: what stands before the first colon of every key.
        clock: gives the moment of calls that bring none, Unix time in seconds; ``store`` for that of the store,
            which is this machine's own where there is no server. What a URL of Redis says of this, ``durability`` and
            ``headroom`` counts for more.
        options: of the storage; see ``RedisStorage``.

    Raises:
        InvalidArgument: the URL means no storage, or an option is unknown or makes no sense.
    """
    common: dict[str, Any] = {"namespace": namespace, "clock": clock}
    if connection is not None:
        return RedisStorage(connection=connection, **common, **_beside_connection(options))
    return _opened(url, _OPENERS, RedisStorage, {**common, **options})


def open_async_storage(
    url: str | None = None,
    *,
    connection: Any = None,
    namespace: str = "ql",
    clock: Clock | Literal["store"] = time.time,
    **options: Any,
) -> AsyncStorage:
    """As ``open_storage``, for asyncio; ``connection`` is of redis.asyncio."""
    common: dict[str, Any] = {"namespace": namespace, "clock": clock}
    if connection is not None:
        return AsyncRedisStorage(connection=connection, **common, **_beside_connection(options))
    return _opened(url, _ASYNC_OPENERS, AsyncRedisStorage, {**common, **options})


def _opened(
    url: str | None,
    openers: Mapping[str, Callable[..., S]],
    usual: Callable[..., S],
    options: dict[str, Any],
) -> S:
    scheme, checked = spelled(url)
    if options["clock"] == "store" and scheme in ("memory", "sqlite"):
        options["clock"] = time.time
    opener = openers.get(scheme)
    if opener is None:
        opener = usual
        checked, said = without_options(checked)
        options |= said
    with naming_options(scheme):
        return opener(checked, **options)


def _beside_connection(options: dict[str, Any]) -> dict[str, Any]:
    """What may be said beside a connection, which has its own options."""
    for name in options.keys() - {"policy", "durability", "headroom"}:
        raise InvalidArgument(f"{name} goes with a url, not with a connection", argument=name)
    return options
