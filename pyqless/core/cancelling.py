# SPDX-License-Identifier: MIT
"""How jobs are cancelled: deleted, whatever their state, unless others wait for them (Qless.cancel)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Final

from pyqless.core import failures, places, statistics, tags
from pyqless.core.effects import Continue, Transition
from pyqless.core.messages import about, publish_event
from pyqless.core.records import StoredJob
from pyqless.core.transaction import LOOKS, Transaction
from pyqless.errors import HasDependents

__all__ = ["cancel", "cancel_some"]

#: how many jobs a transaction cancels; each takes three guards
MANY: Final = 64

#: how many jobs are looked at at once before the first is cancelled
PAGE: Final = 250


def cancel(tx: Transaction, jids: list[str]) -> Transition[list[str] | Continue]:
    """
    Cancel jobs, all of them or none; complete ones are left alone.

    Many go in several transactions, those that wait for others before these. Where others interfere, that ends
    in the middle.

    Returns:
        list: the jids as given, also of jobs that are not there.

    Raises:
        HasDependents: a job waits for one of them and is not named itself.
    """
    if len(jids) <= MANY:
        return (yield from cancel_some(tx, jids, jids))
    dependents, group_of = yield from _look(tx, jids)
    for jid in jids:
        _require_no_others(jid, dependents[jid], dependents.keys())
    looks = yield from _looks(tx, group_of)
    return (yield from _go_on(tx, _links(_in_order(jids, dependents), looks), jids))


def _look(
    tx: Transaction, jids: list[str]
) -> Transition[tuple[dict[str, set[str]], dict[str, str]]]:
    """The jids that wait for jobs, by jid; and the groups of those of the jobs that have failed."""
    keys = tx.keys
    dependents: dict[str, set[str]] = {}
    failed: dict[str, list[str]] = {}
    for start in range(0, len(jids), PAGE):
        page = jids[start : start + PAGE]
        found = yield from tx.snapshot(
            *(("SMEMBERS", keys.dependents(jid)) for jid in page),
            *(("HMGET", keys.job(jid), "state", "failure") for jid in page),
        )
        dependents |= zip(page, found, strict=False)
        jobs = [
            StoredJob(tx, jid, {"state": state or "", "failure": failure or ""})
            for jid, (state, failure) in zip(page, found[len(page) :], strict=True)
        ]
        for group, members in _groups(jobs).items():
            failed.setdefault(group, []).extend(members)
    return dependents, {jid: group for group, members in failed.items() for jid in members}


def _looks(tx: Transaction, group_of: Mapping[str, str]) -> Transition[dict[str, int]]:
    """How many entries the groups of jobs have, by jid."""
    groups = list(dict.fromkeys(group_of.values()))
    if not groups:
        return {}
    lengths = yield from tx.snapshot(*(("LLEN", tx.keys.failed(group)) for group in groups))
    length_of = dict(zip(groups, lengths, strict=True))
    return {jid: length_of[group] for jid, group in group_of.items()}


def _links(order: list[str], looks: Mapping[str, int]) -> list[list[str]]:
    """The jobs of each transaction, so that none has too many, or too much to look at."""
    links: list[list[str]] = []
    room = 0
    for jid in order:
        cost = max(LOOKS // MANY, looks.get(jid, 0))
        if cost > room:
            links.append([])
            room = max(LOOKS, cost)
        links[-1].append(jid)
        room -= cost
    return links


def _go_on(
    tx: Transaction, links: list[list[str]], jids: list[str]
) -> Transition[list[str] | Continue]:
    some, *rest = links
    yield from cancel_some(tx, some, frozenset(jids))
    return Continue(partial(_go_on, links=rest, jids=jids)) if rest else jids


def _in_order(jids: Sequence[str], dependents: Mapping[str, set[str]]) -> list[str]:
    """The jids as given, but for those that others of them wait for: these come behind."""
    order: list[str] = []
    seen: set[str] = set()
    early: set[str] = set()
    for jid in jids:
        if jid in early:
            early.discard(jid)
            continue
        *others, _ = found = _from_below(jid, dependents, seen)
        early.update(others)
        order += found
    return order


def _from_below(jid: str, dependents: Mapping[str, set[str]], seen: set[str]) -> list[str]:
    """A job, behind those that wait for it and were not seen yet; where they wait in a ring, it begins somewhere."""
    found: dict[str, None] = {}
    stack = [jid]
    while stack:
        seen.add(stack[-1])
        unseen = dependents[stack[-1]] - seen
        if unseen:
            stack += sorted(unseen, reverse=True)
        else:
            found.setdefault(stack.pop())
    return list(found)


def cancel_some(tx: Transaction, jids: list[str], named: Collection[str]) -> Transition[list[str]]:
    """
    Cancel a bounded number of jobs.

    Args:
        named: those that may wait for them.

    Raises:
        HasDependents: another one does.
    """
    if not jids:
        return []
    keys = tx.keys
    replies = yield from tx.read(
        *(
            read
            for jid in jids
            for read in (
                ("HGETALL", keys.job(jid)),
                ("SMEMBERS", keys.dependents(jid)),
                ("SMEMBERS", keys.dependencies(jid)),
            )
        ),
        free=[("ZSCORE", keys.tracked, jid) for jid in jids],
        last=True,
    )
    found, tracked = replies[: 3 * len(jids)], replies[3 * len(jids) :]
    for jid, dependents in zip(jids, found[1::3], strict=True):
        if dependents:
            _require_no_others(jid, dependents, named)
    jobs = [StoredJob(tx, jid, fields) for jid, fields in zip(jids, found[::3], strict=True)]
    groups = _groups(jobs)
    if groups:
        yield from failures.forget(tx, groups)
    for job, dependencies, since in zip(jobs, found[2::3], tracked, strict=True):
        if job.fields.get("state") != "complete":
            _cancel(job, dependencies, since)
    return jids


def _require_no_others(jid: str, dependents: set[str], named: Collection[str]) -> None:
    others = sorted(other for other in dependents if other not in named)
    if others:
        raise HasDependents(
            f"job {jid!r} is waited for by {', '.join(others)}",
            argument="jids",
            value=others,
            lua=(
                f"Cancel(): {jid} is a dependency of {others[0]}"
                " but is not mentioned to be canceled"
            ),
        )


def _groups(jobs: list[StoredJob]) -> dict[str, list[str]]:
    """The failed ones among the jobs, by group."""
    groups: dict[str, list[str]] = {}
    for job in jobs:
        if job.fields.get("state") == "failed":
            groups.setdefault(failures.failure_of(job).group, []).append(job.jid)
    return groups


def _cancel(job: StoredJob, dependencies: set[str], tracked: float | None) -> None:
    """Delete a job; ``dependencies`` and the job's fields are live images."""
    tx, keys, jid, fields = job.tx, job.tx.keys, job.jid, job.fields
    queue, worker = fields.get("queue"), fields.get("worker")
    message = about(
        jid,
        worker=False if worker is None else worker,
        event="canceled",
        queue=False if queue is None else queue,
    )
    tx.publish(keys.channel("log"), message)
    if worker:
        tx.zrem(keys.worker_jobs(worker), jid)
        tx.publish(keys.worker_channel(worker), message)
    if queue is not None:
        places.leave(tx, queue, jid, depends=True)
    if dependencies:
        for parent in sorted(dependencies):
            tx.srem(keys.dependents(parent), jid)
        tx.delete(keys.dependencies(jid))
    if fields.get("state") == "failed" and queue is not None:
        statistics.count(tx, queue, failures.failure_of(job).when, failed=-1)
    if "tags" in fields:
        tags.unindex(tx, jid, job.tag_list())
    publish_event(tx, "canceled", jid, tracked)
    tx.delete(keys.job(jid))
    tx.delete(keys.history(jid))
