# SPDX-License-Identifier: MIT
"""Tags of jobs: the index from tags to jids, and how many jobs bear each (Qless.tag)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pyqless.core import lua
from pyqless.core.effects import Transition
from pyqless.core.fields import Tags, names_of, with_more
from pyqless.core.paging import limits, page
from pyqless.core.records import StoredJob
from pyqless.core.transaction import Transaction
from pyqless.errors import JobNotFound

__all__ = ["Tagged", "add", "index", "remove", "tagged", "top", "unindex"]


class Tagged(NamedTuple):
    """The jobs that bear a tag."""

    total: int
    #: one page of them
    jids: list[str]


def index(tx: Transaction, jid: str, tags: Iterable[str | float]) -> None:
    """Enter a job under its tags; a tag named twice counts twice, as in the core."""
    for tag in tags:
        tx.zadd(tx.keys.tag(lua.concat(tag)), tx.now, jid)
        tx.zincrby(tx.keys.tag_counts, 1, lua.argument(tag))


def unindex(tx: Transaction, jid: str, tags: Iterable[str | float]) -> None:
    """Strike a job from under its tags."""
    for tag in tags:
        tx.zrem(tx.keys.tag(lua.concat(tag)), jid)
        tx.zincrby(tx.keys.tag_counts, -1, lua.argument(tag))


def add(tx: Transaction, jid: str, tags: list[str]) -> Transition[Tags]:
    """
    Add tags to a job.

    Returns:
        all its tags.

    Raises:
        JobNotFound: there is no such job.
    """
    job = yield from _tagged_job(tx, jid)
    present = job.kept_tags()
    known = names_of(present)
    changed = with_more(present, [tag for tag in dict.fromkeys(tags) if tag not in known])
    index(tx, jid, tags)
    job.set("tags", lua.encode(changed))
    return changed


def remove(tx: Transaction, jid: str, tags: list[str]) -> Transition[list[str | float]]:
    """
    Take tags from a job.

    Returns:
        list: the tags it keeps.

    Raises:
        JobNotFound: there is no such job.
    """
    job = yield from _tagged_job(tx, jid)
    kept = [tag for tag in job.tag_list() if tag not in tags]
    unindex(tx, jid, tags)
    job.set("tags", lua.encode(kept))
    return kept


def _tagged_job(tx: Transaction, jid: str) -> Transition[StoredJob]:
    key = tx.keys.job(jid)
    (tags,) = yield from tx.read(("HGET", key, "tags"), last=True)
    if tags is None:
        text = f"Tag(): Job {jid} does not exist"
        raise JobNotFound(f"there is no job {jid!r}", argument="jid", value=jid, lua=text)
    return StoredJob(tx, jid, {"tags": tags})


def tagged(tx: Transaction, tag: str, offset: float, limit: float) -> Transition[Tagged]:
    """One page of the jobs that bear a tag."""
    key = tx.keys.tag(tag)
    start, stop = page(offset, limit)
    total, jids = yield from tx.snapshot(("ZCARD", key), ("ZRANGE", key, start, stop))
    return Tagged(total, jids)


def top(tx: Transaction, offset: float, limit: float) -> Transition[list[str]]:
    """The tags that at least two jobs bear, the most frequent first."""
    replies = yield from tx.snapshot(
        ("ZREVRANGEBYSCORE", tx.keys.tag_counts, "+inf", 2, "LIMIT", *limits(offset, limit))
    )
    return list(replies[0])
