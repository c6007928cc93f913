# SPDX-License-Identifier: MIT
"""Help for those who test: their own storages against what the seam promises."""

from __future__ import annotations

from pyqless.testing.storages import CHECKS, Check, NotConformant, Store, check_storage

__all__ = ["CHECKS", "Check", "NotConformant", "Store", "check_storage"]
