# SPDX-License-Identifier: MIT
"""
How jobs that a queue names are guarded and looked up, together with the places where they stand.

What stands in a place stays there as long as the hash does not change that it belongs to, since every rule that
moves a job writes to its hash. So the places are read without a guard of their own, behind that of the hash.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import starmap
from typing import Any, NamedTuple

from pyqless.core import records
from pyqless.core.candidates import Found, Place, found_or_fault, shown_reads
from pyqless.core.effects import Command, Replies, Transition
from pyqless.core.keys import Keys
from pyqless.core.transaction import Stale, Transaction

__all__ = ["Known", "Lookup", "load"]


class Known(NamedTuple):
    """What has been looked up."""

    #: by jid
    jobs: dict[str, Found]
    #: the hashes of recurring jobs by jid, or what is wrong with them
    recurring: dict[str, Any]
    #: by key and member; None for what does not stand there
    scores: dict[tuple[str, str], float | None]

    def shows(self, key: str, member: str, score: float) -> bool:
        """Whether a place is known, and known to be as here."""
        return self.scores.get((key, member)) == score

    def learn(self, more: Known) -> None:
        """Add what has been looked up besides."""
        self.jobs.update(more.jobs)
        self.recurring.update(more.recurring)
        self.scores.update(more.scores)


class Lookup(NamedTuple):
    """What is to be looked up."""

    #: of jobs, each once
    jids: Sequence[str] = ()
    #: the jids of recurring jobs
    recurring: Sequence[str] = ()
    #: sorted sets, and members of theirs
    places: Sequence[tuple[str, str]] = ()

    def guarded(self, keys: Keys) -> list[Command]:
        """The reads that are to be guarded."""
        reads: list[Command] = [("HGETALL", keys.recurring_job(jid)) for jid in self.recurring]
        for jid in self.jids:
            reads += records.reads(keys, jid)
        return reads

    def free(self, keys: Keys) -> list[Command]:
        """The reads behind them."""
        reads: list[Command] = [("ZSCORE", *place) for place in self.places]
        for jid in self.jids:
            reads += shown_reads(keys, jid)
        return reads

    def known(self, tx: Transaction, replies: Replies) -> Known:
        """What the replies to both, in order, have shown."""
        jids, recurring, places = self
        at = len(recurring)
        scored = at + 2 * len(jids)
        shown = scored + len(places)
        scores = dict(zip(places, replies[scored:shown], strict=True))
        jobs = {}
        for jid in jids:
            jobs[jid] = found_or_fault(
                tx, jid, [*replies[at : at + 2], *replies[shown : shown + 3]]
            )
            at, shown = at + 2, shown + 3
        return Known(jobs, dict(zip(recurring, replies, strict=False)), scores)


def load(
    tx: Transaction,
    jids: Iterable[str],
    *,
    recurring: Sequence[str] = (),
    places: Sequence[Place] = (),
    also: tuple[Command, ...] = (),
    beside: tuple[Command, ...] = (),
    last: bool = True,
) -> Transition[tuple[Known, Replies]]:
    """
    Guard jobs and recurring jobs, and read all that is shown of them.

    Args:
        places: entries that must still stand where they stood.
        also, beside: further reads of the same batch, guarded and free.

    Returns:
        what was found, and the replies to ``also`` and ``beside``.

    Raises:
        Stale: an entry has moved.
    """
    lookup = Lookup([*dict.fromkeys(jids)], recurring, [place[:2] for place in places])
    guarded, free = lookup.guarded(tx.keys), lookup.free(tx.keys)
    replies = yield from tx.read(*also, *guarded, free=[*free, *beside], last=last, tolerant=True)
    end = len(also) + len(guarded) + len(free)
    known = lookup.known(tx, replies[len(also) : end])
    if not all(starmap(known.shows, places)):
        raise Stale
    return known, replies[: len(also)] + replies[end:]
