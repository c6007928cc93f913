# SPDX-License-Identifier: MIT
"""
Calls that may hang, made by who has no time for that.

A store that is away keeps a call for as long as the client's timeouts say, which a worker that is to end may not have.
So such a call is made in a thread of its own, which is left behind when the time is over.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from pyqless.errors import StoreUnavailable
from pyqless.worker.waiting import SLICE

__all__ = ["unless", "within"]

T = TypeVar("T")


def unless(is_over: Callable[[], bool], call: Callable[[], T]) -> T:
    """
    Make a call, unless there is no more time for it.

    Args:
        is_over: asked a few times a second.

    Raises:
        StoreUnavailable: nobody has answered in time; the call may still be carried out.
    """
    called: Future[T] = Future()
    threading.Thread(target=_make, args=(call, called), name="pyqless-call", daemon=True).start()
    while True:
        try:
            return called.result(SLICE)
        except TimeoutError:
            if called.done():
                raise
        if is_over():
            raise StoreUnavailable("the store does not answer in time")


def within(seconds: float, call: Callable[[], T]) -> T:
    """As ``unless``, for so many seconds."""
    end = time.monotonic() + seconds
    return unless(lambda: time.monotonic() >= end, call)


def _make(call: Callable[[], T], called: Future[T]) -> None:
    try:
        called.set_result(call())
    except BaseException as error:  # noqa: BLE001 - handed on to whoever waits
        called.set_exception(error)
