# SPDX-License-Identifier: MIT
"""
Who sees that a job holds the loop: a thread, since nothing in the loop can.

While a coroutine computes, or calls what blocks, no other gets its turn, and no lock is renewed: jobs are lost, and nobody would
know by which of them.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Final

from pyqless.worker.attempts import Attempt

__all__ = ["Sentry", "name_of"]

logger = logging.getLogger("pyqless.worker")

#: seconds for which a loop may be held without a word
HELD: Final = 1.0

#: seconds between two looks
LOOK: Final = 0.25

#: seconds from one warning to the next
QUIET: Final = 10.0

_NAME: Final = "pyqless-job "


def name_of(jid: str) -> str:
    """What the task of a job is called, so that it can be told."""
    return _NAME + jid


class Sentry:
    """
    Be entered around the life of a loop's worker; tells of jobs that hold the loop.

    Args:
        find: gives the attempt at a job that is in hand.
    """

    def __init__(self, find: Callable[[str], Attempt | None]) -> None:
        self._find = find
        self._over = threading.Event()
        self._turned = time.monotonic()
        self._quiet_until = float("-inf")
        self._tick: asyncio.TimerHandle | None = None

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        self._turn(loop)
        watched = (loop, threading.get_ident())
        threading.Thread(
            target=self._watch, args=watched, name="pyqless-sentry", daemon=True
        ).start()

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self._over.set()
        if self._tick is not None:
            self._tick.cancel()

    def _turn(self, loop: asyncio.AbstractEventLoop) -> None:
        """Be called by the loop whenever it turns, and say so where even the thread had no turn."""
        before, self._turned = self._turned, time.monotonic()
        if self._turned - before > HELD + LOOK and self._may_tell():
            text = "the loop was held for %.1f s, and no lock was renewed meanwhile"
            logger.warning(text, self._turned - before)
        self._tick = loop.call_later(LOOK, self._turn, loop)

    def _may_tell(self) -> bool:
        now = time.monotonic()
        if now < self._quiet_until:
            return False
        self._quiet_until = now + QUIET
        return True

    # -- in the thread ------------------------------------------------------------------------

    def _watch(self, loop: asyncio.AbstractEventLoop, thread: int) -> None:
        while not self._over.wait(LOOK):
            if time.monotonic() - self._turned > HELD and self._may_tell():
                self._tell(asyncio.current_task(loop), sys._current_frames().get(thread))  # noqa: SLF001 - no other way

    def _tell(self, task: asyncio.Task[Any] | None, frame: FrameType | None) -> None:
        jid = "" if task is None else task.get_name()
        attempt = self._find(jid.removeprefix(_NAME)) if jid.startswith(_NAME) else None
        who = "something" if attempt is None else f"job {attempt.jid} ({attempt.klass})"
        text = "%s holds the loop, and no lock is renewed meanwhile: it is at %s"
        fields = None if attempt is None else attempt.fields
        logger.warning(text, who, _place(frame), extra=fields)


def _place(frame: FrameType | None) -> str:
    if frame is None:
        return "a place unknown"
    return f"{frame.f_code.co_filename}:{frame.f_lineno}, in {frame.f_code.co_qualname}"
