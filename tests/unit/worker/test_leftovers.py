# SPDX-License-Identifier: MIT
"""What the log says of jobs whose worker died."""

from __future__ import annotations

from functools import partial

import pytest

from pyqless import Client, Job, Queue
from pyqless.core import failures, retrying
from pyqless.worker.leftovers import Dealing, Fate, deal_with, resume
from pyqless.worker.verdicts import Again, Failed
from tests.unit.worker.conftest import Clock


def killed(job: Job) -> Fate:
    """Let a job fail that ran for too long."""
    group, message = failed = Failed("k:Late", "too long")
    fail = partial(
        failures.fail, jid=job.jid, worker="ann", group=group, message=message, data=None
    )
    return Fate(fail, failed)


def died(job: Job) -> Fate:
    """Let a job be tried again whose process died."""
    again = Again(0.0, "k:ChildDied", "it died")
    retry = partial(
        retrying.retry,
        jid=job.jid,
        queue="mail",
        worker="ann",
        group=again.group,
        message=again.message,
    )
    return Fate(retry, again)


@pytest.mark.parametrize(
    ("fate", "retries", "level", "told", "group"),
    [
        (killed, 5, "WARNING", "failed after 7.000 s: too long (group k:Late)", "k:Late"),
        (died, 0, "WARNING", "failed after 7.000 s: it died (group k:ChildDied)", "k:ChildDied"),
        (died, 1, "INFO", "given back after 7.000 s, for 0 s: it died", "k:ChildDied"),
    ],
    ids=["failed", "retries spent", "tried again"],
)
def test_what_becomes_of_a_job_is_told_as_if_its_worker_lived(
    client: Client,
    other: Client,
    queue: Queue,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
    fate: Dealing,
    retries: int,
    level: str,
    told: str,
    group: str,
) -> None:
    caplog.set_level("INFO", "pyqless.worker")
    queue.put("k", {}, jid="J", retries=retries)
    queue.pop()
    clock.now += 7
    assert deal_with(other, "ann", fate) == 1
    assert client.jobs["J"].state == ("failed" if level == "WARNING" else "waiting")
    (record,) = caplog.records
    assert record.levelname == level
    assert record.getMessage().endswith(told)
    fields = {"jid": "J", "klass": "k", "queue": "mail", "worker": "ann", "group": group}
    assert fields.items() <= vars(record).items()


@pytest.mark.parametrize("notes", [0, 9], ids=["in a short history", "whose history is cut"])
def test_only_its_last_run_is_told_of_to_the_millisecond(
    client: Client,
    other: Client,
    queue: Queue,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
    notes: int,
) -> None:
    client.config["max-job-history"] = 5
    queue.put("k", {}, jid="J")
    queue.pop()
    clock.now += 100.875
    client.jobs["J"].timeout()
    (job,) = queue.pop(1)
    for _ in range(notes):
        job.log("at work")
    clock.now += 7.5
    assert deal_with(other, "ann", killed) == 1
    (record,) = (record for record in caplog.records if record.name == "pyqless.worker")
    assert vars(record)["seconds"] == 7.5


def test_jobs_that_are_taken_back_are_counted_and_no_more(
    client: Client, queue: Queue, caplog: pytest.LogCaptureFixture
) -> None:
    for jid in "JK":
        queue.put("k", {}, jid=jid)
    queue.pop(2)
    assert resume(client, "ann") == 2
    assert caplog.messages == ["jobs taken back that an earlier ann had in hand: 2"]
