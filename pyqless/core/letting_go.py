# SPDX-License-Identifier: MIT
"""
The jobs that waited for one that is complete now: they are let go, a bounded number a transaction.

Those that the completion itself leaves out are written down with it, in ``ql:py:letting-go``. Whoever lets them go
strikes them off with the same commit, so that it makes no difference who does it: the client that has completed
the job, the next pop, or the janitor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from pyqless.core import lua
from pyqless.core.dependencies import let_go
from pyqless.core.effects import Command, Continue, Factory, Replies, Transition, raise_first
from pyqless.core.keys import Keys
from pyqless.core.records import StoredJob
from pyqless.core.transaction import Transaction
from pyqless.core.waking import announced
from pyqless.errors import StoreCorrupted

__all__ = [
    "MANY",
    "let_all_go",
    "let_more_go",
    "look",
    "put_off",
    "reads",
    "room",
    "take_up",
    "take_up_some",
]

#: how many jobs a transaction lets go; each takes two guards
MANY: Final = 100

#: how many transactions a pop spends on what others have left undone; its caller is waiting
FEW: Final = 10


def room(tx: Transaction) -> int:
    """How many jobs a transaction can let go yet; one of many calls may have let some go already."""
    told = [key for name, key, *_ in tx.writes if name == "SREM" and key.endswith("-dependencies")]
    return max(MANY - len(told), 0)


def reads(keys: Keys, children: Sequence[str]) -> list[Command]:
    """The reads that ``let_all_go`` wants, guarded."""
    return [
        read
        for child in children
        for read in (("HGETALL", keys.job(child)), ("SMEMBERS", keys.dependencies(child)))
    ]


def let_all_go(tx: Transaction, children: Sequence[str], found: Replies, parent: str) -> None:
    """
    Tell jobs that one they waited for is complete.

    Args:
        found: the replies to ``reads``, tolerant ones.
    """
    for child, fields, dependencies in zip(children, found[::2], found[1::2], strict=True):
        try:
            raise_first([fields, dependencies])
            let_go(StoredJob(tx, child, fields), dependencies, parent)
        except StoreCorrupted as fault:
            tx.reports.append(fault)


def look(keys: Keys) -> Command:
    """The read that shows some of the jobs that are to be let go, if there are any; it takes no further right."""
    return ("LRANGE", keys.letting_go, 0, 0)


def put_off(tx: Transaction, children: Sequence[str], parent: str) -> None:
    """Write down jobs that are to be let go in later transactions, as of this one's moment."""
    for start in range(0, len(children), MANY):
        entry = [lua.argument(tx.now), parent, *children[start : start + MANY]]
        tx.rpush(tx.keys.letting_go, lua.encode(entry))


def let_more_go(tx: Transaction) -> Transition[Continue | None]:
    """
    Let the jobs of one entry go, then those of the next.

    A job may have been told meanwhile to wait for others, or anew for the same one: it is let go only if it still
    waits for that, and that does not know of it.
    """
    keys = tx.keys
    (entries,) = yield from tx.read(look(keys))
    if not entries:
        return None
    moment, parent, *children = lua.decode(entries[0])
    anew, *found = yield from tx.read(
        ("SMEMBERS", keys.dependents(parent)), *reads(keys, children), last=True, tolerant=True
    )
    tx.lpop(keys.letting_go)
    others = set() if isinstance(anew, StoreCorrupted) else anew
    waiting = [
        at
        for at, child in enumerate(children)
        if child not in others and _waits(found[2 * at + 1], parent)
    ]
    with _as_of(tx, float(moment)):
        let_all_go(
            tx,
            [children[at] for at in waiting],
            [reply for at in waiting for reply in found[2 * at : 2 * at + 2]],
            parent,
        )
    return Continue(let_more_go)


def _waits(dependencies: set[str] | StoreCorrupted, parent: str) -> bool:
    """Whether a job waits for another still; what is wrong with it is told by who lets it go."""
    return isinstance(dependencies, StoreCorrupted) or parent in dependencies


@contextmanager
def _as_of(tx: Transaction, moment: float) -> Iterator[None]:
    """Let what is staged be of another moment: a job that is let go late stands where it would stand otherwise."""
    now, tx.now = tx.now, moment
    try:
        yield
    finally:
        tx.now = now


def take_up(links: float = math.inf) -> Factory[None]:
    """
    As ``let_more_go``, of jobs that others have completed; a conflict shows that somebody sees to them already.

    Args:
        links: how many transactions it may take; what is left then is left to others.
    """
    return announced(partial(_take_up, links=links))


def _take_up(tx: Transaction, links: float) -> Transition[Any]:
    if tx.attempt:
        return None
    value = yield from let_more_go(tx)
    return Continue(partial(_take_up, links=links - 1)) if value and links > 1 else None


#: as a pop does it
take_up_some: Final = take_up(FEW)
