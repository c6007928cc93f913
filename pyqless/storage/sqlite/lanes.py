# SPDX-License-Identifier: MIT
"""The lanes of a storage: as many as calls have run at once."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyqless.errors import StoreUnavailable
from pyqless.storage.sqlite.forks import ForkAware, watch
from pyqless.storage.sqlite.lane import Lane
from pyqless.storage.sqlite.opened import OPENED

__all__ = ["Lanes"]


class Lanes(ForkAware):
    """
    Lanes, each for one thread at a time; the one used last is used next, for it remembers most.

    Args:
        path: of the file.
        open_lane: opens a further lane.
        patience: seconds that a fork waits for those in use.
    """

    def __init__(self, path: str, open_lane: Callable[[], Lane], patience: float) -> None:
        self._path = path
        self._open = open_lane
        self._patience = patience
        self._free: deque[Lane] = deque()
        self._used = 0
        self._gate = threading.Condition()
        self._process = os.getpid()
        self._is_closed = False
        self._is_forking = False
        watch(self)

    @contextmanager
    def lane(self) -> Iterator[Lane]:
        """
        Lend a lane.

        Raises:
            StoreUnavailable: the storage is closed.
            StoreUnsupported: the process was forked, unnoticed, with the file open.
        """
        lane = self._take()
        try:
            if lane is None:
                lane = self._open()
            yield lane
        finally:
            self._give_back(lane)

    def _take(self) -> Lane | None:
        with self._gate:
            self._gate.wait_for(lambda: not self._is_forking)
            if self._process != os.getpid():
                # after a fork, here nothing is in use, and nothing may be that was the parent's
                OPENED.require_own(self._path)
                self._process, self._used = os.getpid(), 0
            if self._is_closed:
                raise StoreUnavailable("the storage is closed")
            self._used += 1
            return self._free.pop() if self._free else None

    def _give_back(self, lane: Lane | None) -> None:
        with self._gate:
            self._used -= 1
            if lane is not None:
                if self._is_closed:
                    lane.close()
                else:
                    self._free.append(lane)
            self._gate.notify_all()

    def close(self) -> None:
        """Close the lanes; those in use when they are given back."""
        with self._gate:
            self._is_closed = True
            if self._process == os.getpid():
                self._close_free(tidily=True)
            else:
                OPENED.leave_to_parent()

    def _close_free(self, *, tidily: bool) -> None:
        while self._free:
            self._free.pop().close(tidily=tidily)

    # -- forks ------------------------------------------------------------------------------

    def before_fork(self) -> None:
        """See ``ForkAware``."""
        self._gate.acquire()
        self._is_forking = True
        self._gate.wait_for(lambda: not self._used, self._patience)
        self._close_free(tidily=False)

    def after_fork_in_parent(self) -> None:
        """See ``ForkAware``."""
        self._is_forking = False
        self._gate.notify_all()
        self._gate.release()

    def after_fork_in_child(self) -> None:
        """See ``ForkAware``."""
        self.after_fork_in_parent()
