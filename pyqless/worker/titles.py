# SPDX-License-Identifier: MIT
"""What a worker shows of itself in a list of processes; the library for that is an extra, ``pyqless[worker]``."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Final

__all__ = ["printable", "set_title"]

logger = logging.getLogger("pyqless.worker")

#: how much of a title is shown, characters
LIMIT: Final = 200


@cache
def _setter() -> Callable[[str], None] | None:
    try:
        from setproctitle import setproctitle  # noqa: PLC0415 - optional
    except ImportError:
        return None
    return setproctitle


def printable(text: str) -> str:
    """A text that any title can show: names are anybody's, and bytes that are no UTF-8, NULs and line breaks may stand in them."""
    shown = text[:LIMIT]
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in shown)


def set_title(text: str) -> None:
    """Show what the process does, where that can be shown."""
    if (setter := _setter()) is None:
        return
    try:
        setter(f"pyqless-worker: {printable(text)}")
    except Exception as error:  # noqa: BLE001 - no title is worth a worker
        logger.debug("the title of this process stays as it was: %s", error)
