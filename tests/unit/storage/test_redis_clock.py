# SPDX-License-Identifier: MIT
"""The store's clock, told between two looks at it."""

from __future__ import annotations

import time

import pytest

from pyqless.storage.redis.clock import StoreClock


def test_it_is_right_to_half_a_round_trip() -> None:
    now = 10.0
    clock = StoreClock(lambda: now, ask=None)
    began, now = now, 11.0
    clock.learn([b"1700000000", b"250000"], began)  # told at some moment from 10 to 11
    assert clock() == pytest.approx(1700000000.75, abs=1e-6)
    now = 71.5
    assert clock() == pytest.approx(1700000061.25, abs=1e-6)


def test_it_is_to_be_learnt_at_first_and_once_in_a_while() -> None:
    now = 10.0
    clock = StoreClock(lambda: now, ask=None)
    assert clock.is_due()
    clock.learn([b"1700000000", b"0"], now)
    now = 70.0
    assert not clock.is_due()
    now = 70.1
    assert clock.is_due()


def test_a_time_that_is_wanted_early_makes_the_store_be_asked() -> None:
    clock = StoreClock(lambda: 10.0, lambda: clock.learn([b"1700000000", b"0"], 10.0))
    assert clock() == 1700000000.0


def test_until_the_store_is_asked_the_machines_own_serves() -> None:
    before = time.time()
    assert before <= StoreClock(lambda: 10.0, ask=None)() <= time.time()
