# SPDX-License-Identifier: MIT
"""Tags, for the client for asyncio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyqless.client.requests import workers as requests
from pyqless.client.views.part import Part

if TYPE_CHECKING:
    from pyqless.client.aio.client import AsyncClient

__all__ = ["AsyncTags"]


class AsyncTags(Part):
    """As ``Tags``."""

    client: AsyncClient

    async def top(self, offset: int = 0, count: int = 25) -> list[str]:
        """As ``Tags.top``."""
        return await self.client.storage.run(requests.top_tags(offset, count))
