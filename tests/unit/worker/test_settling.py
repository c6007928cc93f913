# SPDX-License-Identifier: MIT
"""How the end of a run gets to a store that does not always answer."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from pyqless import Client, Job, Queue
from pyqless.core.settings import set_
from pyqless.errors import (
    ConflictError,
    NotReplicated,
    OutcomeUnknown,
    QlessError,
    StoreRefused,
    StoreUnavailable,
    StoreUnsupported,
)
from pyqless.worker import Runner, StopReason
from pyqless.worker.attempts import Attempt
from pyqless.worker.settling import REFUSED, Settled, settle
from pyqless.worker.verdicts import Again, Done, Failed, Left, Stopped, Untold
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


class Alone(Flaky):
    """A storage whose replicas know of nothing."""

    def run(self, transition: Any) -> Any:
        error = NotReplicated("alone")
        error.result = super().run(transition)
        raise error


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
    return settle(storage, Runner(), Done(None), job, attempt, sleep).verdict, pauses


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
    assert verdict == Untold("its end cannot be told: away")
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


# -- the next job, taken with the end of one -----------------------------------------------------


def turn(storage: Any, job: Job, clock: Clock, runner: Runner | None = None) -> Settled[Job]:
    attempt = Attempt.of(job, clock.now)
    verdict = Done("value")
    return settle(
        storage, runner or Runner(), verdict, job, attempt, lambda _: None, takes_next=True
    )


def test_the_next_job_comes_with_the_end_of_one(
    client: Client, queue: Queue, job: Job, clock: Clock
) -> None:
    queue.put("klass", {}, jid="K")
    clock.now += 5
    before = client.storage.metrics.commits
    verdict, following = turn(client.storage, job, clock)
    assert client.storage.metrics.commits == before + 1
    assert verdict == Done("value")
    assert client.jobs["J"].state == "complete"
    assert following is not None
    assert (following.jid, following.state, following.acting_worker) == ("K", "running", "ann")
    assert following.ttl == client.config["heartbeat"]


def test_of_a_queue_without_jobs_none_comes(client: Client, job: Job, clock: Clock) -> None:
    assert turn(client.storage, job, clock) == (Done("value"), None)
    assert client.jobs["J"].state == "complete"


def test_what_a_job_returned_is_kept_then_too(
    client: Client, queue: Queue, job: Job, clock: Clock
) -> None:
    queue.put("klass", {}, jid="K")
    following = turn(client.storage, job, clock, Runner(keeps_results=True)).following
    assert following is not None
    (entry,) = [entry for entry in client.jobs["J"].history if entry["what"] == "result"]
    assert entry["value"] == "value"


def test_a_queue_that_cannot_hand_out_keeps_no_job_from_its_end(
    client: Client, queue: Queue, job: Job, clock: Clock
) -> None:
    queue.put("klass", {}, jid="K")
    client.storage.run(partial(set_, name="mail-heartbeat", value="often"))
    assert turn(client.storage, job, clock) == (Done("value"), None)
    assert [client.jobs[jid].state for jid in "JK"] == ["complete", "waiting"]


@pytest.mark.parametrize("error", [StoreUnavailable, ConflictError])
def test_an_end_that_goes_only_alone_is_told_alone(
    client: Client, queue: Queue, job: Job, clock: Clock, error: type[QlessError]
) -> None:
    queue.put("klass", {}, jid="K")
    flaky = Flaky(client.storage, error("not now"))
    assert turn(flaky, job, clock) == (Done("value"), None)
    assert flaky.calls == 2
    assert [client.jobs[jid].state for jid in "JK"] == ["complete", "waiting"]


@pytest.mark.parametrize("error", [OutcomeUnknown, StoreUnavailable])
def test_a_turn_that_came_through_although_nobody_knew_is_no_loss(
    client: Client, queue: Queue, job: Job, clock: Clock, error: type[QlessError]
) -> None:
    """Nor is one that came through by half. Of the next job nobody knows, so its lock will expire."""
    queue.put("klass", {}, jid="K")
    flaky = Flaky(client.storage, error("who knows"), late=True)
    assert turn(flaky, job, clock) == (Done("value"), None)
    assert [client.jobs[jid].state for jid in "JK"] == ["complete", "running"]
    client.config["grace-period"] = 0
    clock.now = job.expires_at + 1
    assert [job.jid for job in queue.pop(2)] == ["K"]


def test_the_next_job_is_in_hand_though_no_replica_knows_of_it(
    client: Client, queue: Queue, job: Job, clock: Clock
) -> None:
    queue.put("klass", {}, jid="K")
    verdict, following = turn(Alone(client.storage), job, clock)
    assert verdict == Done("value")
    assert following is not None
    assert following.jid == "K"


@pytest.mark.parametrize("reason", [StopReason.LOST, StopReason.CANCELED])
def test_the_end_of_a_job_that_is_lost_takes_no_other(
    client: Client, queue: Queue, job: Job, clock: Clock, reason: StopReason
) -> None:
    queue.put("klass", {}, jid="K")
    mine = client.jobs["J"]
    mine.cancel() if reason is StopReason.CANCELED else mine.timeout()
    settled = turn(client.storage, job, clock)
    assert settled.verdict == Stopped(reason)
    assert settled.following is None
    assert client.jobs["K"].state == "waiting"


def test_a_result_that_cannot_be_kept_takes_no_other(
    client: Client, queue: Queue, job: Job, clock: Clock
) -> None:
    queue.put("klass", {}, jid="K")
    job.data = {"bad": object()}
    settled = turn(client.storage, job, clock)
    assert isinstance(settled.verdict, Failed)
    assert settled.following is None
    assert [client.jobs[jid].state for jid in "JK"] == ["failed", "waiting"]


# -- what is logged ---------------------------------------------------------------------------

TRACE = 'Traceback (most recent call last):\n  File "jobs.py", line 1, in run\n'


@pytest.mark.parametrize(
    ("verdict", "level", "told"),
    [
        (
            Failed("k:ValueError", TRACE + "ValueError: bad"),
            "WARNING",
            "failed after 0.000 s: ValueError: bad (group k:ValueError)",
        ),
        (Again(3.0, "k:OSError", TRACE + "OSError: no"), "INFO", "for 3 s: OSError: no"),
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


@pytest.mark.parametrize(
    ("verdict", "group", "told"),
    [
        (Again(3.0, "k:OSError", TRACE + "OSError: no"), "k:OSError", "OSError: no"),
        (Again(3.0), "failed-retries-mail", 'Job exhausted retries in queue "mail"'),
    ],
    ids=["retry_on", "Retry"],
)
@pytest.mark.parametrize("doubtful", [False, True], ids=["answered", "answer lost"])
def test_a_job_without_retries_left_has_failed_and_the_log_says_so(
    client: Client,
    queue: Queue,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
    verdict: Again,
    group: str,
    told: str,
    *,
    doubtful: bool,
) -> None:
    queue.put("klass", {}, jid="J", retries=0)
    (job,) = queue.pop(1)
    errors = [OutcomeUnknown("who knows")] if doubtful else []
    storage: Any = Flaky(client.storage, *errors, late=True)
    attempt = Attempt.of(job, clock.now)
    settled = settle(storage, Runner(), verdict, job, attempt, lambda _: None)
    assert list(client.jobs.failed()) == [group]
    assert isinstance(settled.verdict, Failed)
    record = caplog.records[-1]
    assert record.levelname == "WARNING"
    assert record.getMessage() == (
        f"job J (klass) from mail failed after 0.000 s: {told} (group {group})"
    )
    assert _fields_of(record) == {
        "jid": "J",
        "klass": "klass",
        "queue": "mail",
        "worker": "ann",
        "seconds": 0.0,
        "outcome": "failed",
        "group": group,
    }


def test_a_job_without_retries_left_has_failed_though_no_replica_knows_of_it(
    client: Client, queue: Queue, clock: Clock
) -> None:
    queue.put("klass", {}, jid="J", retries=0)
    (job,) = queue.pop(1)
    storage: Any = Alone(client.storage)
    settled = settle(storage, Runner(), Again(3.0, "g", "m"), job, Attempt.of(job, clock.now))
    assert settled.verdict == Failed("g", "m")


def test_a_job_that_has_failed_itself_is_told_as_any_other(
    client: Client, job: Job, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    job.fail("mine", "it is no good\nat all")
    settle(client.storage, Runner(), Left(), job, Attempt.of(job, clock.now))
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage().endswith("failed after 0.000 s: it is no good (group mine)")
    assert (record.__dict__["jid"], record.__dict__["group"]) == ("J", "mine")


@pytest.mark.parametrize(
    ("verdict", "fields"),
    [
        (Done(None), {"outcome": "done"}),
        (Again(3.0), {"outcome": "again", "delay": 3.0}),
        (Again(3.0, "g", "m"), {"outcome": "again", "delay": 3.0, "group": "g"}),
        (Again(3.0, "x" * 200, "m"), {"outcome": "again", "delay": 3.0, "group": "x" * 120}),
        (Failed("x" * 200, "m"), {"outcome": "failed", "group": "x" * 120}),
        (Stopped(StopReason.DROPPED), {"outcome": "stopped", "reason": "dropped"}),
        (Left(), {"outcome": "left"}),
    ],
)
def test_the_log_has_fields(
    client: Client,
    job: Job,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
    verdict: Any,
    fields: dict[str, Any],
) -> None:
    caplog.set_level("INFO", "pyqless.worker")
    attempt = Attempt.of(job, clock.now)
    clock.now += 2
    settle(client.storage, Runner(), verdict, job, attempt)
    (record,) = caplog.records
    assert _fields_of(record) == {**attempt.fields, "seconds": 2.0, **fields}


def test_a_worker_without_time_leaves_the_job_to_its_lock(
    client: Client, job: Job, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """The first fault is told loudly, those after it are not."""
    flaky: Any = Flaky(client.storage, *[StoreUnavailable("away")] * 9)
    attempt = Attempt.of(job, clock.now)
    over = iter([False, False, True])
    settled = settle(
        flaky, Runner(), Done(None), job, attempt, lambda _: None, gives_up=lambda: next(over)
    )
    assert settled.verdict == Untold("its end cannot be told: away")
    assert flaky.calls == 3
    assert caplog.messages == [
        "job J: its end is told again: away",
        "job J (klass) is left to its lock after 0.000 s: its end cannot be told: away",
    ]
    assert _fields_of(caplog.records[-1])["outcome"] == "left"


REFUSALS = [StoreUnsupported("you may not"), StoreRefused("no memory")]


@pytest.mark.parametrize("error", REFUSALS, ids=["rights", "room"])
def test_a_store_that_refuses_the_end_is_not_asked_for_ever(
    client: Client, job: Job, clock: Clock, error: QlessError
) -> None:
    """Its lock is renewed all the while, so that this is no reason to end."""
    attempt = Attempt.of(job, clock.now)
    flaky: Any = Flaky(client.storage, *[error] * 1000)

    def beat(_: float) -> None:
        clock.now += 7
        attempt.expires = clock.now + 60

    settled = settle(flaky, Runner(), Done(None), job, attempt, beat)
    assert settled.verdict == Untold(f"its end cannot be told: {error}")
    assert flaky.calls == REFUSED // 7 + 2


def test_a_store_that_was_away_in_between_is_asked_again(
    client: Client, job: Job, clock: Clock
) -> None:
    attempt = Attempt.of(job, clock.now)
    faults = [StoreRefused("no memory")] * 7 + [StoreUnavailable("away")]
    flaky: Any = Flaky(client.storage, *faults * 3)

    def beat(_: float) -> None:
        clock.now += 7
        attempt.expires = clock.now + 60

    assert settle(flaky, Runner(), Done(None), job, attempt, beat).verdict == Done(None)


def test_data_that_breaks_the_encoder_fails_the_job(url: str, queue: Queue, clock: Clock) -> None:
    queue.put("klass", {"n": 1}, jid="J")
    with Client(url, clock=clock, worker_name="ann", encoder=lambda value: value.name) as client:
        for takes_next in (True, False):
            (job,) = client.queues["mail"].pop(1)
            job.data["made"] = object()
            told = (
                turn(client.storage, job, clock) if takes_next else tell(client.storage, job, clock)
            )
            assert isinstance(told[0], Failed)
            assert told[0].group == "klass:AttributeError"
            failed = client.jobs["J"]
            assert (failed.state, failed.data) == ("failed", {"n": 1})
            failed.requeue("mail")


def _fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """What a record has beside what every record has."""
    plain = vars(logging.makeLogRecord({})).keys() | {"message", "taskName"}
    return {name: value for name, value in vars(record).items() if name not in plain}
