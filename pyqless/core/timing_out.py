# SPDX-License-Identifier: MIT
"""How many running jobs are taken from their workers, a bounded number a transaction."""

from __future__ import annotations

from functools import partial
from typing import Final

from pyqless.core import locks
from pyqless.core.effects import Continue, Transition
from pyqless.core.transaction import Transaction

__all__ = ["timeout"]

#: how many jobs a transaction takes from their workers; each takes two guards
MANY: Final = 100

#: how many are looked at at once before the first is taken
PAGE: Final = 500


def timeout(tx: Transaction, jids: list[str]) -> Transition[Continue | None]:
    """
    Take running jobs from their workers at once; all of them or none, unless others interfere.

    Raises:
        JobNotFound: there is no such job.
        NotRunning: it is not running.
    """
    if len(jids) > MANY:
        yield from _check(tx, jids)
    return (yield from _go_on(tx, jids))


def _go_on(tx: Transaction, jids: list[str]) -> Transition[Continue | None]:
    yield from locks.timeout(tx, jids[:MANY])
    return Continue(partial(_go_on, jids=jids[MANY:])) if jids[MANY:] else None


def _check(tx: Transaction, jids: list[str]) -> Transition[None]:
    """Look whether all are running, so that none is taken where one is not."""
    taken: set[str] = set()
    for start in range(0, len(jids), PAGE):
        page = jids[start : start + PAGE]
        found = yield from tx.snapshot(
            *(("HMGET", tx.keys.job(jid), "queue", "state") for jid in page)
        )
        for jid, (queue, state) in zip(page, found, strict=True):
            # one that is named twice runs no more when its second turn comes
            texts = {"queue": queue, "state": "stalled" if jid in taken else state}
            locks.require_running(
                jid, {name: text for name, text in texts.items() if text is not None}
            )
            taken.add(jid)
