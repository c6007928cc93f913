# SPDX-License-Identifier: MIT
"""The lanes of a storage: as many as calls have run at once."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Final

from pyqless.storage.described import closed
from pyqless.storage.sqlite.forks import ForkAware, watch
from pyqless.storage.sqlite.lane import Lane
from pyqless.storage.sqlite.opened import OPENED
from pyqless.storage.sqlite.patience import Patience
from pyqless.storage.sqlite.whereabouts import Found, Whereabouts

__all__ = ["Lanes"]

#: seconds after which a fork looks by itself whether anybody is still inside
_LOOK_AGAIN: Final = 0.05


class Lanes(ForkAware):
    """
    Lanes, each for one transaction at a time; they stay open while somebody is inside.

    Who writes takes the one written in last, for it knows what it has written; who looks takes another.

    Args:
        path: of the file.
        open_lane: opens a further lane.
        patience: seconds that a fork waits for those inside.

    Attributes:
        inside: who is. Everybody takes itself out, first of all and in one step of Python's own, ahead of which no
            interruption can come; then it calls ``leave``.
    """

    def __init__(self, path: str, open_lane: Callable[[], Lane], patience: float) -> None:
        self._path = path
        self._open = open_lane
        self._patience = patience
        self._free: deque[Lane] = deque()
        #: those that are open; one whose taker was interrupted closes by itself
        self._all: weakref.WeakSet[Lane] = weakref.WeakSet()
        self._whereabouts = Whereabouts(path)
        self.inside: set[object] = set()
        self._lock = threading.RLock()
        self._gate = threading.Condition(self._lock)
        self._process = os.getpid()
        self._is_closed = False
        self._is_forking = False
        watch(self)

    def enter(self, who: object) -> None:
        """
        Keep the lanes open.

        Args:
            who: is inside from now on; nobody else's.

        Raises:
            ClientClosed: the storage is closed.
            StoreUnsupported: the process was forked, unnoticed, with the file open.
        """
        with self._lock:
            while self._is_forking:
                self._gate.wait()
            if self._process != os.getpid():
                # after a fork, here nobody is inside, and nothing may be that was the parent's
                OPENED.require_own(self._path)
                self._process = os.getpid()
                self.inside.clear()
            if self._is_closed:
                raise closed()
            self.inside.add(who)

    def leave(self) -> None:
        """Let those go on who wait until nobody is inside."""
        if (self._is_closed or self._is_forking) and not self.inside:
            with self._lock:
                self._be_left()

    def _be_left(self) -> None:
        if self._is_closed:
            self._close_all(tidily=True)
        self._gate.notify_all()

    def take_for_writing(self) -> Lane:
        """
        Take a lane, of whose writers there is one at a time.

        Raises:
            StorageError: the file is gone, or cannot be opened.
        """
        return self._take(self._free.pop)

    def take_for_looking(self) -> Lane:
        """As ``take_for_writing``, not the one that was written in last if there is another."""
        return self._take(self._free.popleft)

    def _take(self, pick: Callable[[], Lane]) -> Lane:
        found = self._whereabouts.look()
        try:
            lane = pick()
        except IndexError:
            return self._open_another(found)
        if found is None or lane.place.file == found:
            return lane
        self._free.append(lane)
        self._require_own_log(found)
        self._drop_former(found)
        return self._take(pick)

    def _open_another(self, found: Found | None) -> Lane:
        self._require_own_log(found)
        lane = self._open()
        self._whereabouts.was_open = True
        with self._lock:
            self._all.add(lane)
        return lane

    def _require_own_log(self, found: Found | None) -> None:
        with self._lock:
            places = [lane.place for lane in self._all]
        self._whereabouts.require_own_log(found, places)

    def _drop_former(self, found: Found) -> None:
        """Close the lanes to a file in whose place there is another."""
        for lane in self._free.copy():
            if lane.place.file != found:
                with contextlib.suppress(ValueError):  # another thread has taken it
                    self._free.remove(lane)
                    self._forget(lane)
                    lane.abandon()

    def _forget(self, lane: Lane) -> None:
        with self._lock:
            self._all.discard(lane)

    def give_back_written(self, lane: Lane) -> None:
        """Give back what was taken for writing."""
        self._free.append(lane)

    def give_back_looked(self, lane: Lane) -> None:
        """Give back what was taken for looking."""
        self._free.appendleft(lane)

    def close(self) -> None:
        """Close the lanes, as soon as nobody is inside."""
        with self._gate:
            self._is_closed = True
            if self._process != os.getpid():
                OPENED.leave_to_parent()
            elif not self.inside:
                self._close_all(tidily=True)

    def _close_all(self, *, tidily: bool) -> None:
        while self._free:
            lane = self._free.pop()
            self._forget(lane)
            if self._whereabouts.has(lane.place):
                lane.close(tidily=tidily)
            else:
                lane.abandon()

    # -- forks ------------------------------------------------------------------------------

    def before_fork(self) -> None:
        """See ``ForkAware``."""
        self._gate.acquire()
        self._is_forking = True
        patience = Patience(self._patience)
        while self.inside and (left := patience.left()):
            # who was interrupted when it had left may not have told
            self._gate.wait(min(left, _LOOK_AGAIN))
        if not self.inside:
            self._close_all(tidily=False)

    def after_fork_in_parent(self) -> None:
        """See ``ForkAware``."""
        self._is_forking = False
        self._gate.notify_all()
        self._gate.release()

    def after_fork_in_child(self) -> None:
        """See ``ForkAware``."""
        self.after_fork_in_parent()
