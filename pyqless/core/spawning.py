# SPDX-License-Identifier: MIT
"""The jobs that recurring jobs make when they are due (check_recurring in queue.lua)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from pyqless.core import history, lua, tags
from pyqless.core.candidates import Found, Place, set_aside
from pyqless.core.effects import Transition
from pyqless.core.expecting import note_run
from pyqless.core.lookup import load
from pyqless.core.models import RecurringJob
from pyqless.core.places import work_score
from pyqless.core.settings import Settings
from pyqless.core.transaction import Transaction
from pyqless.errors import DanglingEntry, StoreCorrupted

__all__ = ["spawn"]


class _Run(NamedTuple):
    """One job to be made."""

    parent: RecurringJob
    jid: str
    #: when it was due, Unix time, seconds
    moment: float


def spawn(
    tx: Transaction,
    queue: str,
    due: list[tuple[tuple[str, float], Any]],
    wanted: int,
    settings: Settings,
    *,
    known: dict[str, Found],
    goes_on: bool = False,
) -> Transition[dict[str, float]]:
    """
    Make the jobs that are due.

    Args:
        due: recurring jobs with the moment of their next run, the longest due first, each with
            its hash, guarded, or the fault that stands in the way.
        wanted: how many jobs to make at most.
        settings: those of histories.
        known: the jobs that have been looked up, by jid; those that are made are added.
        goes_on: whether some of theirs were made just before, so that the core would not look anew at when to begin.

    Returns:
        dict: the scores in ``work``, by jid.
    """
    runs: list[_Run] = []
    for (jid, moment), row in due:
        if len(runs) >= wanted:
            break
        try:
            parent = _checked(tx, jid, row)
            first_run = moment if goes_on else _first_run(parent, moment, tx.now)
            runs += _plan(tx, queue, parent, first_run, wanted - len(runs))
        except StoreCorrupted as fault:
            set_aside(tx, queue, Place(tx.keys.recur(queue), jid, moment), fault)
    unseen = [run.jid for run in runs if run.jid not in known]
    if unseen:
        more, _ = yield from load(tx, unseen)
        known |= more.jobs
    return {run.jid: _make(tx, queue, run, known[run.jid], settings) for run in runs}


def _checked(tx: Transaction, jid: str, row: Any) -> RecurringJob:
    if isinstance(row, StoreCorrupted):
        raise row
    if not row:
        key = tx.keys.recurring_job(jid)
        raise DanglingEntry(f"recurring job {jid!r} is named, but not there", argument=key)
    return RecurringJob({**row, "jid": jid})


def _plan(
    tx: Transaction, queue: str, parent: RecurringJob, first_run: float, wanted: int
) -> list[_Run]:
    """The runs that are due; the parent's count and next run move on."""
    moments = list(_moments(parent, first_run, tx.now, wanted))
    if not moments:
        return []
    for name in ("klass", "data"):
        parent.text(name)
    for name in ("priority", "retries"):
        parent.number(name)
    parent.tag_list()
    first = parent.whole("count") + 1
    tx.hincrby(tx.keys.recurring_job(parent.jid), "count", len(moments))
    following = moments[-1] + parent.number("interval")
    tx.zadd(tx.keys.recur(queue), following, parent.jid)
    note_run(tx, queue, parent.jid, following)
    return [
        _Run(parent, f"{parent.jid}-{number}", moment)
        for number, moment in enumerate(moments, first)
    ]


def _first_run(parent: RecurringJob, next_run: float, now: float) -> float:
    """The first run that is made of those due; a backlog limits how many are. Infinite if none is."""
    moment = lua.floor(next_run)
    interval = parent.number("interval")
    backlog = parent.number("backlog", 0.0)
    if backlog != 0 and interval == 0 and now != moment:
        # the core divides by it here, and gets a next run that is no number and never due
        return math.inf
    if backlog != 0 and interval != 0:
        overdue = (now - moment) / interval
        if overdue > backlog:
            moment += lua.ceil(overdue - backlog) * interval
    return moment


def _moments(parent: RecurringJob, moment: float, now: float, wanted: int) -> Iterator[float]:
    interval = parent.number("interval")
    while moment <= now and wanted > 0:
        yield moment
        moment += interval
        wanted -= 1


def _make(tx: Transaction, queue: str, run: _Run, found: Found, settings: Settings) -> float:
    """Write one job over whatever has its jid, unless there is no writing over that; returns its score."""
    parent = run.parent
    score = work_score(parent.number("priority"), run.moment)
    try:
        if isinstance(found, StoreCorrupted):
            raise found
        history.migrate(tx, run.jid, found.job.fields)
    except StoreCorrupted as fault:
        tx.reports.append(fault)
        return score
    retries = parent.text("retries")
    tags.index(tx, run.jid, parent.tag_list())
    found.job.set(
        *("jid", run.jid, "klass", parent.text("klass"), "data", parent.text("data")),
        *("priority", parent.text("priority"), "tags", parent.text("tags")),
        *("state", "waiting", "worker", "", "expires", "0", "queue", queue),
        *("retries", retries, "remaining", retries),
        *("time", lua.timestamp(run.moment), "spawned_from_jid", parent.jid),
    )
    found.job.record(settings.history_limit(), "put", q=queue, moment=run.moment)
    tx.zadd(tx.keys.work(queue), score, run.jid)
    return score
