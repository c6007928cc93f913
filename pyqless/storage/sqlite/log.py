# SPDX-License-Identifier: MIT
"""
The write-ahead log, and when it is safely on the disk.

SQLite would have it written to the disk while the commit still holds the lock for writing. Here that is done
after the commit, and before the call returns: others write meanwhile, and one write to the disk serves all
commits that were there before it began, of whatever thread. The log is read from its beginning after a power
cut, so a commit is never there without those before it.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Final

import apsw

from pyqless.errors import OutcomeUnknown

__all__ = ["Log", "LogFile"]

_flush: Final = getattr(os, "fdatasync", os.fsync)


class LogFile:
    """
    The log's file, as long as a connection is open: SQLite removes it only when there is none.

    Raises:
        OSError: it cannot be opened.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        path = Path(connection.filename_wal)
        self._file = path.open("rb", buffering=0)
        directory = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(directory)  # a file without a name would be lost
        finally:
            os.close(directory)

    def flush(self) -> None:
        """Wait until all that was written is on the disk."""
        _flush(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Log:
    """The log of one storage: its threads share their waits for the disk."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()
        #: the number of the last commit, and of the last one that is known to be on the disk
        self._committed = 0
        self._flushed = 0

    def committed(self) -> int:
        """Count a commit; the caller holds the lock for writing."""
        self._committed += 1
        return self._committed

    def flush(self, file: LogFile, commit: int) -> None:
        """
        Wait until a commit is on the disk.

        Raises:
            OutcomeUnknown: the disk fails.
        """
        with self._lock:
            if self._flushed >= commit:
                return
            latest = self._committed
            try:
                file.flush()
            except OSError as error:
                raise OutcomeUnknown(
                    f"{self._path}: the disk fails, so a power cut may undo the commit: {error}",
                    argument="path",
                    value=self._path,
                ) from error
            self._flushed = latest
