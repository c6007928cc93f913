# SPDX-License-Identifier: MIT
"""
The data model of Redis, as far as the rules use it: reads, writes, and a database of keys.

``READS`` and ``WRITES`` are pure functions of a value, except that a write may change the value
handed to it; ``Keyspace`` applies them to its keys.
"""

from __future__ import annotations

from pyqless.core.keyspace.commands import READS, WRITES
from pyqless.core.keyspace.database import Keyspace
from pyqless.core.keyspace.numbers import NotAnInteger
from pyqless.core.keyspace.values import Image, Value, WrongType

__all__ = [
    "READS",
    "WRITES",
    "Image",
    "Keyspace",
    "NotAnInteger",
    "Value",
    "WrongType",
]
