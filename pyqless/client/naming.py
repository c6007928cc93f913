# SPDX-License-Identifier: MIT
"""The names by which Python tells of a wrong call: those that are documented."""

from __future__ import annotations

import inspect
from typing import TypeVar

__all__ = ["own_names"]

T = TypeVar("T")


def own_names(owner: type[T]) -> type[T]:
    """Let the methods that a class has of its parts, the classes beside it, bear its own name."""
    package = owner.__module__.rpartition(".")[0]
    for part in owner.__mro__[1:]:
        if part.__module__.rpartition(".")[0] == package:
            for name, method in inspect.getmembers(part, inspect.isfunction):
                method.__qualname__ = f"{owner.__qualname__}.{name}"
    return owner
