# SPDX-License-Identifier: MIT
"""When locks are renewed, and what becomes of jobs whose locks are not."""

from __future__ import annotations

import math

import pytest

from pyqless.errors import JobLost, JobNotFound, NotRunning, QlessError, StoreUnavailable
from pyqless.worker.attempts import Attempt
from pyqless.worker.heartbeats import Heartbeats
from pyqless.worker.stopping import StopReason


def attempt(expires: float = 160.0, jid: str = "J") -> Attempt:
    return Attempt(jid, "klass", "q", "w", expires, began=100.0)


def test_a_lock_is_renewed_after_a_third_of_its_time() -> None:
    book = Heartbeats()
    assert book.wait(100.0) == math.inf
    book.add(job := attempt(), 100.0)
    assert book.wait(100.0) == pytest.approx(20.0)
    assert book.due(119.9) == []
    assert book.due(120.1) == [job]
    book.beaten(job, 180.1, 120.1)
    assert job.expires == 180.1
    assert book.wait(120.1) == pytest.approx(20.0)


def test_a_store_that_is_away_is_asked_again_until_the_lock_expires() -> None:
    book = Heartbeats()
    book.add(job := attempt(), 100.0)
    away = StoreUnavailable("away")
    book.failed(job, away, 120.0)
    assert 0 < book.wait(120.0) <= 1.0
    assert job.stopped is None
    book.failed(job, away, 159.9)
    assert book.wait(159.9) < 0.1
    book.failed(job, away, 160.0)
    assert job.stopped is StopReason.LOST
    assert len(book) == 0


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (JobNotFound("gone"), StopReason.CANCELED),
        (NotRunning("gone"), StopReason.LOST),
        (JobLost("gone"), StopReason.LOST),
    ],
)
def test_a_lock_that_is_gone_stops_the_job_once(error: QlessError, reason: StopReason) -> None:
    told: list[StopReason] = []
    book = Heartbeats()
    book.add(job := attempt(), 100.0)
    job.on_stop = told.append
    book.failed(job, error, 120.0)
    assert told == [reason]
    assert book.due(math.inf) == []


def test_a_lock_that_went_with_the_jobs_own_end_is_no_loss() -> None:
    book = Heartbeats()
    book.add(job := attempt(), 100.0)
    job.settle()
    book.failed(job, NotRunning("complete"), 120.0)
    assert job.stopped is None
    assert len(book) == 0


@pytest.mark.parametrize(("now", "kept"), [(159.0, 1), (160.0, 0)])
def test_a_lock_that_runs_out_while_an_end_is_told_is_no_loss(now: float, kept: int) -> None:
    """Whoever tells it goes on for some seconds more, and hears of it if it is lost."""
    book = Heartbeats()
    book.add(job := attempt(), 100.0)
    job.settle()
    book.failed(job, StoreUnavailable("away"), now)
    assert job.stopped is None
    assert len(book) == kept


def test_word_of_a_loss_makes_it_ask_at_once() -> None:
    book = Heartbeats()
    book.add(job := attempt(), 100.0)
    book.hasten("another")
    assert book.due(101.0) == []
    book.hasten("J")
    assert book.wait(101.0) == 0.0
    assert book.due(101.0) == [job]


def test_a_time_limit_stops_the_job_and_keeps_the_lock() -> None:
    book = Heartbeats()
    book.add(job := attempt(), 100.0)
    job.limit_time(5.0)
    job.limit_time(50.0)
    assert book.wait(100.0) == pytest.approx(5.0)
    assert book.due(105.0) == []
    assert job.stopped is StopReason.TIME_LIMIT
    assert book.due(121.0) == [job]


def test_a_lost_lock_counts_more_than_other_reasons() -> None:
    job = attempt()
    job.stop(StopReason.STOPPING)
    told: list[StopReason] = []
    job.on_stop = told.append
    job.stop(StopReason.DROPPED)
    job.stop(StopReason.LOST)
    job.stop(StopReason.CANCELED)
    assert told == [StopReason.LOST]
    assert not job.holds


def test_another_run_of_the_same_job_takes_the_place() -> None:
    book = Heartbeats()
    book.add(old := attempt(), 100.0)
    book.add(new := attempt(200.0), 150.0)
    book.remove(old)
    assert book.get("J") is new
    assert list(book) == [new]
