# SPDX-License-Identifier: MIT
"""
Signals, as qless workers know them, made to conventions.

Handlers only note orders; the worker carries them out. The one exception is a worker that runs jobs in the main
thread: there a handler can interrupt the job, and does where the order is to end it now.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final, Protocol

from pyqless.worker.control import Control
from pyqless.worker.log import JsonFormatter

__all__ = ["NUDGE", "ORDERS", "Commanded", "around_the_log", "taking"]


class Commanded(Protocol):
    """What takes orders."""

    control: Control

    def interrupt(self) -> None:
        """Called in the main thread, after each order and ``NUDGE``: raise here what ends its job, if that is to end."""


def _show_stacks_and_pause(control: Control) -> None:
    control.dump()
    # straight to the descriptor: it works whatever the program has made of sys.stderr
    faulthandler.dump_traceback(file=sys.__stderr__ or 2, all_threads=True)


#: what each signal orders
ORDERS: Final[dict[str, Callable[[Control], None]]] = {
    "SIGTERM": Control.stop,
    "SIGINT": Control.stop,
    "SIGQUIT": Control.finish,
    "SIGUSR1": Control.drop,
    "SIGUSR2": _show_stacks_and_pause,
    "SIGCONT": Control.resume,
    "SIGHUP": Control.reload,
}

#: orders nothing; interrupts what the main thread waits for, so that it sees to the signals that have come
NUDGE: Final = signal.SIGURG


@contextmanager
def taking(worker: Commanded) -> Iterator[None]:
    """
    Take signals for a worker; the main thread only may do so. What handled them before does so again afterwards.

    Args:
        worker: it is stopped, paused and so on as documented.
    """

    def handle(number: int, _frame: FrameType | None) -> None:
        name = signal.Signals(number).name
        order = ORDERS[name]
        is_news = order is not Control.resume or _waits_for_it(worker.control)
        order(worker.control)
        what = order.__name__.strip("_").replace("_", " ")
        if is_news:
            _say(f"told to {what} ({name})")
        worker.interrupt()

    numbers = [getattr(signal, name) for name in ORDERS if hasattr(signal, name)]
    before = {number: signal.signal(number, handle) for number in numbers}
    before[NUDGE] = signal.signal(NUDGE, lambda *_: worker.interrupt())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _waits_for_it(control: Control) -> bool:
    """Whether going on makes a difference: systemd sends CONT with each TERM, so that what was stopped hears that."""
    return control.is_paused and control.is_running


def _say(text: str) -> None:
    # no logger: its lock may be held by what this handler has interrupted
    with suppress(OSError):  # who reads the log may be gone, and the order still stands
        os.write(2, f"{around_the_log(text)}\n".encode())


def around_the_log(text: str) -> str:
    """A line that goes to stderr by itself, in the form of the log there where that is JSON."""
    for handler in (*logging.getLogger("pyqless").handlers, *logging.getLogger().handlers):
        if isinstance(handler.formatter, JsonFormatter):
            told = {"name": "pyqless.worker", "levelname": "INFO", "msg": text}
            return handler.formatter.format(logging.makeLogRecord(told))
    return f"pyqless: {text}"
