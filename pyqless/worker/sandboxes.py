# SPDX-License-Identifier: MIT
"""Directories in which jobs can make a mess."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["sandboxed"]


@contextmanager
def sandboxed(root: Path | None, slot: str) -> Iterator[Path | None]:
    """
    Give an empty directory, and empty it again.

    Args:
        root: what it lies in; None for no directory at all.
        slot: whose it is: a worker, or one of its threads.
    """
    if root is None:
        yield None
        return
    directory = root / slot.replace("/", "_")
    _empty(directory)
    try:
        yield directory
    finally:
        _empty(directory)


def _empty(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for entry in directory.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
