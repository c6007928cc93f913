# SPDX-License-Identifier: MIT
"""What SQLite's errors mean, in our family of errors."""

from __future__ import annotations

from typing import Final

import apsw

from pyqless.errors import StorageError, StoreCorrupted, StoreRefused, StoreUnavailable

__all__ = ["BUSY", "translated"]

#: somebody else is at it, and a further try may succeed
BUSY: Final = (apsw.BusyError, apsw.LockedError, apsw.ProtocolError)

_MEANINGS: Final[tuple[tuple[tuple[type[apsw.Error], ...], type[StorageError], str], ...]] = (
    (BUSY, StoreUnavailable, "others keep it locked"),
    ((apsw.FullError,), StoreRefused, "there is no space left for it"),
    ((apsw.ReadOnlyError,), StoreRefused, "it is read-only"),
    ((apsw.PermissionsError, apsw.AuthError), StoreRefused, "access is denied"),
    ((apsw.TooBigError,), StoreRefused, "a value is too large"),
    ((apsw.NotADBError,), StoreCorrupted, "it is no SQLite database"),
    ((apsw.CorruptError, apsw.FormatError), StoreCorrupted, "it is damaged"),
    ((apsw.SQLError,), StoreCorrupted, "its tables are not ours"),
    ((apsw.ConstraintError, apsw.MismatchError), StoreCorrupted, "its content contradicts itself"),
    ((apsw.CantOpenError,), StoreUnavailable, "it cannot be opened"),
    ((apsw.IOError,), StoreUnavailable, "its disk fails"),
)


class translated:  # noqa: N801 - it is used as a function is
    """
    A context that raises in the place of SQLite's errors ours.

    Args:
        path: of the file.
    """

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, apsw.Error):
            raise _fault(error, self._path) from error


def _fault(error: apsw.Error, path: str) -> StorageError:
    for classes, kind, meaning in _MEANINGS:
        if isinstance(error, classes):
            return kind(f"{path}: {meaning} ({error})", argument="path", value=path)
    return StorageError(f"{path}: {error}", argument="path", value=path)
