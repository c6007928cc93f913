# SPDX-License-Identifier: MIT
"""What a worker shows of itself in a list of processes; the library for that is an extra, ``pyqless[worker]``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

__all__ = ["set_title"]


@cache
def _setter() -> Callable[[str], None] | None:
    try:
        from setproctitle import setproctitle  # noqa: PLC0415 - optional
    except ImportError:
        return None
    return setproctitle


def set_title(text: str) -> None:
    """Show what the process does, where that can be shown."""
    if (setter := _setter()) is not None:
        setter(f"pyqless-worker: {text}")
