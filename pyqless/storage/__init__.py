# SPDX-License-Identifier: MIT
"""Storages: where the rules' keys lie, and what drives the rules. ``open_storage`` chooses one by URL."""

from __future__ import annotations

from pyqless.storage.base import AsyncStorage, Storage
from pyqless.storage.subscriptions import AsyncSubscription, Message, Subscription
from pyqless.storage.urls import open_async_storage, open_storage

__all__ = [
    "AsyncStorage",
    "AsyncSubscription",
    "Message",
    "Storage",
    "Subscription",
    "open_async_storage",
    "open_storage",
]
