# SPDX-License-Identifier: MIT
"""
Which job a pop will probably hand out, and which one it will make: hints that one pop leaves for the next.

What is expected is looked up together with the heads. Where these show it as it was expected, nothing more has to be
read; else it was looked up in vain, and what decides is looked up then.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any, Final, NamedTuple

from pyqless.core import busyness, lua
from pyqless.core.candidates import Scored
from pyqless.core.keys import Keys
from pyqless.core.lookup import Lookup
from pyqless.core.transaction import Transaction

__all__ = [
    "NOTHING",
    "Expected",
    "expected",
    "expects_none",
    "note_children",
    "note_head",
    "note_next",
    "note_run",
    "with_next_run",
]

#: how many pops do without a favourite once it was not that which went
_SHY: Final = 8

#: how many recurring jobs of a queue are remembered, those that are due first
_FEW: Final = 8


class Expected(NamedTuple):
    """What a pop will probably deal with."""

    #: the job that waits and will be handed out
    favourite: str | None = None
    #: the recurring job that makes a job
    recurring: str | None = None
    #: and that job, if it is known which
    child: str | None = None

    @property
    def is_all(self) -> bool:
        """Whether nothing more will have to be read."""
        return (self.favourite if self.recurring is None else self.child) is not None

    def lookup(self, keys: Keys, queue: str) -> Lookup | None:
        """What is to be looked up, if anything is expected."""
        favourite, recurring, child = self
        jids = () if favourite is None else (favourite,)
        places = () if favourite is None else ((keys.work(queue), favourite),)
        if recurring is None:
            return Lookup(jids, (), places) if jids else None
        if child is not None and child != favourite:
            jids = (*jids, child)
        return Lookup(jids, (recurring,), (*places, (keys.recur(queue), recurring)))


NOTHING: Final = Expected()


def expected(tx: Transaction, queue: str, count: float) -> Expected:
    """What a pop will probably deal with."""
    if tx.memory is None:
        return NOTHING
    return with_next_run(tx, queue, _favourite(tx.memory, queue) if count == 1 else None, tx.now)


def _favourite(memory: dict[Any, Any], queue: str) -> str | None:
    """The job that will probably be handed out, unless it was another of late."""
    shy: int = memory.get(("shy", queue), 0)
    if shy:
        memory["shy", queue] = shy - 1
        return None
    jid: str | None = memory.get(("next", queue))
    return jid


# -- the job that goes next -------------------------------------------------------------------


def note_next(tx: Transaction, queue: str, jid: str | None, *, was_wrong: bool) -> None:
    """
    Remember which job of a queue goes next, None for no job, where somebody pops.

    Args:
        was_wrong: another went than the favourite, so that to guard this was in vain, or worse; in a busy queue, where it
            may have gone to somebody else, it pays all the same.
    """
    if tx.memory is not None:
        tx.memory["next", queue] = jid
        if was_wrong and not busyness.is_busy(tx, queue):
            tx.memory["shy", queue] = _SHY


def expects_none(tx: Transaction, queue: str) -> bool:
    """Whether the last pop left nothing behind."""
    return tx.memory is not None and tx.memory.get(("next", queue), "") is None


# -- the next run of a recurring job ----------------------------------------------------------


def with_next_run(tx: Transaction, queue: str, favourite: str | None, by: float) -> Expected:
    """
    Expect a favourite, if there is one, and the next run of the queue's recurring jobs, if it is known.

    Args:
        by: the moment by which it must be due, Unix time, seconds.
    """
    head: Scored | None = tx.memory.get(("runs", queue)) if tx.memory else None
    if not head or tx.memory is None or head[0][1] > by:
        return Expected(favourite)
    jid = head[0][0]
    return Expected(favourite, jid, tx.memory.get(("child", jid)))


def note_head(tx: Transaction, queue: str, head: Scored) -> None:
    """Remember the recurring jobs that are due next, with their moments, in order."""
    if tx.memory is not None and (head or ("runs", queue) in tx.memory):
        tx.memory["runs", queue] = head[:_FEW]


def note_run(tx: Transaction, queue: str, jid: str, moment: float) -> None:
    """Remember when a recurring job that has just made some jobs will make the next."""
    if tx.memory is not None:
        others = [entry for entry in tx.memory.get(("runs", queue), ()) if entry[0] != jid]
        tx.memory["runs", queue] = sorted([*others, (jid, moment)], key=itemgetter(1))[:_FEW]


def note_children(tx: Transaction, recurring: dict[str, Any]) -> None:
    """Remember which job recurring jobs make next, by their hashes as they are now."""
    for jid, row in recurring.items():
        count = lua.integer_text(row.get("count", "0")) if isinstance(row, dict) else None
        if tx.memory is not None:
            tx.memory["child", jid] = None if count is None else f"{jid}-{count + 1}"
