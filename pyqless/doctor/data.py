# SPDX-License-Identifier: MIT
"""Damaged data: entries without a job, and jobs that make no sense. A bounded look that changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any, Final, NamedTuple

from pyqless.core import records
from pyqless.core.candidates import found_in, shown_reads
from pyqless.core.effects import Command, Replies, Transition, raise_first
from pyqless.core.keys import Keys
from pyqless.core.models import RecurringJob
from pyqless.core.transaction import Transaction
from pyqless.core.wording import counted
from pyqless.doctor.report import Check, Verdict
from pyqless.errors import DanglingEntry, StoreCorrupted
from pyqless.storage.base import Storage

__all__ = ["Survey", "data", "survey"]

#: entries to look at, all in all, and at each end of a queue's set or a list
LIMIT: Final = 1000
END: Final = 50
#: faults to tell in full
TOLD: Final = 3


class Survey(NamedTuple):
    """What a look at the data has found."""

    entries: int
    faults: list[StoreCorrupted]
    #: whether there was more than could be looked at
    cut: bool


def data(storage: Storage) -> Check:
    """Look at the jobs of the first queues and failure groups."""
    found = storage.run(lambda tx: survey(tx, LIMIT))
    seen = (
        f"{'the first ' if found.cut else ''}{counted(found.entries, 'entry', 'entries')} looked at"
    )
    if not found.faults:
        return Check("data", Verdict.OK, f"{seen}, none of them damaged")
    told = "; ".join(str(fault) for fault in found.faults[:TOLD])
    more = f"; and {len(found.faults) - TOLD} more" if len(found.faults) > TOLD else ""
    advice = (
        "pop passes them over: it removes entries without a job, and leaves damaged jobs to you"
    )
    return Check("data", Verdict.WARNING, f"{seen}, damaged: {told}{more}", advice)


class _Place(NamedTuple):
    """Where jids stand."""

    #: give some of them
    where: tuple[Command, ...]
    #: what is read of each, and what finds the fault in it
    reads: Callable[[Keys, str], tuple[Command, ...]]
    check: Callable[[Transaction, str, Replies], None]


def survey(tx: Transaction, limit: int) -> Transition[Survey]:
    """
    Look for damage in the places that a queue hands out jobs from, and in the lists of failed jobs.

    Args:
        limit: how many entries to look at, roughly.
    """
    keys, entries, faults = tx.keys, 0, list[StoreCorrupted]()
    known = yield from tx.snapshot(
        ("ZRANGE", keys.queues, 0, limit - 1), ("SMEMBERS", keys.failures), tolerant=True
    )
    faults += (reply for reply in known if isinstance(reply, StoreCorrupted))
    queues, groups = ([] if isinstance(reply, StoreCorrupted) else reply for reply in known)
    for place in _places(keys, queues, sorted(groups)):
        if entries >= limit:
            return Survey(entries, faults, cut=True)
        number, found = yield from _examine(tx, place)
        entries, faults = entries + number, faults + found
    return Survey(entries, faults, cut=False)


def _places(keys: Keys, queues: list[str], groups: list[str]) -> Iterator[_Place]:
    for queue in queues:
        for key in (keys.locks, keys.scheduled, keys.depends):
            yield _Place((_first("ZRANGE", key(queue)),), _job_reads, _check_job)
        # what goes next stands at the one end, what was set aside at the other
        work = keys.work(queue)
        ends = (_first("ZRANGE", work), ("ZRANGE", work, -END, -1))
        yield _Place(ends, _job_reads, _check_job)
        yield _Place((_first("ZRANGE", keys.recur(queue)),), _recurring_reads, _check_recurring)
    for group in groups:
        yield _Place((_first("LRANGE", keys.failed(group)),), _job_reads, _check_job)


def _first(name: str, key: str) -> Command:
    return (name, key, 0, END - 1)


def _examine(tx: Transaction, place: _Place) -> Transition[tuple[int, list[StoreCorrupted]]]:
    """Read the place again together with its jobs: one that has left it meanwhile is none of its faults."""
    found = yield from tx.snapshot(*place.where, tolerant=True)
    if isinstance(found[0], StoreCorrupted):
        return 0, [found[0]]
    jids = list(dict.fromkeys(chain.from_iterable(found)))
    reads = (read for jid in jids for read in place.reads(tx.keys, jid))
    replies = yield from tx.snapshot(*place.where, *reads, tolerant=True)
    raise_first(replies[: len(found)])
    still = set(chain.from_iterable(replies[: len(found)]))
    faults, rest = [], iter(replies[len(found) :])
    for jid in jids:
        of_job = list(islice(rest, len(place.reads(tx.keys, jid))))
        try:
            if jid in still:
                place.check(tx, jid, of_job)
        except StoreCorrupted as fault:
            faults.append(fault)
    return len(jids), faults


def _job_reads(keys: Keys, jid: str) -> tuple[Command, ...]:
    return (*records.reads(keys, jid), *shown_reads(keys, jid))


def _check_job(tx: Transaction, jid: str, replies: Replies) -> None:
    # what the check would migrate is staged in a transaction that nobody commits
    found_in(Transaction(tx.now, tx.keys), jid, replies).check()


def _recurring_reads(keys: Keys, jid: str) -> tuple[Command, ...]:
    return (("HGETALL", keys.recurring_job(jid)),)


def _check_recurring(tx: Transaction, jid: str, replies: Replies) -> None:
    raise_first(replies)
    row: dict[str, Any] = replies[0]
    if not row:
        key = tx.keys.recurring_job(jid)
        raise DanglingEntry(
            f"a queue names recurring job {jid!r}, which is not there", argument=key
        )
    job = RecurringJob({**row, "jid": jid})
    for name in ("klass", "data", "retries"):
        job.text(name)
    for name in ("priority", "interval"):
        job.number(name)
    job.tag_list()
    job.whole("count")
