# SPDX-License-Identifier: MIT
"""Which storage a URL means."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import urlsplit

from pyqless.errors import InvalidArgument
from pyqless.storage.base import AsyncStorage, Clock, Storage
from pyqless.storage.memory import AsyncMemoryStorage, MemoryStorage

__all__ = ["SCHEMES", "open_async_storage", "open_storage"]

#: what a URL may begin with
SCHEMES = ("memory", "redis", "rediss", "unix", "fakeredis")


def open_storage(
    url: str, *, namespace: str = "ql", clock: Clock = time.time, **options: Any
) -> Storage:
    """
    Open the storage that a URL means.

    Args:
        url: ``memory://``, ``redis://``, ``rediss://``, ``unix://`` or ``fakeredis://``.
        namespace: what stands before the first colon of every key.
        clock: gives the moment of calls that bring none.
        options: of the storage; see ``RedisStorage``.

    Raises:
        InvalidArgument: the URL means no storage.
    """
    scheme = _scheme(url)
    if scheme == "memory":
        return MemoryStorage(url, namespace=namespace, clock=clock, **options)
    raise NotImplementedError


def open_async_storage(
    url: str, *, namespace: str = "ql", clock: Clock = time.time, **options: Any
) -> AsyncStorage:
    """As ``open_storage``, for asyncio."""
    scheme = _scheme(url)
    if scheme == "memory":
        return AsyncMemoryStorage(url, namespace=namespace, clock=clock, **options)
    raise NotImplementedError


def _scheme(url: str) -> str:
    scheme = urlsplit(url).scheme
    if scheme not in SCHEMES:
        known = ", ".join(f"{name}://" for name in SCHEMES)
        raise InvalidArgument(f"url must begin with one of {known}", argument="url")
    return scheme
