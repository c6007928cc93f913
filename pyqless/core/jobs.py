# SPDX-License-Identifier: MIT
"""Looking at jobs, and the small changes to one: its priority, an entry in its history."""

from __future__ import annotations

from collections.abc import Iterable

from pyqless.core import history, lua, records
from pyqless.core.candidates import found_in, shown_reads
from pyqless.core.effects import Replies, Transition
from pyqless.core.models import Job
from pyqless.core.records import StoredJob
from pyqless.core.settings import Settings
from pyqless.core.transaction import Transaction
from pyqless.errors import DanglingEntry, JobNotFound, StoreCorrupted

__all__ = ["absent", "get", "log", "look", "set_priority", "views"]


def get(tx: Transaction, jid: str) -> Transition[Job | None]:
    """
    A job, or None where there is none.

    Raises:
        StoreCorrupted: the job makes no sense.
    """
    (seen,) = yield from look(tx, [jid])
    if isinstance(seen, StoreCorrupted):
        raise seen
    return seen


def views(tx: Transaction, jids: Iterable[str]) -> Transition[list[Job]]:
    """The jobs that there are; damaged ones are left out and reported."""
    seen = yield from look(tx, list(jids))
    tx.reports += [fault for fault in seen if isinstance(fault, StoreCorrupted)]
    return [job for job in seen if isinstance(job, Job)]


def look(tx: Transaction, jids: list[str]) -> Transition[list[Job | StoreCorrupted | None]]:
    """
    Read jobs at one instant: for each the job, what is wrong with it, or None where there is none.

    An old-style history is moved to its list, so then the jobs are read again, guarded.
    """
    keys = tx.keys
    reads = [read for jid in jids for read in (*records.reads(keys, jid), *shown_reads(keys, jid))]
    if not reads:
        return []
    replies = yield from tx.snapshot(*reads, tolerant=True)
    if any(isinstance(reply, dict) and "history" in reply for reply in replies[::5]):
        replies = yield from tx.read(
            *reads,
            last=True,
            tolerant=True,
        )
    return [_seen(tx, jid, replies[5 * at : 5 * at + 5]) for at, jid in enumerate(jids)]


def _seen(tx: Transaction, jid: str, replies: Replies) -> Job | StoreCorrupted | None:
    try:
        candidate = found_in(tx, jid, replies)
        candidate.check()
    except DanglingEntry:
        return None
    except StoreCorrupted as fault:
        return fault
    return candidate.view()


def set_priority(tx: Transaction, jid: str, priority: float) -> Transition[float]:
    """
    Change a job's priority (QlessJob:priority).

    A waiting job then goes ahead of its peers: its score is the bare priority.

    Raises:
        JobNotFound: there is no such job.
    """
    key = tx.keys.job(jid)
    (queue,) = yield from tx.read(("HGET", key, "queue"), last=True)
    if queue is None:
        raise absent(jid, f"Priority(): Job {jid} does not exist")
    if queue:
        tx.zadd_existing(tx.keys.work(queue), priority, jid)
    tx.hset(key, "priority", lua.argument(priority))
    return priority


def log(tx: Transaction, jid: str, message: str, data: str | None) -> Transition[None]:
    """
    Append an entry to a job's history.

    Args:
        data: JSON text of what is kept beside the message, or None for nothing.

    Raises:
        JobNotFound: there is no such job.
    """
    keys = tx.keys
    names = ("max-job-history",)
    fields, entries, texts = yield from tx.read(
        *records.reads(keys, jid),
        Settings.read(keys, names),
        last=True,
    )
    if not fields:
        raise absent(jid, f"Log(): Job {jid} does not exist")
    job = StoredJob(tx, jid, fields, entries)
    entry = history.entry_with(tx.now, message, data)
    job.append(Settings(names, texts).history_limit(), entry)


def absent(jid: str, lua_text: str) -> JobNotFound:
    """The error that says that there is no such job."""
    return JobNotFound(f"there is no job {jid!r}", argument="jid", value=jid, lua=lua_text)
