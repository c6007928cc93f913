# SPDX-License-Identifier: MIT
"""Which files this process has open, so that after a fork that could not be prepared none is used that is the parent's."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Final

import apsw

from pyqless.errors import StoreUnsupported

__all__ = ["OPENED"]


class _Opened:
    """The connections that this process has open, and the files that its parent had open when it forked."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._paths: weakref.WeakKeyDictionary[apsw.Connection, str] = weakref.WeakKeyDictionary()
        self._inherited: set[str] = set()
        #: The parent's connections. They must not even be closed here, as they would be if they were forgotten.
        self._leaked: list[apsw.Connection] = []
        self._lock = threading.Lock()

    def add(self, connection: apsw.Connection, path: str) -> None:
        """Note a connection."""
        with self._lock:
            self._paths[connection] = path

    def remove(self, connection: apsw.Connection) -> None:
        """Note that a connection was closed; one that is forgotten closes by itself."""
        with self._lock:
            self._paths.pop(connection, None)

    def leave_to_parent(self) -> None:
        """Let go of what was the parent's, if the process was forked."""
        with self._lock:
            if self._process != os.getpid():
                self._process = os.getpid()
                self._inherited |= set(self._paths.values())
                self._leaked.extend(self._paths)
                self._paths.clear()

    def require_own(self, path: str) -> None:
        """
        Make sure that a file may be opened in this process.

        Raises:
            StoreUnsupported: the parent had it open when it forked.
        """
        self.leave_to_parent()
        if path in self._inherited:
            raise StoreUnsupported(
                f"{path}: the process was forked behind Python's back, or in the middle of a call, with the"
                " file open, so it cannot be used here: fork before the first call, or by os.fork",
                argument="path",
                value=path,
            )


#: of this process
OPENED: Final = _Opened()
