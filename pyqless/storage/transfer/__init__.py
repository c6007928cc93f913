# SPDX-License-Identifier: MIT
"""
Moving between storages: everything in one dumped into a file, loaded into another, and compared.

``records``     the file: records, and what makes them whole
``dumping``     from a storage into a file
``loading``     from a file into a storage
``comparing``   two storages, entry by entry
"""

from __future__ import annotations

from pyqless.storage.transfer.comparing import Difference, diff
from pyqless.storage.transfer.dumping import dump, save
from pyqless.storage.transfer.loading import Existing, load, open_memory
from pyqless.storage.transfer.records import Header, Progress, Totals

__all__ = [
    "Difference",
    "Existing",
    "Header",
    "Progress",
    "Totals",
    "diff",
    "dump",
    "load",
    "open_memory",
    "save",
]
