# SPDX-License-Identifier: MIT
"""What SQLite's errors mean, in our family of errors."""

from __future__ import annotations

from typing import Final

import apsw

from pyqless.errors import StorageError, StoreCorrupted, StoreRefused, StoreUnavailable
from pyqless.storage.sqlite.causes import denial, lacks_space

__all__ = ["BUSY", "translated"]

#: somebody else is at it, and a further try may succeed
BUSY: Final = (apsw.BusyError, apsw.LockedError, apsw.ProtocolError)

#: what may come of what the user must not do, and of too little space, though SQLite does not say so
_DENIALS: Final = (apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError, apsw.CantOpenError)
_SHORTAGES: Final = (apsw.CantOpenError, apsw.IOError)
#: of the latter, what needs no space
_READING: Final = (apsw.SQLITE_IOERR_READ, apsw.SQLITE_IOERR_CORRUPTFS)

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
    for classes, usual, meaning in _MEANINGS:
        if isinstance(error, classes):
            kind, text = _refusal(error, path, meaning) or (usual, meaning)
            return kind(f"{path}: {text} ({error})", argument="path", value=path)
    return StorageError(f"{path}: {error}", argument="path", value=path)


def _refusal(error: apsw.Error, path: str, meaning: str) -> tuple[type[StorageError], str] | None:
    """What the system refuses, if that is the cause."""
    if isinstance(error, _DENIALS) and (denied := denial(path)):
        return StoreRefused, f"{meaning}: {denied}"
    if isinstance(error, _SHORTAGES) and not _reads(error) and lacks_space(path):
        return StoreRefused, "there is no space left for it"
    return None


def _reads(error: apsw.Error) -> bool:
    return getattr(error, "extendedresult", None) in _READING
