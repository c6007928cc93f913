# SPDX-License-Identifier: MIT
"""Letting go of jobs that wait for others in vain."""

from __future__ import annotations

from pyqless.core.cleaning.paging import PAGE
from pyqless.core.dependencies import free, let_go
from pyqless.core.effects import Transition
from pyqless.core.records import StoredJob
from pyqless.core.transaction import Transaction
from pyqless.errors import CorruptedJob

__all__ = ["mend_dependencies", "page_of_depending"]


def page_of_depending(tx: Transaction, queue: str, offset: int) -> Transition[list[str]]:
    """The jids of a queue that wait for others, a page of them."""
    (jids,) = yield from tx.snapshot(("ZRANGE", tx.keys.depends(queue), offset, offset + PAGE - 1))
    return list(jids)


def mend_dependencies(
    tx: Transaction, jid: str, *, dry: bool = False
) -> Transition[list[str] | None]:
    """
    Let a job no longer wait for jobs that are gone or complete; if it then waits for none, it is let go.

    Returns:
        list: the jids of those others, 100 at most; none where it waited for nothing at all. None if all is well.
    """
    keys = tx.keys
    fields, parents = yield from tx.read(
        ("HGETALL", keys.job(jid)), ("SMEMBERS", keys.dependencies(jid))
    )
    if fields.get("state") != "depends":
        return None
    gone = []
    if looked := sorted(parents)[:PAGE]:
        states = yield from tx.read(*(("HGET", keys.job(parent), "state") for parent in looked))
        ended = (state in (None, "complete") for state in states)
        gone = [parent for parent, has_ended in zip(looked, ended, strict=True) if has_ended]
        if not gone:
            return None
    try:
        if not dry:
            _let_go(StoredJob(tx, jid, fields), parents, gone)
    except CorruptedJob as fault:
        tx.reports.append(fault)
        return None
    return gone


def _let_go(child: StoredJob, parents: set[str], gone: list[str]) -> None:
    if not parents:
        free(child)
    for parent in gone:
        let_go(child, parents, parent)
        child.tx.srem(child.tx.keys.dependents(parent), child.jid)
