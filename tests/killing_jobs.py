# SPDX-License-Identifier: MIT
"""Jobs for the kill run: each enters its runs into the ledger, and does its worst in between."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, Final

from pyqless.worker import Retry
from tests.ledger import Run, ledger

__all__ = ["HARM", "HEARTBEAT", "work"]

#: seconds for which a lock holds
HEARTBEAT: Final = 3.0

leaked: list[bytes] = []


def work(job: Any) -> None:
    """Enter the run, do what the data says, and enter it once more; without the lock, come back later."""
    book, run = ledger(job.data["store"]), Run.of(job, HEARTBEAT)
    is_first = not book.entries(job.jid)
    if not book.enter(run).holds:
        raise Retry
    HARM[job.data["harm"]](job, is_first)
    if not book.enter(run).holds:
        raise Retry


def _nothing(job: Any, is_first: bool) -> None:  # noqa: FBT001 - one signature for all
    """Be done at once."""


def _steps(job: Any, is_first: bool) -> None:  # noqa: FBT001
    """Be like most jobs."""
    for _ in range(10):
        job.checkpoint()
        time.sleep(0.02)


def _deaf(job: Any, is_first: bool) -> None:  # noqa: FBT001
    """Ignore every signal that can be ignored."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
        signal.signal(number, signal.SIG_IGN)
    time.sleep(0.2)


def _outlasts(job: Any, is_first: bool) -> None:  # noqa: FBT001
    """Take longer than a lock holds that nobody renews."""
    time.sleep(1.5 * HEARTBEAT)


def _leaves(job: Any, is_first: bool) -> None:  # noqa: FBT001
    if is_first:
        os._exit(7)


def _crashes(job: Any, is_first: bool) -> None:  # noqa: FBT001
    if is_first:
        os.kill(os.getpid(), signal.SIGKILL)


def _asks_again(job: Any, is_first: bool) -> None:  # noqa: FBT001
    if is_first:
        raise Retry


def _forks(job: Any, is_first: bool) -> None:  # noqa: FBT001
    """Leave a process behind that is in no hurry."""
    if os.fork() == 0:
        time.sleep(HEARTBEAT)
        os._exit(0)


def _talks(job: Any, is_first: bool) -> None:  # noqa: FBT001
    """Print megabytes."""
    for _ in range(32):
        sys.stdout.write("x" * 2**15 + "\n")


def _leaks(job: Any, is_first: bool) -> None:  # noqa: FBT001
    leaked.append(b"x" * 2**23)


#: what a job may do, by name
HARM: Final[dict[str, Callable[[Any, bool], None]]] = {
    "nothing": _nothing,
    "steps": _steps,
    "deaf": _deaf,
    "outlasts": _outlasts,
    "leaves": _leaves,
    "crashes": _crashes,
    "asks again": _asks_again,
    "forks": _forks,
    "talks": _talks,
    "leaks": _leaks,
}
