# SPDX-License-Identifier: MIT
"""
``memory://``: everything in this process.

A transition runs from its first read to its last write under one lock, so nobody can interfere.
``memory://NAME`` is shared by all who open that name; ``memory://`` is the opener's own.

``database``       keys, and who listens; which of them a URL means
``driver``         attempts until one is committed
``subscriptions``  messages
``storage``        the storage for threads; ``aio``, that for asyncio
"""

from __future__ import annotations

from pyqless.storage.memory.aio import AsyncMemoryStorage
from pyqless.storage.memory.storage import MemoryStorage

__all__ = ["AsyncMemoryStorage", "MemoryStorage"]
