# SPDX-License-Identifier: MIT
"""The jobs of a queue in the order in which they go: pop and peek both work on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from pyqless.core import busyness, spawning
from pyqless.core.candidates import (
    Candidate,
    Found,
    Heads,
    Place,
    Scored,
    first_of,
    found_or_fault,
    load,
    set_aside,
)
from pyqless.core.effects import Replies, Transition
from pyqless.core.locks import Expired, expire
from pyqless.core.places import promote
from pyqless.core.settings import Settings
from pyqless.core.statistics import Sampler
from pyqless.core.transaction import Transaction
from pyqless.errors import CorruptedJob, DanglingEntry, StoreCorrupted

__all__ = ["Line"]


class Favourite(NamedTuple):
    """A job that was read together with the heads, since it will probably be handed out."""

    jid: str
    #: where it stands among those that wait
    score: float
    #: see ``candidates.found_in``
    replies: Replies


class Line:
    """
    What a queue has to hand out, within one transaction.

    Args:
        number: how many jobs are wanted; a negative number as in the core (C8).
        settings: those that expiry (``locks.expire``) and histories look at.
        shows: whether jobs are only shown; entries without a job are then skipped, as by the core.
        favourite: taken if it is one of those that may be taken.
    """

    def __init__(
        self,
        tx: Transaction,
        queue: str,
        number: int,
        settings: Settings,
        *,
        shows: bool = False,
        favourite: Favourite | None = None,
    ) -> None:
        self.tx = tx
        self.queue = queue
        self.number = number
        self.settings = settings
        self.shows = shows
        self.favourite = favourite
        #: the job that will probably go next if those wanted are handed out
        self.runner_up: str | None = None
        #: whether damaged entries stood in the way of others
        self.obstructed = False
        self._heads = Heads([], [], [], [])
        self._found: dict[str, Found] = {}
        self._recurring: list[Any] = []
        self._failed: set[str] = set()

    def load(self, replies: Replies, sampler: Sampler | None = None) -> Transition[None]:
        """
        Guard and read all that stands in the heads of the queue's sets.

        That there is no more than was found needs no guard: see ``head_reads``.

        Args:
            replies: to the reads of the heads.
            sampler: begins with what it has to read.

        Raises:
            Stale: something has moved since the heads were read.
        """
        keys, queue = self.tx.keys, self.queue
        heads = self._heads = self._chosen(Heads.of(replies, self.tx.now))
        sets = (keys.locks(queue), keys.recur(queue), keys.scheduled(queue), keys.work(queue))
        rows = [("HGETALL", keys.recurring_job(jid)) for jid, _ in heads.recurring]
        jobs = (heads.expired, heads.scheduled, heads.work)
        if not any(heads):
            return
        if self.favourite is not None and self.takes_favourite:
            jid, _, shown = self.favourite
            self._found = {jid: found_or_fault(self.tx, jid, shown)}
            return
        samples = sampler.guarded() if sampler else ()
        self._found, also, beside = yield from load(
            self.tx,
            (jid for head in jobs for jid, _ in head),
            places=[
                Place(key, *entry) for key, head in zip(sets, heads, strict=True) for entry in head
            ],
            also=(*samples, *rows),
            beside=sampler.free() if sampler else (),
            last=not heads.recurring,
        )
        self._recurring = also[len(samples) :]
        if sampler:
            sampler.take(also[: len(samples)] + beside)

    def _chosen(self, heads: Heads) -> Heads:
        """As many of each as may be handed out; of the waiting ones those that few others will want."""
        work, number = heads.work, self.number
        choice = self._choice(work)
        if 0 < number < len(work):
            first = self._first(work, choice)
            self.runner_up = work[self._following(first, choice)][0]
            work = work[first:]
        return heads._replace(work=work).first(number)

    def _choice(self, work: Scored) -> int:
        """How many of the waiting jobs there are to choose from: in a quiet queue as many as are wanted."""
        return (
            self.number
            if self.shows
            else max(busyness.choice(self.tx, self.queue, work), self.number)
        )

    def _first(self, work: Scored, choice: int) -> int:
        """From which of them on they are taken: the favourite, or else anywhere, as few others will do."""
        if self.favourite is not None and self.favourite[:2] in work[:choice]:
            return work.index(self.favourite[:2])
        return int(self.tx.chance * (choice - self.number + 1))

    def _following(self, first: int, choice: int) -> int:
        """Which of them goes next: any other."""
        number = self.number
        if choice == number:
            return number
        chance = self.tx.chance * 4096 % 1.0
        return (first + number + int(chance * (choice - number))) % choice

    @property
    def takes_favourite(self) -> bool:
        """Whether the favourite is all there is to be handed out."""
        return self.favourite is not None and self._heads == ([], [], [], [self.favourite[:2]])

    @property
    def expired(self) -> int:
        """How many locks have expired, of those looked at."""
        return len(self._heads.expired)

    def stalled(self) -> list[Candidate]:
        """The jobs whose lock has expired, left as they are."""
        return [candidate for _, candidate in self._expired()]

    def invalidate_locks(self) -> list[Candidate]:
        """Deal with the expired locks; returns the jobs that can be handed out again."""
        free = []
        for place, candidate in self._expired():
            job = candidate.job
            try:
                expired = expire(job, self.queue, self.settings, candidate.tracked)
            except CorruptedJob as fault:
                self._set_aside(place, fault)
                continue
            if expired is Expired.FREE:
                free.append(candidate)
            elif expired is Expired.FAILED:
                self._failed.add(job.jid)
        return free

    def _expired(self) -> Iterator[tuple[Place, Candidate]]:
        locks = self.tx.keys.locks(self.queue)
        for entry in self._heads.expired:
            place = Place(locks, *entry)
            candidate = self._usable(place)
            if candidate:
                yield place, candidate

    def take(self, need: int) -> Transition[list[Candidate]]:
        """
        Let what is due join the waiting jobs, and take those that go first.

        Args:
            need: how many; as ``number``, less the jobs in hand.
        """
        if need == 0:
            return []
        if not (self._heads.recurring or self._heads.scheduled or self._failed):
            order = self._heads.work[:need]
        else:
            order = yield from self._joined(need)
        work = self.tx.keys.work(self.queue)
        usable = [self._usable(Place(work, *entry)) for entry in order]
        return [candidate for candidate in usable if candidate]

    def _joined(self, need: int) -> Transition[Scored]:
        """The jobs that go first once what is due has joined them."""
        recurring = list(zip(self._heads.recurring, self._recurring, strict=True))[: max(need, 0)]
        children = yield from spawning.spawn(self.tx, self.queue, recurring, need, self.settings)
        self._found |= {jid: found for jid, (_, found) in children.items()}
        due = yield from self._due(need)
        added = {jid: score for jid, (score, _) in children.items()} | self._promoted(due)
        order = yield from self._order(added, need)
        yield from self._look_up(order)
        return order

    def _due(self, need: int) -> Transition[Scored]:
        head = self._heads.scheduled
        due = [entry for entry in head if entry[0] not in self._failed]
        if len(due) < len(head) == self.number:
            # what has failed makes room for others, which the head that was read does not show
            key = self.tx.keys.scheduled(self.queue)
            (entries,) = yield from self.tx.read(("ZRANGEBYSCORE", key, 0, "+inf", "WITHSCORES"))
            due = [entry for entry in entries if entry[1] <= self.tx.now]
            yield from self._look_up(due[:need])
        return due if need < 0 else due[:need]

    def _look_up(self, entries: Scored) -> Transition[None]:
        unseen = [jid for jid, _ in entries if jid not in self._found]
        if unseen:
            more, _, _ = yield from load(self.tx, unseen)
            self._found |= more

    def _promoted(self, scheduled: Scored) -> dict[str, float]:
        scores = {}
        for jid, due in scheduled:
            found = self._found[jid]
            try:
                if isinstance(found, StoreCorrupted):
                    raise found
                scores[jid] = promote(found.job, self.queue)
            except StoreCorrupted as fault:
                self._set_aside(Place(self.tx.keys.scheduled(self.queue), jid, due), fault)
        return scores

    def _order(self, added: dict[str, float], need: int) -> Transition[Scored]:
        work = self._heads.work
        touched = self._failed | added.keys()
        if not touched.isdisjoint(jid for jid, _ in work) and len(work) == self.number:
            # a job stands in two places, so the head that was read may be too short
            key = self.tx.keys.work(self.queue)
            (work,) = yield from self.tx.read(("ZREVRANGE", key, 0, -1, "WITHSCORES"), last=True)
        return first_of(work, added, self._failed, need)

    def _usable(self, place: Place) -> Candidate | None:
        found = self._found[place.member]
        try:
            if isinstance(found, StoreCorrupted):
                raise found
            found.check()
            found.job.number("time", self.tx.now)
        except StoreCorrupted as fault:
            self._set_aside(place, fault)
            return None
        return found

    def _set_aside(self, place: Place, fault: StoreCorrupted) -> None:
        if not (self.shows and isinstance(fault, DanglingEntry)):
            self.obstructed |= set_aside(self.tx, self.queue, place, fault)
