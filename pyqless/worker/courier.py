# SPDX-License-Identifier: MIT
"""Who takes a parent's orders to its children."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from pyqless.worker.children import Child
from pyqless.worker.control import Control
from pyqless.worker.stopping import StopReason

__all__ = ["Courier"]

#: seconds from one child's stacks to the next one's
APART: Final = 0.1


class Courier:
    """
    Compares what the parent has been told with what the children know.

    Args:
        control: has the parent's orders.
        reload: called before children are replaced to run new code.
    """

    def __init__(self, control: Control, reload: Callable[[], None]) -> None:
        self._control = control
        self._known = Control(control.grace)
        self._reload = reload
        self._stale: list[Child] = []
        self._to_show: list[Child] = []
        self._show_at = float("-inf")

    def deliver(self, children: Sequence[Child]) -> None:
        """Take to the children what they do not know yet; those whose time is over are killed."""
        if self._control.is_over:
            for child in children:
                child.kill(StopReason.STOPPING)
        self._end(children)
        self._pause(children)
        self._show_stacks(children)
        self._drop(children)
        self._replace(children)

    def _end(self, children: Sequence[Child]) -> None:
        if self._control.phase > self._known.phase:
            self._known.phase = self._control.phase
            for child in children:
                child.order("stop" if self._control.is_stopping else "finish")

    def _pause(self, children: Sequence[Child]) -> None:
        if self._control.is_paused != self._known.is_paused:
            self._known.is_paused = self._control.is_paused
            for child in children:
                child.order("pause" if self._control.is_paused else "resume")

    def _show_stacks(self, children: Sequence[Child]) -> None:
        """Let the children show their stacks, one after the other: they would write into each other's lines."""
        if self._control.dumps > self._known.dumps:
            self._known.dumps = self._control.dumps
            self._to_show = list(children)
        self._to_show = [child for child in self._to_show if child in children]
        if self._to_show and time.monotonic() >= self._show_at:
            child = self._to_show.pop(0)
            self._show_at = time.monotonic() + APART
            with suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGUSR2)

    def _drop(self, children: Sequence[Child]) -> None:
        if self._control.drops > self._known.drops:
            self._known.drops = self._control.drops
            for child in children:
                if child.attempts:
                    child.kill(StopReason.DROPPED)

    def _replace(self, children: Sequence[Child]) -> None:
        """Replace the children that run old code, one after the other, as each ends its job."""
        if self._control.reloads > self._known.reloads:
            self._known.reloads = self._control.reloads
            self._reload()
            self._stale = list(children)
        self._stale = [child for child in self._stale if child in children]
        if self._stale and not any(child.is_leaving for child in self._stale):
            self._stale[0].order("finish")
