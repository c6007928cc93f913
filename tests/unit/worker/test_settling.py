# SPDX-License-Identifier: MIT
"""How the end of a run gets to a store that does not always answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pyqless import Client, Job, Queue
from pyqless.errors import ConflictError, OutcomeUnknown, QlessError, StoreUnavailable
from pyqless.worker import Runner, StopReason
from pyqless.worker.attempts import Attempt
from pyqless.worker.settling import settle
from pyqless.worker.verdicts import Again, Done, Failed, Left, Stopped
from tests.unit.worker.conftest import Clock


class Flaky:
    """A storage that answers a few calls with errors; ``late`` ones are carried out all the same."""

    def __init__(self, storage: Any, *errors: QlessError, late: bool = False) -> None:
        self._storage = storage
        self._errors: Iterator[QlessError] = iter(errors)
        self._late = late
        self.clock = storage.clock
        self.calls = 0

    def run(self, transition: Any) -> Any:
        self.calls += 1
        if (error := next(self._errors, None)) is not None:
            if self._late:
                self._storage.run(transition)
            raise error
        return self._storage.run(transition)


@pytest.fixture
def job(queue: Queue) -> Job:
    queue.put("klass", {}, jid="J")
    job = queue.pop()
    assert job is not None
    return job


def tell(storage: Any, job: Job, clock: Clock, *, seconds: float = 1.0) -> tuple[Any, list[float]]:
    pauses: list[float] = []

    def sleep(pause: float) -> None:
        pauses.append(pause)
        clock.now += seconds

    attempt = Attempt.of(job, clock.now)
    return settle(storage, Runner(), Done(None), job, attempt, sleep), pauses


def test_it_is_told_again_with_pauses(client: Client, job: Job, clock: Clock) -> None:
    away = StoreUnavailable("away")
    flaky = Flaky(client.storage, away, ConflictError("conflict"), away)
    verdict, pauses = tell(flaky, job, clock)
    assert verdict == Done(None)
    assert client.jobs["J"].state == "complete"
    assert flaky.calls == 4
    assert len(pauses) == 3
    assert all(pause > 0 for pause in pauses)


def test_an_end_that_came_through_although_nobody_knew_is_no_loss(
    client: Client, job: Job, clock: Clock
) -> None:
    flaky = Flaky(client.storage, OutcomeUnknown("who knows"), late=True)
    assert tell(flaky, job, clock)[0] == Done(None)
    assert client.jobs["J"].state == "complete"


def test_it_is_given_up_when_the_lock_is_over(client: Client, job: Job, clock: Clock) -> None:
    flaky = Flaky(client.storage, *[StoreUnavailable("away")] * 1000)
    verdict, pauses = tell(flaky, job, clock, seconds=30.0)
    assert verdict == Left()
    assert 2 <= len(pauses) <= 4
    assert client.jobs["J"].state == "running"


def test_a_job_that_is_anothers_is_lost(
    client: Client, other: Client, job: Job, clock: Clock
) -> None:
    job.client.jobs["J"].timeout()
    assert other.queues["mail"].pop() is not None
    assert tell(client.storage, job, clock)[0] == Stopped(StopReason.LOST)
    assert client.jobs["J"].worker_name == "bob"


def test_a_group_is_made_fit_for_a_key(client: Client, job: Job, clock: Clock) -> None:
    verdict = Failed("x" * 500 + "\n", "message")
    settle(client.storage, Runner(), verdict, job, Attempt.of(job, clock.now))
    assert list(client.jobs.failed()) == ["x" * 120]


# -- what is logged ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdict", "level", "told"),
    [
        (
            Failed("k:ValueError", "Traceback\n  line\nValueError: bad"),
            "WARNING",
            "failed after 0.000 s: ValueError: bad (group k:ValueError)",
        ),
        (Again(3.0, "k:OSError", "Traceback\n  line\nOSError: no"), "INFO", "for 3 s: OSError: no"),
        (Again(3.0), "INFO", "for 3 s: it asked for that"),
    ],
)
def test_the_log_says_why(
    client: Client,
    job: Job,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
    verdict: Failed | Again,
    level: str,
    told: str,
) -> None:
    caplog.set_level("DEBUG", "pyqless.worker")
    settle(client.storage, Runner(), verdict, job, Attempt.of(job, clock.now))
    *details, last = caplog.records
    assert last.levelname == level
    assert told in last.getMessage()
    assert [record.levelname for record in details] == ["DEBUG"]
    assert (verdict.message or "") in details[0].getMessage()
