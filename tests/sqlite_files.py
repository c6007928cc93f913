# SPDX-License-Identifier: MIT
"""What tests of files need: short calls, disks that are small or read-only, and a look into a file."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import apsw

from pyqless.core.commands import call as command
from pyqless.storage import Storage

__all__ = [
    "Program",
    "call",
    "cannot_mount",
    "mounted",
    "problems",
    "remount",
    "start",
    "url_of",
    "writing",
]


class Program(subprocess.Popen[str]):
    """A program whose input and output are text."""

    stdin: IO[str]
    stdout: IO[str]

    def finish(self) -> list[str]:
        """Wait for the end; give the lines that were printed."""
        printed, _ = self.communicate(timeout=100)
        if self.returncode:
            raise AssertionError(f"the program ended with {self.returncode}")
        return printed.splitlines()


def start(text: str, *arguments: object) -> Program:
    """Start a Python program that has ``call`` and ``open_storage``, and its arguments in ``argv``."""
    head = "from sys import argv\nfrom pyqless.storage import open_storage\n"
    head += "from tests.sqlite_files import call\n"
    return Program(
        [sys.executable, "-c", head + textwrap.dedent(text), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def url_of(path: Path, **options: object) -> str:
    """The URL of a file."""
    query = "&".join(f"{name}={value}" for name, value in options.items())
    return f"sqlite:///{path}?{query}" if query else f"sqlite:///{path}"


def call(storage: Storage, *words: object) -> Any:
    """Send a command of the command table; give the value, not the text for the wire."""
    wanted = command(tuple(map(str, words)))
    return storage.run(wanted.transition, wanted.now)


def problems(path: Path) -> list[str]:
    """What SQLite finds wrong with a file."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(10_000)
    try:
        found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
    finally:
        connection.close()
    return [] if found == ["ok"] else found


def cannot_mount() -> str | None:
    """Say why no file system can be mounted here, if so."""
    return None if os.geteuid() == 0 else "only root can mount a small file system"


@contextmanager
def mounted(path: Path, size: str) -> Iterator[Path]:
    """Mount a file system of a size, such as 4m, for as long as the context lasts."""
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path], check=True)  # noqa: S607
    try:
        yield path
    finally:
        subprocess.run(["umount", path], check=True)  # noqa: S607


def remount(path: Path, option: str) -> None:
    """Change a mounted file system: ``ro``, ``rw``, ``size=16m``."""
    subprocess.run(["mount", "-o", f"remount,{option}", path], check=True)  # noqa: S607


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Hold the lock for writing, as another program might."""
    connection = apsw.Connection(str(path))
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.close()
