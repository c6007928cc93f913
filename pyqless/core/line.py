# SPDX-License-Identifier: MIT
"""The jobs of a queue in the order in which they go: pop and peek both work on it."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter

from pyqless.core import busyness, spawning
from pyqless.core.candidates import Candidate, Heads, Place, Scored, order_of, set_aside
from pyqless.core.effects import Replies, Transition
from pyqless.core.locks import Expired, expire
from pyqless.core.lookup import Known, load
from pyqless.core.places import promote
from pyqless.core.settings import Settings
from pyqless.core.statistics import Sampler
from pyqless.core.transaction import Transaction
from pyqless.errors import CorruptedJob, DanglingEntry, StoreCorrupted

__all__ = ["Line"]


class Line:
    """
    What a queue has to hand out, within one transaction.

    Args:
        number: how many jobs are wanted; a negative number as in the core (C8).
        settings: those that expiry (``locks.expire``) and histories look at.
        shows: whether jobs are only shown; entries without a job are then skipped, as by the core.
        known: what was looked up with the heads, since it will probably be needed; what stands elsewhere than the
            heads say is looked up again.
    """

    def __init__(
        self,
        tx: Transaction,
        queue: str,
        number: int,
        settings: Settings,
        *,
        shows: bool = False,
        known: Known | None = None,
    ) -> None:
        self.tx = tx
        self.queue = queue
        self.number = number
        self.settings = settings
        self.shows = shows
        #: the job that will probably go next if those wanted are handed out, and its score
        self.runner_up: tuple[str, float] | None = None
        #: what has been looked up
        self.known = Known({}, {}, {}) if known is None else known
        #: whether damaged entries stood in the way of others
        self.obstructed = False
        self._heads = Heads([], [], [], [])
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
        self._heads = self._chosen(Heads.of(replies, self.tx.now))
        unseen = [place for place in self._places() if not self.known.shows(*place)]
        if not unseen:
            return
        recur = self.tx.keys.recur(self.queue)
        recurring = [place.member for place in unseen if place.key == recur]
        known, samples = yield from load(
            self.tx,
            [place.member for place in unseen if place.key != recur],
            recurring=recurring,
            places=unseen,
            also=sampler.guarded() if sampler else (),
            beside=sampler.free() if sampler else (),
            last=not recurring,
        )
        self.known.learn(known)
        if sampler:
            sampler.take(samples)

    def _places(self) -> list[Place]:
        """The places in the heads."""
        keys, queue = self.tx.keys, self.queue
        expired, recurring, scheduled, work = self._heads
        sets = (
            (keys.locks, expired),
            (keys.recur, recurring),
            (keys.scheduled, scheduled),
            (keys.work, work),
        )
        return [Place(key(queue), *entry) for key, head in sets for entry in head]

    def _chosen(self, heads: Heads) -> Heads:
        """As many of each as may be handed out; of the waiting ones those that few others will want."""
        work, number = heads.work, self.number
        choice = self._choice(work)
        if 0 < number < len(work):
            first = self._first(work, choice)
            self.runner_up = work[self._following(first, choice)]
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
        """From which of them on they are taken: the one that is known, or else anywhere, as few others will do."""
        if self.known.scores:
            key = self.tx.keys.work(self.queue)
            for at, entry in enumerate(work[:choice]):
                if self.known.shows(key, *entry):
                    return at
        return int(self.tx.chance * (choice - self.number + 1))

    def _following(self, first: int, choice: int) -> int:
        """Which of them goes next: any other."""
        number = self.number
        if choice == number:
            return number
        chance = self.tx.chance * 4096 % 1.0
        return (first + number + int(chance * (choice - number))) % choice

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
            self._note_runner_up(self._heads.work, need)
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
        known = self.known
        recurring = [(entry, known.recurring[entry[0]]) for entry in self._heads.recurring]
        children = yield from spawning.spawn(
            self.tx, self.queue, recurring[: max(need, 0)], need, self.settings, known=known.jobs
        )
        due = yield from self._due(need)
        order = yield from self._order(children | self._promoted(due), need)
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
        unseen = [jid for jid, _ in entries if jid not in self.known.jobs]
        if unseen:
            more, _ = yield from load(self.tx, unseen)
            self.known.learn(more)

    def _promoted(self, scheduled: Scored) -> dict[str, float]:
        scores = {}
        for jid, due in scheduled:
            found = self.known.jobs[jid]
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
        order = order_of(work, added, self._failed)
        self._note_runner_up(order, need)
        return order[:need]

    def _note_runner_up(self, order: Scored, need: int) -> None:
        """Who is left behind may go before the one that was thought to go next."""
        behind = order[need : need + 1] if need >= 0 else []
        if self.runner_up is not None:
            behind.append(self.runner_up)
        self.runner_up = max(behind, key=itemgetter(1), default=None)

    def _usable(self, place: Place) -> Candidate | None:
        found = self.known.jobs[place.member]
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
