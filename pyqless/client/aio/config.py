# SPDX-License-Identifier: MIT
"""Settings, for the client for asyncio."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from pyqless.client.requests import settings as requests
from pyqless.client.requests.settings import Setting
from pyqless.client.views.part import Part

if TYPE_CHECKING:
    from pyqless.client.aio.client import AsyncClient

__all__ = ["AsyncConfig"]


class AsyncConfig(Part):
    """As ``Config``, by methods only."""

    client: AsyncClient

    async def get(self, name: str, default: Setting | None = None) -> Setting | None:
        """As ``Config.get``."""
        value = await self.client.storage.run(requests.get(name))
        return default if value is None else value

    async def set(self, name: str, value: Setting | timedelta) -> None:
        """As ``Config.set``."""
        await self.client.storage.run(requests.set_(name, value))

    async def unset(self, name: str) -> None:
        """As ``Config.unset``."""
        await self.client.storage.run(requests.unset(name))

    async def all(self) -> dict[str, Setting]:
        """As ``Config.all``."""
        return await self.client.storage.run(requests.get_all())
