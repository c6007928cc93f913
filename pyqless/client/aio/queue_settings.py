# SPDX-License-Identifier: MIT
"""The settings of a queue, for the client for asyncio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyqless.client.checks import Span
from pyqless.client.requests import settings
from pyqless.client.views import QueueView

if TYPE_CHECKING:
    from pyqless.client.aio.client import AsyncClient

__all__ = ["AsyncQueueSettings"]


class AsyncQueueSettings(QueueView["AsyncClient"]):
    """As ``QueueSettings``, by methods."""

    __slots__ = ()

    client: AsyncClient

    async def _set(self, name: str, value: Span, unset: str) -> None:
        await self.client.storage.run(settings.set_(name, value, unset))

    async def get_heartbeat(self) -> float | None:
        """As ``Queue.heartbeat``."""
        return await self.client.storage.run(settings.get_number(self.heartbeat_setting))

    async def set_heartbeat(self, seconds: Span) -> None:
        """As ``Queue.heartbeat``, assigned to."""
        await self._set(self.heartbeat_setting, seconds, "queue.del_heartbeat()")

    async def del_heartbeat(self) -> None:
        """As ``Queue.heartbeat``, deleted."""
        await self.client.config.unset(self.heartbeat_setting)

    async def get_max_concurrency(self) -> int | None:
        """As ``Queue.max_concurrency``."""
        return await self.client.storage.run(settings.get_whole(self.max_concurrency_setting))

    async def set_max_concurrency(self, jobs: int) -> None:
        """As ``Queue.max_concurrency``, assigned to."""
        await self._set(self.max_concurrency_setting, jobs, "queue.del_max_concurrency()")

    async def del_max_concurrency(self) -> None:
        """As ``Queue.max_concurrency``, deleted."""
        await self.client.config.unset(self.max_concurrency_setting)

    async def get_max_waiting(self) -> int | None:
        """As ``Queue.max_waiting``."""
        return await self.client.storage.run(settings.get_whole(self.max_waiting_setting))

    async def set_max_waiting(self, jobs: int) -> None:
        """As ``Queue.max_waiting``, assigned to."""
        await self._set(self.max_waiting_setting, jobs, "queue.del_max_waiting()")

    async def del_max_waiting(self) -> None:
        """As ``Queue.max_waiting``, deleted."""
        await self.client.config.unset(self.max_waiting_setting)
