# SPDX-License-Identifier: MIT
"""Failed jobs: their groups, how a job gets in and out (fail, unfail and failed in the core)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from pyqless.core import lua, records, statistics
from pyqless.core.effects import Continue, Replies, Transition
from pyqless.core.messages import publish_event, publish_log
from pyqless.core.ownership import FAIL, require_lock
from pyqless.core.paging import page, whole
from pyqless.core.places import enqueue, leave
from pyqless.core.records import StoredJob
from pyqless.core.settings import Settings
from pyqless.core.transaction import Transaction
from pyqless.errors import InvalidArgument, StoreCorrupted

__all__ = [
    "FailedPage",
    "Failure",
    "describe",
    "enter",
    "exhausted_message",
    "fail",
    "failed",
    "failure_of",
    "forget",
    "groups",
    "unfail",
]

_SETTINGS = ("max-job-history",)

#: how many jobs a transaction moves out of a group; each takes two guards
MANY: Final = 100


class Failure(NamedTuple):
    """How a job failed, as its hash keeps it."""

    group: str
    #: Unix time, seconds
    when: float


class FailedPage(NamedTuple):
    """One page of a group."""

    total: int
    jids: list[str]


# -- in ---------------------------------------------------------------------------------------


def fail(
    tx: Transaction, jid: str, worker: str, group: str, message: str, data: str | None
) -> Transition[str]:
    """
    Fail a running job.

    Args:
        data: JSON text that replaces the job's data, or None to keep it.

    Returns:
        str: the jid.

    Raises:
        JobNotFound, NotRunning, JobLost: the worker does not hold the job's lock.
    """
    keys = tx.keys
    fields, entries, texts, tracked = yield from tx.read(
        *records.reads(keys, jid),
        Settings.read(keys, _SETTINGS),
        free=(("ZSCORE", keys.tracked, jid),),
        last=True,
    )
    job = StoredJob(tx, jid, fields, entries)
    require_lock(job, worker, FAIL)
    queue = job.text("queue")
    publish_log(tx, jid=jid, event="failed", worker=worker, group=group, message=message)
    publish_event(tx, "failed", jid, tracked)
    tx.zrem(keys.worker_jobs(worker), jid)
    limit = Settings(_SETTINGS, texts).history_limit()
    job.record(limit, "failed", worker=worker, group=group)
    leave(tx, queue, jid)
    if data is not None:
        job.set("data", data)
    enter(job, queue, group, message, worker, when=lua.floor(tx.now))
    return jid


def enter(
    job: StoredJob, queue: str, group: str, message: str, worker: str, *, when: float
) -> None:
    """
    Put a job into a group of failures and count it.

    Args:
        queue: the queue whose statistics count it.
        worker: the one that the failure names.
        when: Unix time of the failure, seconds.
    """
    tx = job.tx
    failure = describe(group, message, when, worker)
    job.set("state", "failed", "worker", "", "expires", "", "failure", failure)
    tx.sadd(tx.keys.failures, group)
    tx.lpush(tx.keys.failed(group), job.jid)
    statistics.count(tx, queue, tx.now, failures=1, failed=1)


def describe(group: str, message: str, when: float, worker: str) -> str:
    """The JSON text of the field ``failure``."""
    return lua.encode({"group": group, "message": message, "when": when, "worker": worker})


def exhausted_message(queue: str) -> str:
    """What the core says of a job that has used up its retries."""
    return f'Job exhausted retries in queue "{queue}"'


# -- out --------------------------------------------------------------------------------------


def failure_of(job: StoredJob) -> Failure:
    """
    How a failed job failed.

    Raises:
        CorruptedJob: the hash does not say.
    """
    failure = job.json("failure", "null")
    if isinstance(failure, dict):
        group, when = failure.get("group"), failure.get("when")
        if isinstance(group, str | float) and isinstance(when, float):
            return Failure(lua.concat(group), when)
    raise job.corrupted("failure")


def forget(tx: Transaction, failures: Mapping[str, Iterable[str]]) -> Transition[None]:
    """
    Take jobs out of their groups, and the groups that become empty out of the list of groups.

    Args:
        failures: the jids to take out, by group. The groups are guarded: others put jobs into them.
    """
    keys = tx.keys
    leaving = {group: list(dict.fromkeys(jids)) for group, jids in failures.items()}
    heads = yield from _heads(tx, {keys.failed(group): jids for group, jids in leaving.items()})
    for (group, jids), head in zip(leaving.items(), heads, strict=True):
        emptied = set(head) <= set(jids)
        if emptied and len(head) > len(jids):
            # some jid stands there twice, so the head did not show the whole list
            (whole_list,) = yield from tx.read(("LRANGE", keys.failed(group), 0, -1))
            emptied = set(whole_list) <= set(jids)
        for jid in jids:
            tx.lrem(keys.failed(group), jid)
        if emptied:
            tx.srem(keys.failures, group)


def _heads(tx: Transaction, leaving: Mapping[str, Sequence[str]]) -> Transition[Replies]:
    """The heads of lists from which jids are to be taken; many calls in one transaction count what that takes."""
    unknown = [key for key in leaving if tx.batched and key not in tx.lengths]
    replies = yield from tx.read(
        *(("LRANGE", key, 0, len(jids)) for key, jids in leaving.items()),
        free=[("LLEN", key) for key in unknown],
        last=True,
    )
    heads, lengths = replies[: len(leaving)], replies[len(leaving) :]
    tx.lengths |= zip(unknown, lengths, strict=True)
    tx.looks += sum(tx.lengths.get(key, 0) * len(jids) for key, jids in leaving.items())
    return heads


def unfail(tx: Transaction, queue: str, group: str, count: float) -> Transition[int | Continue]:
    """
    Move the oldest failures of a group into a queue.

    Args:
        count: how many; a negative one: all but the newest that many.

    Returns:
        int: how many were moved.
    """
    number = whole("count", count)
    if number == 0:
        raise InvalidArgument("count must not be 0", argument="count", value=count)
    if number < 0:
        (length,) = yield from tx.read(("LLEN", tx.keys.failed(group)))
        if 0 < length <= -number:
            return 0
        number = max(length + number, 1)
    return (yield from _unfail(tx, queue, group, number, 0))


def _unfail(
    tx: Transaction, queue: str, group: str, left: int, moved: int
) -> Transition[int | Continue]:
    """Move some, then go on with those that are left of the ones asked for."""
    keys, key = tx.keys, tx.keys.failed(group)
    some = min(left, MANY)
    jids, length, texts = yield from tx.read(
        ("LRANGE", key, -some, -1),
        ("LLEN", key),
        Settings.read(keys, _SETTINGS),
    )
    replies = yield from tx.read(
        *(read for jid in jids for read in records.reads(keys, jid)),
        last=True,
        tolerant=True,
    )
    settings = Settings(_SETTINGS, texts)
    tx.ltrim(key, 0, -some - 1)
    if len(jids) == length:
        tx.srem(keys.failures, group)
    for jid, fields, entries in zip(jids, replies[::2], replies[1::2], strict=True):
        try:
            _put_back(records.checked(tx, jid, fields, entries), queue, settings)
            moved += 1
        except StoreCorrupted as fault:
            tx.reports.append(fault)
            if fields:
                _keep(tx, group, jid)
    left = min(left, length) - some
    rest = partial(_unfail, queue=queue, group=group, left=left, moved=moved)
    return Continue(rest) if left > 0 else moved


def _put_back(job: StoredJob, queue: str, settings: Settings) -> None:
    priority, retries = job.number("priority"), 5.0
    if lua.to_number(job.fields.get("retries")) is not None:
        retries = job.number("retries")
    job.record(settings.history_limit(), "put", q=queue)
    job.set("state", "waiting", "worker", "", "expires", "0", "queue", queue)
    job.set("remaining", lua.argument(retries))
    enqueue(job.tx, queue, job.jid, priority)


def _keep(tx: Transaction, group: str, jid: str) -> None:
    """Leave a damaged job in its group, at the end that is taken last, for somebody to look at."""
    tx.lpush(tx.keys.failed(group), jid)
    tx.sadd(tx.keys.failures, group)


# -- views ------------------------------------------------------------------------------------


def failed(tx: Transaction, group: str, start: float, limit: float) -> Transition[FailedPage]:
    """One page of a group's failed jobs, the newest first."""
    key = tx.keys.failed(group)
    first, last = page(start, limit, names=("start", "limit"))
    total, jids = yield from tx.snapshot(("LLEN", key), ("LRANGE", key, first, last))
    return FailedPage(total, jids)


def groups(tx: Transaction) -> Transition[dict[str, int]]:
    """How many jobs each group has; the counts may be of slightly different moments."""
    (names,) = yield from tx.snapshot(("SMEMBERS", tx.keys.failures))
    if not names:
        return {}
    ordered = sorted(names)
    counts = yield from tx.snapshot(*(("LLEN", tx.keys.failed(name)) for name in ordered))
    return dict(zip(ordered, counts, strict=True))
