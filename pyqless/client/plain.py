# SPDX-License-Identifier: MIT
"""Numbers as Python programs expect them: the core, like Lua, knows doubles only."""

from __future__ import annotations

from typing import Any

__all__ = ["plain", "plain_number"]


def plain_number(number: float) -> float:
    """A whole number as an integer, any other as it is."""
    return int(number) if number.is_integer() else number


def plain(value: Any) -> Any:
    """Whole numbers as integers, however deep in lists and dicts they stand."""
    if isinstance(value, float):
        return plain_number(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items()}
    return value
