# SPDX-License-Identifier: MIT
"""How a file is opened, and made if need be."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Final

import apsw

from pyqless.errors import StoreRefused, StoreUnavailable, StoreUnsupported
from pyqless.storage.sqlite.causes import denial
from pyqless.storage.sqlite.faults import BUSY, translated
from pyqless.storage.sqlite.migrations import is_new, migrate, require_ours
from pyqless.storage.sqlite.opened import OPENED
from pyqless.storage.sqlite.patience import Patience

__all__ = ["open_connection", "require_library"]

#: Older ones can lose or corrupt commits in WAL mode where there are several connections.
_OLDEST_LIBRARY: Final = (3, 51, 3)

#: SQLite's own fsync at each commit is not asked for: ``Log`` does it, and lets others write meanwhile.
_SETTINGS: Final = {
    "synchronous": "NORMAL",
    "cache_size": -8000,  # KiB
    "wal_autocheckpoint": 3000,  # pages, 12 MiB: a page that is written again and again is copied seldom
    "journal_size_limit": 16 * 2**20,  # bytes that the log keeps at most when it begins anew
    "cell_size_check": True,  # finds damaged pages earlier
    "trusted_schema": False,
}

#: POSIX drops all locks that a process has on a file when it closes any descriptor of it.
#: So a file is made only where no other thread can have opened it in between.
_opening: Final = threading.Lock()


def require_library() -> None:
    """
    Make sure that the SQLite that apsw carries is safe.

    Raises:
        StoreUnsupported: it is too old.
    """
    version = apsw.sqlite_lib_version()
    if tuple(map(int, version.split("."))) < _OLDEST_LIBRARY:
        oldest = ".".join(map(str, _OLDEST_LIBRARY))
        raise StoreUnsupported(
            f"SQLite {version} can lose commits in WAL mode; {oldest} or later is needed:"
            f" pip install 'apsw>={oldest}'",
            value=version,
        )


def open_connection(path: str, patience: Patience) -> apsw.Connection:
    """
    Open a file, in WAL mode and at the newest version of the schema.

    Args:
        path: absolute. A file that is not there is made, for its owner alone.
        patience: how long to try while others lock it.

    Raises:
        StoreUnavailable: it cannot be opened; the directory may be missing.
        StoreRefused: it is read-only, or the disk is full.
        StoreCorrupted: it is damaged, or no database.
        StoreUnsupported: it is another program's, or of a later release; WAL mode cannot be had;
            or the parent process had it open when it forked.
    """
    OPENED.require_own(path)
    with _opening:
        _make(path)
        with translated(path):
            connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    OPENED.add(connection, path)
    try:
        with translated(path):
            _prepare_when_free(connection, path, patience)
    except BaseException:
        connection.close()
        OPENED.remove(connection)
        raise
    return connection


def _make(path: str) -> None:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return
    except FileNotFoundError as error:
        raise StoreUnavailable(
            f"{path}: there is no directory {Path(path).parent}"
            " (an absolute path takes four slashes: sqlite:////var/lib/jobs.db)",
            argument="path",
            value=path,
        ) from error
    except OSError as error:
        cause = denial(path) or error.strerror
        text = f"{path}: it cannot be made: {cause}"
        raise StoreRefused(text, argument="path", value=path) from error


def _prepare_when_free(connection: apsw.Connection, path: str, patience: Patience) -> None:
    while True:
        try:
            return _prepare(connection, path)
        except BUSY:
            if not patience.pause():
                raise


def _prepare(connection: apsw.Connection, path: str) -> None:
    if connection.readonly("main"):
        cause = f": {denied}" if (denied := denial(path)) else ""
        raise StoreRefused(f"{path}: it is read-only{cause}", argument="path", value=path)
    if is_new(connection):
        # works only while the file is empty
        connection.pragma("auto_vacuum", "INCREMENTAL")
    else:
        require_ours(connection, path)
    mode = connection.pragma("journal_mode", "WAL")
    if mode != "wal":
        raise StoreUnsupported(
            f"{path}: WAL mode cannot be had there (journal_mode is {mode});"
            " it needs a local file system with shared memory",
            argument="path",
            value=path,
        )
    migrate(connection)
    # or a statement with a LIMIT would be compiled anew for every value of its own
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    for name, value in _SETTINGS.items():
        connection.pragma(name, value)
