# SPDX-License-Identifier: MIT
"""Spans of time that workers and jobs are told: a timedelta will do, and seconds are what is kept."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import pytest

from pyqless import Client, Queue
from pyqless.errors import InvalidArgument
from pyqless.testing import Clock, drain
from pyqless.worker import BlockingJob, Retry, Settings, uses
from pyqless.worker.middleware import constant, exponential, linear, retry_on, time_limit

MINUTE: Final = timedelta(minutes=1)

#: the argument, and what has become of a span
CALLS: Final[dict[str, tuple[str, Callable[[Any], Any]]]] = {
    "interval": ("interval", lambda span: Settings(queues=["q"], interval=span).interval),
    "grace": ("grace", lambda span: Settings(queues=["q"], grace=span).grace),
    "constant": ("seconds", lambda span: constant(span)(3)),
    "linear": ("seconds", lambda span: linear(span)(3)),
    "linear's cap": ("cap", lambda span: linear(3600, cap=span)(3)),
    "exponential": ("first", lambda span: exponential(span, jitter=0)(2)),
    "exponential's cap": ("cap", lambda span: exponential(jitter=0, cap=span)(20)),
    "time limit": ("seconds", lambda span: limited(lambda job: time_limited(job, span))),
    "limit_time": ("seconds", lambda span: limited(lambda job: job.limit_time(span))),
    "a backoff of one's own": ("backoff", lambda span: delayed(lambda: backing_off(span))),
    "Retry": ("delay", lambda span: delayed(lambda: giving_back(span))),
}


def limited(limit: Callable[[BlockingJob], None]) -> float:
    """Give the limit of a job that sets itself one, seconds."""
    client = Client("memory://", clock=Clock())
    seen: list[float] = []

    def run(job: BlockingJob) -> None:
        limit(job)
        seen.append(job.attempt.limit)

    client.queues["q"].put("run", {})
    drain(client, code={"run": run})
    return seen[0]


def time_limited(job: BlockingJob, span: Any) -> None:
    with time_limit(span)(job):
        pass


def delayed(make: Callable[[], Callable[[Any], None]]) -> float:
    """Give for how long a job is put off that is to be tried again, seconds."""
    client = Client("memory://", clock=Clock())
    client.queues["q"].put("run", {}, jid="J")
    drain(client, code={"run": make()})
    return (client.jobs["J"].explain().until or 0.0) - client.storage.clock()


def backing_off(span: Any) -> Callable[[Any], None]:
    @uses(retry_on(ValueError, backoff=lambda _: span))
    def run(_job: Any) -> None:
        raise ValueError("away")

    return run


def giving_back(span: Any) -> Callable[[Any], None]:
    def run(_job: Any) -> None:
        raise Retry(span)

    return run


@pytest.mark.parametrize("case", CALLS)
def test_a_timedelta_is_its_seconds(case: str) -> None:
    _, call = CALLS[case]
    found = call(MINUTE)
    assert (found, type(found)) == (call(60.0), float)
    assert found >= 60.0


@pytest.mark.parametrize("case", CALLS)
@pytest.mark.parametrize("bad", [-MINUTE, "5", math.nan, True])
def test_what_is_no_span_is_refused_by_name(case: str, bad: Any) -> None:
    argument, call = CALLS[case]
    with pytest.raises(InvalidArgument) as caught:
        call(bad)
    assert caught.value.argument == argument
    if isinstance(bad, str):
        told = "must be a number of seconds or a timedelta, not str: '5'"
        assert str(caught.value) == f"{argument} {told}"


def test_settings_are_the_same_in_another_process() -> None:
    settings = Settings(queues=["q"], interval=MINUTE, grace=2 * MINUTE)
    again = pickle.loads(pickle.dumps(replace(settings, resume=True)))  # noqa: S301 - our own
    assert (again.interval, again.grace, again.resume) == (60.0, 120.0, True)
    assert replace(settings, resume=False) == settings
    assert "interval=60.0, grace=120.0" in repr(settings)
    assert (Settings(queues=["q"]).interval, Settings(queues=["q"]).grace) == (5.0, 10.0)
    assert Settings(queues=["q"], grace=timedelta(0)).grace == 0.0
    with pytest.raises(AttributeError, match="interval"):
        settings.interval = MINUTE  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]


def test_a_retry_is_the_same_in_another_process() -> None:
    again = pickle.loads(pickle.dumps(Retry(MINUTE, message="away")))  # noqa: S301 - our own
    assert (again.delay, again.message) == (60.0, "away")


def test_what_is_put_off_by_a_span_runs_after_it(client: Client, queue: Queue, clock: Any) -> None:
    queue.put("run", {}, jid="J")
    drain(client, "mail", code={"run": giving_back(timedelta(seconds=30))})
    assert client.jobs["J"].state == "scheduled"
    clock.now += 29
    assert queue.peek() is None
    clock.now += 2
    assert queue.peek() is not None
