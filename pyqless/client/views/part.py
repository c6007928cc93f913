# SPDX-License-Identifier: MIT
"""What the sides of a client have in common: its queues, its jobs, its settings."""

from __future__ import annotations

from typing import Any

__all__ = ["Part"]


class Part:
    """A side of a client; whose, says the class."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.client.storage.url}>"
