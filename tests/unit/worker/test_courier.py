# SPDX-License-Identifier: MIT
"""How a parent's orders get to its children."""

from __future__ import annotations

import os
import signal
from types import SimpleNamespace
from typing import Any

import pytest

from pyqless.worker.control import Control
from pyqless.worker.courier import Courier


def test_stacks_are_shown_one_after_the_other_by_those_that_are_still_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 1000.0
    told: list[tuple[int, int]] = []
    monkeypatch.setattr("time.monotonic", lambda: now)
    monkeypatch.setattr(os, "kill", lambda pid, number: told.append((pid, number)))
    control = Control()
    courier = Courier(control, lambda: None)
    children: list[Any] = [
        SimpleNamespace(pid=pid, is_leaving=False, order=lambda _: None) for pid in (1, 2, 3)
    ]
    control.dump()
    for _ in range(3):
        courier.deliver(children)
    assert told == [(1, signal.SIGUSR2)]
    del children[1]
    for _ in range(3):
        now += 0.1
        courier.deliver(children)
    assert told == [(1, signal.SIGUSR2), (3, signal.SIGUSR2)]
