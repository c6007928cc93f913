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

from pyqless.errors import OutcomeUnknown, StoreUnavailable

__all__ = ["Log", "LogFile"]

_flush: Final = getattr(os, "fdatasync", os.fsync)


class LogFile:
    """
    The log's file, as long as a connection is open: SQLite removes it only when there is none.

    Raises:
        StoreUnavailable: it cannot be opened.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        path = Path(connection.filename_wal)
        try:
            _flush_directory(path.parent)  # a file without a name would be lost
            self._file = path.open("rb", buffering=0)
        except OSError as error:
            raise StoreUnavailable(
                f"{path}: it cannot be flushed: {error}", argument="path", value=str(path)
            ) from error

    def flush(self) -> None:
        """Wait until all that was written is on the disk."""
        _flush(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _flush_directory(path: Path) -> None:
    directory = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


class Log:
    """
    The log of one storage: its threads share their waits for the disk.

    One waits, and then all go on that it has waited for, while one of those that came later waits next.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        # a signal's handler may come in the middle of it, and write, too
        self._flushing = threading.RLock()
        #: the number of the last commit
        self.latest = 0
        #: of the last one that has been waited for, and of the last one in doubt
        self._settled = 0
        self._doubtful = 0
        self._reason: OSError | None = None

    def committed(self) -> int:
        """Count a commit; the caller has the turn to write."""
        self.latest += 1
        return self.latest

    def flush(self, file: LogFile, commit: int) -> None:
        """
        Wait until a commit is on the disk.

        Args:
            file: of a connection that stays open meanwhile.

        Raises:
            OutcomeUnknown: the disk failed.
        """
        if commit > self._settled:
            # whoever waits for it finds that its commit was waited for, too; and wherever an interruption comes, it is
            # given back
            with self._flushing:
                if commit > self._settled:
                    self._flush(file)
        # a disk that has failed once says so once, whoever else waits for the same pages
        if commit <= self._doubtful:
            raise OutcomeUnknown(
                f"{self._path}: the disk failed, so a power cut may undo the commit: {self._reason}",
                argument="path",
                value=self._path,
            )

    def _flush(self, file: LogFile) -> None:
        latest = self.latest
        try:
            file.flush()
        except OSError as error:
            self._doubtful, self._reason = max(latest, self._doubtful), error
        self._settled = latest
