# SPDX-License-Identifier: MIT
"""``fakeredis://``: Redis in this process, for tests; ``fakeredis://NAME`` is shared by all who open that name."""

from __future__ import annotations

import threading
import time
from typing import Any
from urllib.parse import urlsplit

from pyqless.errors import StoreUnsupported
from pyqless.storage.described import Clock
from pyqless.storage.redis import AsyncRedisStorage, RedisStorage
from pyqless.storage.redis.policy import Policy

__all__ = ["open_async_fakeredis", "open_fakeredis"]

_servers: dict[str, Any] = {}
_servers_lock = threading.Lock()


def open_fakeredis(
    url: str,
    *,
    namespace: str = "ql",
    clock: Clock = time.time,
    policy: Policy | None = None,
) -> RedisStorage:
    """
    Open a storage on fakeredis; see ``RedisStorage``.

    Raises:
        StoreUnsupported: fakeredis is not installed.
    """
    module = _fakeredis()
    client = module.FakeRedis(server=_server(module, url))
    storage = RedisStorage(connection=client, namespace=namespace, clock=clock, policy=policy)
    storage.url = url
    return storage


def open_async_fakeredis(
    url: str,
    *,
    namespace: str = "ql",
    clock: Clock = time.time,
    policy: Policy | None = None,
) -> AsyncRedisStorage:
    """As ``open_fakeredis``, for asyncio."""
    module = _fakeredis()
    client = module.FakeAsyncRedis(server=_server(module, url))
    storage = AsyncRedisStorage(connection=client, namespace=namespace, clock=clock, policy=policy)
    storage.url = url
    return storage


def _fakeredis() -> Any:
    try:
        import fakeredis
    except ImportError as error:
        raise StoreUnsupported(
            "fakeredis:// needs fakeredis: pip install 'pyqless[fakeredis]'"
        ) from error
    return fakeredis


def _server(module: Any, url: str) -> Any:
    name = urlsplit(url).netloc
    if not name:
        return module.FakeServer()
    with _servers_lock:
        if name not in _servers:
            _servers[name] = module.FakeServer()
        return _servers[name]
