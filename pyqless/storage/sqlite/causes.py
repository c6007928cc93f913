# SPDX-License-Identifier: MIT
"""Why the system refuses what SQLite has to do: who must not do it, and where there is no space."""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

__all__ = ["denial", "free_space", "lacks_space"]

#: Bytes that a file system must have for a file to be opened: SQLite makes one of 32 KiB beside it, and writes its log.
_LEAST: Final = 65536

#: ask for the user in whose name files are opened, where the system can
_EFFECTIVE: Final = os.access in os.supports_effective_ids


def free_space(path: str) -> int | None:
    """How many bytes this user may write beside a file; None if there is no telling."""
    try:
        system = os.statvfs(Path(path).parent)
    except OSError:
        return None
    return system.f_bavail * system.f_frsize


def lacks_space(path: str) -> bool:
    """Whether there is too little space beside a file to work with it."""
    free = free_space(path)
    return free is not None and free < _LEAST


def denial(path: str) -> str | None:
    """
    Say what SQLite has to do with a file and this user must not.

    Returns:
        str: who must not, what, and whose that is; None if nothing is denied.
    """
    file = Path(path)
    for place, mode, what in _needs(file):
        if os.path.lexists(place) and not os.access(place, mode, effective_ids=_EFFECTIVE):
            return f"{_user(os.geteuid())} may not {what} {place}{_owner(place)}"
    return None


def _needs(file: Path) -> Iterator[tuple[Path, int, str]]:
    for directory in reversed(file.parents):
        yield directory, os.X_OK, "enter"
    yield file.parent, os.W_OK, "make files in"
    for ending in ("", "-wal", "-shm"):
        yield file.with_name(file.name + ending), os.R_OK | os.W_OK, "read and write"


def _owner(place: Path) -> str:
    """Why somebody may not do something there, as far as one can see."""
    try:
        found, system = place.stat(), os.statvfs(place)
    except OSError:
        return ""
    if system.f_flag & os.ST_RDONLY:
        return ", on a file system that is read-only"
    return f", which belongs to {_user(found.st_uid)}, mode {stat.S_IMODE(found.st_mode):04o}"


def _user(number: int) -> str:
    try:
        return f"user {number} ({pwd.getpwuid(number).pw_name})"
    except KeyError:
        return f"user {number}"
