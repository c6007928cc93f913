# SPDX-License-Identifier: MIT
"""
Help for those who test: their jobs, and storages of their own against what the seam promises.

What ships imports nothing from here.
"""

from __future__ import annotations

from pyqless.testing.clock import Clock
from pyqless.testing.draining import drain, drain_async
from pyqless.testing.handing import in_hand, in_hand_async
from pyqless.testing.storages import CHECKS, Check, NotConformant, Store, check_storage

__all__ = [
    "CHECKS",
    "Check",
    "Clock",
    "NotConformant",
    "Store",
    "check_storage",
    "drain",
    "drain_async",
    "in_hand",
    "in_hand_async",
]
