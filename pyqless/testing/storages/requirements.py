# SPDX-License-Identifier: MIT
"""Ways to say what must hold."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable
from copy import copy
from typing import Any

__all__ = ["NotConformant", "plain", "raised", "require"]


class NotConformant(AssertionError):
    """A storage does not keep what the seam promises."""


def require(what: str, got: object, expected: object) -> None:
    """
    Compare what a storage gives with what it should give.

    Raises:
        NotConformant: they differ, if only in type: 1 is neither 1.0 nor True.
    """
    if not _same(got, expected):
        raise NotConformant(f"{what}: expected {expected!r}, got {got!r}")


def _same(got: Any, expected: Any) -> bool:
    if type(got) is not type(expected):
        return False
    if isinstance(got, list | tuple):
        return len(got) == len(expected) and all(map(_same, got, expected))
    return bool(got == expected)


def plain(reply: Any) -> Any:
    """A reply, or an image of a list, as the reply would be at this moment."""
    return list(reply) if isinstance(reply, deque) else copy(reply)


async def raised(call: Awaitable[Any]) -> Exception:
    """
    What a call raises.

    Raises:
        NotConformant: nothing.
    """
    try:
        await call
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is asked for
        return error
    raise NotConformant("nothing was raised")
