# SPDX-License-Identifier: MIT
"""
Whole queues and groups at once: cancelled, moved, or only counted.

Each is a chain of transactions of a bounded size, and each of these is right by itself: if the chain breaks,
some jobs are dealt with, the others are as they were, and the call can be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

from pyqless.core.effects import Command, Continue, Transition
from pyqless.core.transaction import Stale, Transaction

__all__ = [
    "MANY",
    "Course",
    "Dealt",
    "Swept",
    "from_the_tail",
    "from_the_top",
    "require_standing",
    "sweep",
]

#: how many jobs a transaction deals with; each takes three guards
MANY = 50


class Swept(NamedTuple):
    """What became of a number of jobs, or would become."""

    #: how many were dealt with
    jobs: int
    #: jids of those that were left as they were: others wait for them, or they are damaged
    kept: tuple[str, ...]


class Course(NamedTuple):
    """How far a sweep has come."""

    #: keys of the sets and lists that are to be swept still, the one at work first
    keys: tuple[str, ...]
    #: all of them
    every: tuple[str, ...]
    dry_run: bool
    #: how many entries of the one at work have been passed over
    offset: int = 0
    #: how many jobs have been dealt with, in all and before this round
    jobs: int = 0
    before: int = 0
    kept: tuple[str, ...] = ()
    #: the jids that a dry run has dealt with, and finds again
    gone: frozenset[str] = frozenset()

    @classmethod
    def through(cls, *keys: str, dry_run: bool) -> Course:
        """The beginning of a sweep."""
        return cls(keys, keys, dry_run)

    def after(self, dealt: Dealt, seen: int) -> Course:
        """The course after a transaction that has looked at so many entries."""
        return self._replace(
            offset=self.offset + (seen if self.dry_run else len(dealt.kept)),
            jobs=self.jobs + len(dealt.done),
            kept=(*self.kept, *dealt.kept),
            gone=self.gone.union(dealt.done) if self.dry_run else self.gone,
        )

    def onward(self) -> Course:
        """The course from the next key on; where something moved, what was kept gets another chance."""
        if len(self.keys) > 1 or self.jobs == self.before or not self.kept:
            return self._replace(keys=self.keys[1:], offset=0)
        return self._replace(keys=self.every, offset=0, before=self.jobs, kept=())


class Dealt(NamedTuple):
    """What a transaction made of the entries that it was shown."""

    done: Sequence[str]
    kept: Sequence[str]
    #: whether none of those behind them needs to be looked at
    ends: bool = False


#: deals with some jids that stand under a key
Deal: TypeAlias = Callable[[Transaction, str, list[str], Course], Transition[Dealt]]


def sweep(
    tx: Transaction, course: Course, page: Callable[[str, int], Command], deal: Deal
) -> Transition[Swept | Continue]:
    """
    Deal with the next entries of a course.

    Args:
        page: the read that shows the entries of a key from an offset on, ``MANY`` of them.
    """
    while course.keys:
        key = course.keys[0]
        (found,) = yield from tx.read(free=[page(key, course.offset)])
        if found:
            break
        course = course.onward()
    else:
        return Swept(course.jobs, course.kept)
    jids = [jid for jid in dict.fromkeys(found) if jid not in course.gone]
    dealt = yield from deal(tx, key, jids, course)
    if course.dry_run:
        tx.drop_writes()
    rest = course.after(dealt, len(found))
    rest = rest.onward() if dealt.ends else rest
    return Continue(partial(sweep, course=rest, page=page, deal=deal))


def from_the_top(key: str, offset: int) -> Command:
    """Entries of a sorted set, those with the highest score first."""
    return ("ZREVRANGE", key, offset, offset + MANY - 1)


def from_the_tail(key: str, offset: int) -> Command:
    """Entries of a list, the last ones first."""
    return ("LRANGE", key, -offset - MANY, -offset - 1)


def require_standing(scores: Sequence[float | None]) -> None:
    """
    Make sure that all entries still stand where they were found, once their jobs are guarded.

    Raises:
        Stale: one has moved.
    """
    if None in scores:
        raise Stale
