# SPDX-License-Identifier: MIT
"""The threads in which an asyncio storage waits for SQLite."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from pyqless.storage.described import closed

__all__ = ["Threads"]

T = TypeVar("T")


class Threads:
    """
    Threads of a storage's own, so that others' work neither holds it up nor is held up by it.

    Args:
        count: how many there are at most.
    """

    def __init__(self, count: int) -> None:
        self._executor = ThreadPoolExecutor(count, thread_name_prefix="pyqless-sqlite")
        self._is_closed = False

    async def run(self, work: Callable[..., T], *arguments: Any) -> T:
        """
        Do something in a thread; if the task is cancelled, it is done all the same.

        Raises:
            ClientClosed: the threads are closed.
        """
        if self._is_closed:
            raise closed()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, work, *arguments)

    async def close(self) -> None:
        """Wait for what is running, and take nothing more."""
        self._is_closed = True
        await asyncio.to_thread(self._executor.shutdown)
