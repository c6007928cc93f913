# SPDX-License-Identifier: MIT
"""
How a queue hands out many jobs: with the end of one large pop, but a bounded number a transaction.

One kind of work comes after the other, in the order of the core: the expired locks, what recurring jobs make,
what was delayed until now, the waiting jobs. A kind that has nothing to do takes no transaction of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from pyqless.core import busyness, letting_go, spawning
from pyqless.core.candidates import Candidate, Place, Scored
from pyqless.core.chaining import followed
from pyqless.core.effects import Command, Continue, FollowedBy, Transition
from pyqless.core.foreseeing import pop_opening, pop_settings
from pyqless.core.handing_out import allowed, hand_out
from pyqless.core.keys import Keys
from pyqless.core.line import Line
from pyqless.core.lookup import load
from pyqless.core.models import Job
from pyqless.core.paging import whole
from pyqless.core.settings import Settings
from pyqless.core.statistics import Sampler
from pyqless.core.transaction import Transaction
from pyqless.errors import QlessError

__all__ = ["MANY", "pop_many"]

#: how many jobs a transaction deals with; each takes two guards
MANY: Final = 100

_End: TypeAlias = "list[Job] | Continue | FollowedBy"


class _Course(NamedTuple):
    """How far a pop has come."""

    queue: str
    worker: str
    #: how many jobs are asked for
    wanted: int
    #: how many the waiting ones are asked for still
    left: int
    handed: tuple[Job, ...] = ()
    #: how many expired locks were met, and how many of them were given more time
    stalled: int = 0
    told: int = 0
    #: the recurring jobs that were due, once they have been looked for
    due: tuple[str, ...] | None = None
    #: whether the first of them has made some already
    goes_on: bool = False
    #: how many jobs they have made, and how many that were delayed have joined the waiting ones
    made: int = 0
    promoted: int = 0
    #: whether damaged entries stood in the way
    obstructed: bool = False


class _Link(NamedTuple):
    """What each transaction begins with."""

    settings: Settings
    #: when the locks made now expire, Unix time in seconds
    expires: float
    #: whether others' chains are to be taken up
    owed: bool


_Step: TypeAlias = Callable[[Transaction, _Course, _Link], Transition[_End]]


def pop_many(tx: Transaction, queue: str, worker: str, count: float) -> Transition[_End]:
    """
    Hand many jobs to a worker, see ``popping.pop``.

    What goes wrong once a transaction is committed is left to the next call to tell.
    """
    number = whole("count", count)
    course = _Course(queue, worker, number, number)
    link = yield from _open(tx, course, _take_back)
    if link is None:
        return []
    number = yield from allowed(tx, queue, link.settings, count)
    tx.zadd(tx.keys.workers, tx.now, worker)
    if number == 0:
        return []
    return (yield from _take_back(tx, course._replace(wanted=number, left=number), link))


def _open(tx: Transaction, course: _Course, step: _Step) -> Transition[_Link | None]:
    """Read what is needed for each link, and what its steps will look at; None if the queue is paused."""
    queue = course.queue
    busyness.notice(tx, queue)
    opening, owing = pop_opening(tx.keys, queue), letting_go.look(tx.keys)
    looks = [look(tx.keys, course) for look in _LOOKS[_STEPS.index(step) :]]
    yield from tx.preload(*opening, free=[*looks, owing], last=False)
    texts, paused, owed = yield from tx.read(*opening, free=[owing])
    settings = Settings(pop_settings(queue), texts)
    expires = tx.now + settings.heartbeat(queue)
    return None if paused else _Link(settings, expires, bool(owed))


def _then(course: _Course, step: _Step) -> Continue:
    return Continue(partial(_go_on, course=course, step=step))


def _go_on(tx: Transaction, course: _Course, step: _Step) -> Transition[_End]:
    try:
        link = yield from _open(tx, course, step)
        return (yield from step(tx, course, link)) if link else list(course.handed)
    except QlessError:
        tx.drop_writes()
        return list(course.handed)


# -- the heads of a queue's sets --------------------------------------------------------------
#
# They are read with the beginning of each link, in the order of its steps, see ``head_reads``.


def _locks(keys: Keys, course: _Course) -> Command:
    some = max(min(course.wanted - course.stalled, MANY), 1)
    return ("ZRANGE", keys.locks(course.queue), 0, some - 1, "WITHSCORES")


def _recurring(keys: Keys, course: _Course) -> Command:
    key = keys.recur(course.queue)
    if course.due:
        return ("ZSCORE", key, course.due[0])
    return ("ZRANGEBYSCORE", key, 0, "+inf", "WITHSCORES", "LIMIT", 0, max(course.left, 1))


def _scheduled(keys: Keys, course: _Course) -> Command:
    some = max(min(course.left - course.promoted, MANY), 1)
    return (
        *("ZRANGEBYSCORE", keys.scheduled(course.queue), 0, "+inf"),
        *("WITHSCORES", "LIMIT", 0, some),
    )


def _work(keys: Keys, course: _Course) -> Command:
    some = max(min(course.left, MANY), 1)
    return ("ZREVRANGE", keys.work(course.queue), 0, some - 1, "WITHSCORES")


_LOOKS: Final = (_locks, _recurring, _scheduled, _work)


# -- one kind of work each --------------------------------------------------------------------


def _take_back(tx: Transaction, course: _Course, link: _Link) -> Transition[_End]:
    """Deal with expired locks, of which the core looks at as many as jobs are asked for."""
    locks, some = tx.keys.locks(course.queue), course.wanted - course.stalled
    look = _locks(tx.keys, course)
    # locks that have expired as they are made would be met again, so then there is one transaction
    if link.expires > tx.now:
        some = min(some, MANY)
    else:
        look = ("ZRANGE", locks, 0, some - 1, "WITHSCORES")
    some = yield from allowed(tx, course.queue, link.settings, some, course.told)
    if some == 0:
        return (yield from _make(tx, course, link))
    (head,) = yield from tx.read(free=[look])
    stalled = [entry for entry in head[:some] if entry[1] <= tx.now]
    if not stalled:
        return (yield from _make(tx, course, link))
    line, sampler = Line(tx, course.queue, some, link.settings), _sampler(tx, course)
    yield from line.load([stalled, [], [], []], sampler)
    freed = line.invalidate_locks()
    told = {write[3] for write in tx.writes if write[:2] == ("ZADD", locks)}
    told.difference_update(candidate.job.jid for candidate in freed)
    course = _handed(tx, course, link, sampler, freed)._replace(
        left=course.left - len(freed),
        stalled=course.stalled + len(stalled),
        told=course.told + len(told),
        obstructed=course.obstructed or line.obstructed,
    )
    again = link.expires > tx.now and course.stalled < course.wanted
    return _then(course, _take_back if again else _make)


def _make(tx: Transaction, course: _Course, link: _Link) -> Transition[_End]:
    """Make the jobs of recurring ones, all of the one that was due first before those of the next."""
    keys, recur = tx.keys, tx.keys.recur(course.queue)
    if course.due is None:
        (head,) = yield from tx.read(free=[_recurring(keys, course)])
        course = course._replace(due=tuple(jid for jid, moment in head if moment <= tx.now))
    some = min(course.left - course.made, MANY)
    if not course.due or some <= 0:
        return (yield from _promote(tx, course, link))
    jid, *others = course.due
    (moment,) = yield from tx.read(free=[_recurring(keys, course)])
    made = 0
    if moment is not None and moment <= tx.now:
        known, _ = yield from load(
            tx, (), recurring=[jid], places=[Place(recur, jid, moment)], last=False
        )
        children = yield from spawning.spawn(
            tx,
            course.queue,
            [((jid, moment), known.recurring[jid])],
            some,
            link.settings,
            known=known.jobs,
            goes_on=course.goes_on,
        )
        made = len(children)
    goes_on = made == some
    course = course._replace(
        due=course.due if goes_on else tuple(others), goes_on=goes_on, made=course.made + made
    )
    return _then(course, _make)


def _promote(tx: Transaction, course: _Course, link: _Link) -> Transition[_End]:
    """Let jobs that were delayed until now join the waiting ones."""
    some = min(course.left - course.promoted, MANY)
    due: Scored = []
    if some > 0:
        (head,) = yield from tx.read(free=[_scheduled(tx.keys, course)])
        due = [entry for entry in head if entry[1] <= tx.now]
    if not due:
        return (yield from _take(tx, course, link))
    line = Line(tx, course.queue, some, link.settings)
    yield from line.load([[], [], due, []])
    yield from line.take(some)
    return _then(course._replace(promoted=course.promoted + len(due)), _promote)


def _take(tx: Transaction, course: _Course, link: _Link) -> Transition[_End]:
    """Hand out the waiting jobs that go first."""
    some = min(course.left, MANY)
    some = yield from allowed(tx, course.queue, link.settings, some, course.told)
    head: Scored = []
    if some > 0:
        (head,) = yield from tx.read(free=[_work(tx.keys, course)])
        head = head[:some]
    line, sampler = Line(tx, course.queue, some, link.settings), _sampler(tx, course)
    yield from line.load([[], [], [], head], sampler)
    taken = yield from line.take(some)
    course = _handed(tx, course, link, sampler, taken)._replace(
        left=course.left - some, obstructed=course.obstructed or line.obstructed
    )
    if course.left > 0 and 0 < some == len(head):
        return _then(course, _take)
    if course.obstructed and not course.handed:
        return _then(_Course(course.queue, course.worker, course.wanted, course.wanted), _take_back)
    owed = letting_go.take_up_some if link.owed else None
    return followed(list(course.handed), owed, sampler.housekeeping() if taken else None)


#: in the order of the core
_STEPS: Final = (_take_back, _make, _promote, _take)


def _sampler(tx: Transaction, course: _Course) -> Sampler:
    return Sampler.of(tx, "wait", course.queue)


def _handed(
    tx: Transaction,
    course: _Course,
    link: _Link,
    sampler: Sampler,
    candidates: list[Candidate],
) -> _Course:
    """The course once some more jobs are handed out."""
    hand_out(
        tx,
        course.queue,
        course.worker,
        candidates,
        expires=link.expires,
        settings=link.settings,
        sampler=sampler,
    )
    return course._replace(handed=(*course.handed, *(each.view() for each in candidates)))
