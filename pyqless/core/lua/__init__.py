# SPDX-License-Identifier: MIT
"""Lua's ways with numbers and JSON; no other module knows of them."""

from __future__ import annotations

from pyqless.core.lua.cjson import JSONError, decode, decode_writable, encode, quote
from pyqless.core.lua.numbers import (
    argument,
    ceil,
    concat,
    day,
    floor,
    integer_argument,
    integer_text,
    timestamp,
    to_integer_reply,
    to_number,
)

__all__ = [
    "JSONError",
    "argument",
    "ceil",
    "concat",
    "day",
    "decode",
    "decode_writable",
    "encode",
    "floor",
    "integer_argument",
    "integer_text",
    "quote",
    "timestamp",
    "to_integer_reply",
    "to_number",
]
