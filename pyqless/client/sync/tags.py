# SPDX-License-Identifier: MIT
"""Tags, for the client that blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyqless.client.requests import workers as requests
from pyqless.client.views.part import Part

if TYPE_CHECKING:
    from pyqless.client.sync.client import Client

__all__ = ["Tags"]


class Tags(Part):
    """The tags that jobs bear; ``Jobs.tagged`` finds the jobs."""

    client: Client

    def top(self, offset: int = 0, count: int = 25) -> list[str]:
        """List the tags that two jobs or more bear, the most frequent at the head."""
        return self.client.storage.run(requests.top_tags(offset, count))
