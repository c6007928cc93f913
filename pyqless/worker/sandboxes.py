# SPDX-License-Identifier: MIT
"""Directories in which jobs can make a mess."""

from __future__ import annotations

import hashlib
import logging
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final

__all__ = ["emptied", "remove", "sandboxed", "sandboxed_async"]

logger = logging.getLogger("pyqless.worker")

#: how long the name of a directory may be, bytes; file systems take 255
NAME_BYTES: Final = 200


@contextmanager
def sandboxed(root: Path | None, slot: str) -> Iterator[Path | None]:
    """
    Give an empty directory, and remove it again.

    Args:
        root: what it lies in; None for no directory at all.
        slot: whose it is: a worker, or one of those that run its jobs.

    Raises:
        OSError: there can be no such directory. What cannot be removed afterwards is only logged.
    """
    if root is None:
        yield None
        return
    directory = _of(root, slot)
    _empty(directory)
    try:
        yield directory
    finally:
        remove(root, slot)


@asynccontextmanager
async def sandboxed_async(
    root: Path | None, slot: str, in_thread: Callable[..., Awaitable[Any]]
) -> AsyncIterator[Path | None]:
    """As ``sandboxed``; what may take its time is done in a thread."""
    if root is None:
        yield None
        return
    directory = _of(root, slot)
    await in_thread(_empty, directory)
    try:
        yield directory
    finally:
        await in_thread(remove, root, slot)


def remove(root: Path | None, slot: str) -> None:
    """Remove the directory of somebody who may have left one; the directory that this process works in is only emptied."""
    if root is None or not (directory := _of(root, slot)).is_dir():
        return
    try:
        _empty(directory)
        if not Path.cwd().is_relative_to(directory):
            directory.rmdir()
    except OSError as error:
        logger.warning("the sandbox of %s cannot be removed: %s", slot, error)


@contextmanager
def emptied(directory: Path) -> Iterator[None]:
    """Make a directory, empty it, and empty it again."""
    _empty(directory)
    try:
        yield
    finally:
        _empty(directory)


def _of(root: Path, slot: str) -> Path:
    """A name of its own for each slot, which leads to no other place: those of workers are anybody's."""
    name = re.sub(r"[^\w.@+-]", "_", slot)
    is_usual = name == slot.replace("/", "_") and name.strip(".") == name
    if is_usual and len(name.encode()) <= NAME_BYTES:
        return root / name
    digest = hashlib.sha256(slot.encode("utf-8", "surrogatepass")).hexdigest()
    return root / f"{name.strip('.')[:40]}-{digest[:12]}"


def _empty(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for entry in directory.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
