# SPDX-License-Identifier: MIT
"""
What qless does, shown on a store in this process: ``python -m pyqless.demo``.

Two workers share a queue. The clock moves when the story says so, and nobody waits.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from pyqless import Client, Job, errors

__all__ = ["Stage", "main", "play", "table"]

#: columns of the output
WIDTH: Final = 80

#: when the story begins, Unix time in seconds
START: Final = 1_700_000_000.0

INTRODUCTION: Final = """\
Two workers, ann and bob, share a queue of mails. The store is in this process;
Client("redis://...") does the same on Redis, and no script runs there either.
"""


class Stage:
    """The workers, the clock, and what has been told so far."""

    def __init__(self) -> None:
        self.now = START
        self.told: list[tuple[str, str, str, str]] = []
        self.ann, self.bob = (
            Client("memory://demo", worker_name=name, clock=lambda: self.now)
            for name in ("ann", "bob")
        )
        self.ann.storage.flush()

    def at(self, seconds: float) -> None:
        """Move the clock to so many seconds after the beginning."""
        self.now = START + seconds

    def tell(self, job: str, event: str, reason: str) -> None:
        """Say what has happened to a job, and why."""
        self.told.append((f"{self.now - START:3.0f} s", job, event, reason))

    def pop(self, worker: Client, reason: str) -> Job:
        """Let a worker take the job that goes first."""
        (job,) = worker.queues["mail"].pop(1)
        self.tell(job.jid, f"popped by {job.worker_name}", reason)
        return job

    def complete(self, job: Job, reason: str) -> None:
        """Let the worker that has a job in hand complete it."""
        state = job.complete()
        self.tell(job.jid, f"{state}, by {job.acting_worker}", reason)


# -- the story --------------------------------------------------------------------------------


def play(stage: Stage) -> None:
    """Let it all happen."""
    _put(stage)
    _work(stage)
    _lose_a_lock(stage)
    stage.ann.queues["mail"].unfail("printer")
    stage.tell("receipt", "unfailed", "the printer has paper; it waits again")


def _put(stage: Stage) -> None:
    mail = stage.ann.queues["mail"]
    mail.put("Newsletter", jid="newsletter")
    stage.tell("newsletter", "put", "it waits until a worker pops it")
    mail.put("Invoice", {"amount": 12}, jid="invoice", priority=10)
    stage.tell("invoice", "put, priority 10", "the greater priority goes first")
    mail.put("Receipt", jid="receipt", depends=["invoice"])
    stage.tell("receipt", "put, depends", "not before invoice is complete")
    mail.put("Reminder", jid="reminder", delay=60)
    stage.tell("reminder", "put, delay 60 s", "not before its time")
    mail.recur("Report", None, 3600, jid="report", offset=100)
    stage.tell("report", "put, every 3600 s", "it makes jobs, the first in 100 s")


def _work(stage: Stage) -> None:
    stage.at(1)
    invoice = stage.pop(stage.ann, "priority 10 goes before 0")
    newsletter = stage.pop(stage.bob, "invoice is ann's now, receipt has to wait")
    stage.at(5)
    stage.complete(invoice, "this lets receipt go")
    receipt = stage.pop(stage.ann, "what it depended on is complete")
    stage.at(8)
    receipt.fail("printer", "out of paper")
    stage.tell("receipt", "failed, by ann", "out of paper; it rests in group 'printer'")
    stage.at(50)
    until = newsletter.heartbeat() - START
    stage.tell("newsletter", "heartbeat of bob", f"its lock now holds until {until:.0f} s")
    stage.at(90)
    left = newsletter.retry(delay=600)
    stage.tell("newsletter", "given back by bob", f"try again in 600 s; {left} retries are left")


def _lose_a_lock(stage: Stage) -> None:
    reminder = stage.pop(stage.ann, "its delay is over; but ann's machine hangs")
    stage.at(101)
    report = stage.pop(stage.bob, "the recurring job report has made it")
    stage.complete(report, "the next one is made at 3700 s")
    stage.at(155)
    found = stage.bob.queues["mail"].pop()
    event = "bob pops nothing" if found is None else f"bob pops {found.jid}"
    stage.tell("reminder", event, "lock expired at 150 s; ann has 10 s grace")
    stage.at(166)
    again = stage.pop(stage.bob, "ann is silent; this costs one retry")
    stage.at(170)
    try:
        reminder.complete()
    except errors.JobLost as lost:
        stage.tell("reminder", "ann is too late", f"JobLost: the lock is {lost.value}'s now")
    stage.complete(again, "it was not lost, and is completed once")


# -- printing ---------------------------------------------------------------------------------


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lay out a table in lines of at most ``WIDTH``; the last column takes what is left, and wraps."""
    sizes = [max(map(len, column)) for column in zip(heads, *rows, strict=True)][:-1]
    rest = WIDTH - sum(sizes) - 2 * len(sizes)
    margin = " " * (WIDTH - rest)
    for row in (heads, ["-" * size for size in (*sizes, rest)], *rows):
        first = "  ".join(text.ljust(size) for text, size in zip(row, sizes, strict=False))
        wrapped = textwrap.wrap(row[-1], rest) or [""]
        yield f"{first}  {wrapped[0]}".rstrip()
        yield from (margin + line for line in wrapped[1:])


def _outcome(client: Client) -> Iterator[tuple[str, str, str, str]]:
    """Where each job has ended up."""
    jids = ("invoice", "newsletter", "receipt", "reminder", "report-1")
    for job in client.jobs.multiget(*jids):
        events = ", ".join(entry["what"] for entry in job.history)
        yield job.jid, job.state, f"{job.remaining} of {job.retries}", events
    report = client.recurring["report"]
    yield report.jid, "recurring", "", f"has made {report.count} job"


def main() -> None:
    """Tell the story."""
    stage = Stage()
    play(stage)
    print(INTRODUCTION)
    print(*table(("when", "job", "what happens", "because"), stage.told), sep="\n")
    print()
    print(*table(("job", "state", "retries", "its history"), [*_outcome(stage.ann)]), sep="\n")


if __name__ == "__main__":
    main()
