# SPDX-License-Identifier: MIT
"""
What must not be open while a process forks.

SQLite keeps its locks by process, and does not notice a fork: a child of a process that had a file open would
believe to hold locks that it does not hold, and ruin the file. So before a fork all connections are closed, in both
processes each is opened anew when it is needed, and sockets stay with the parent. Where that was not possible,
``opened`` tells.
"""

from __future__ import annotations

import os
import threading
import weakref
from abc import ABC, abstractmethod

__all__ = ["ForkAware", "watch"]


class ForkAware(ABC):
    """Something that has to know of forks."""

    @abstractmethod
    def before_fork(self) -> None:
        """Close what must not be inherited, and let nothing be opened until one of the others is called."""

    @abstractmethod
    def after_fork_in_parent(self) -> None:
        """Go on."""

    @abstractmethod
    def after_fork_in_child(self) -> None:
        """Go on, with nothing of the parent's."""


_watched: weakref.WeakSet[ForkAware] = weakref.WeakSet()
_lock = threading.Lock()
_forking: list[ForkAware] = []


def watch(thing: ForkAware) -> None:
    """Tell something of all forks, as long as it lives."""
    with _lock:
        _watched.add(thing)


def _before() -> None:
    _lock.acquire()
    _forking.extend(_watched)
    for thing in _forking:
        thing.before_fork()


def _in_parent() -> None:
    for thing in _forking:
        thing.after_fork_in_parent()
    _forking.clear()
    _lock.release()


def _in_child() -> None:
    for thing in _forking:
        thing.after_fork_in_child()
    _forking.clear()
    _lock.release()


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
