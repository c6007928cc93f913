# SPDX-License-Identifier: MIT
"""
Every Hypothesis strategy of the property tests: calls as a client on the wire sends them.

A call is drawn for what lies in the store: the jobs that are there, the locks that are held.
Names come from small pools, so that things collide; numbers and JSON are now and then odd or malformed;
and now and then a whole call is mangled.

What depends on the store is drawn as a function of it. So the strategies stay the same from call to call,
which keeps them fast, and a call means the same after Hypothesis has taken away one before it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from pyqless.conformance import Call
from pyqless.core.commands import COMMANDS
from tests.property.store import Store

__all__ = [
    "START",
    "Damage",
    "Shift",
    "Turn",
    "batches",
    "bounded_reads",
    "calls",
    "damages",
    "first_settings",
    "repertoires",
    "runs_of_times",
    "shifts",
    "spelled",
    "times_taken",
    "turns",
    "writes",
]

T = TypeVar("T")

#: words of a call: one, several, or what the store makes of it
Part: TypeAlias = str | tuple["Part", ...] | Callable[[Store], "Part"]
Parts: TypeAlias = SearchStrategy[Any]

#: when the clock starts, Unix time, seconds: early on a day
START: Final = 1400000000.0


def said(part: Part, store: Store) -> Call:
    """The words themselves."""
    if isinstance(part, str):
        return (part,)
    if isinstance(part, tuple):
        return tuple(word for inner in part for word in said(inner, store))
    return said(part(store), store)


def mostly(common: Sequence[T], rare: Sequence[T]) -> SearchStrategy[T]:
    """Draw one of the common values, and now and then a rare one."""
    times = 1 + 6 * len(rare) // len(common)
    return st.sampled_from([*common] * times + [*rare])


def rarely(rare: Parts, common: Parts, *, of: int = 10) -> Parts:
    """Draw from one strategy, and once in so many times from a rare one."""
    return st.integers(1, of).flatmap(lambda number: rare if number == of else common)


def one_of_the(find: Callable[[Store], Sequence[Part]], otherwise: Parts) -> Parts:
    """Draw one of what is found in the store; where there is nothing, and now and then, another."""

    def drawn(number: int, other: Part) -> Callable[[Store], Part]:
        def choose(store: Store) -> Part:
            found = find(store) if number < 35 else ()
            return found[number % len(found)] if found else other

        return choose

    return st.builds(drawn, st.integers(0, 39), otherwise)


def some(*parts: Parts) -> Parts:
    """Draw the first few of arguments that may be left out."""
    return st.integers(0, len(parts)).flatmap(lambda count: st.tuples(*parts[:count]))


def options(**values: Parts) -> Parts:
    """Draw some of the options that come as names and values."""
    return st.fixed_dictionaries({}, optional=values).map(lambda given: tuple(given.items()))


def several(part: Parts) -> Parts:
    """Draw a few, equal ones among them."""
    return st.lists(part, max_size=3).map(tuple)


# -- names, numbers, JSON -------------------------------------------------------------------------

#: behind the usual jids, some that name what a recurring job makes
JIDS = mostly(("a", "b", "c", "d", "e", "7"), ("r1-1", "r1-2", 'é"\\', "", "nowhere", "a-history"))
QUEUES = mostly(("q1", "q2"), ("ü:q", ""))
WORKERS = mostly(("w1", "w2"), ("ü", ""))
GROUPS = mostly(("g1", "g2"), ("failed-retries-q1", ""))
TAGS = mostly(("t1", "t2", "t3"), ("é", "7", ""))
KLASSES = mostly(("K",), ("", "é.Klass"))
TEXTS = mostly(("text",), ("", 'li\nne "é" /'))

DELAYS = mostly(("0", "0", "0", "10", "60", "0.25"), ("-5", " 1e1 ", "1_0", "", "inf"))
PRIORITIES = mostly(("0", "1", "10", "-1"), ("0.1", "1e6", "0x2", "", "high", "nan"))
RETRIES = mostly(("0", "1", "5"), ("1.5", "1.5", "-1", "1e300", "", "none"))
COUNTS = mostly(("1", "2", "3", "25"), ("0", "-1", "-2", "1.5", " 0x2 ", "", "all"))
OFFSETS = mostly(("0", "1"), ("-1", "-2", "0.5", "first"))
INTERVALS = mostly(("10", "60", "3600"), ("0.5", "0", "-1", "soon"))
BACKLOGS = mostly(("0", "1", "2"), ("-1", "0.5", "much"))
DATES = mostly(("0", "86400", "1399939200", "1400000000"), ("-5", "1e15", "today"))

DATA = mostly(
    ("{}", '{"a":1}', '{"list":[],"null":null}'),
    ("[1,[]]", "null", "false", '"é\\u00e9\\/"', "1.50", " [ 12345678901234567 ] ", "{", ""),
)
LOG_DATA = mostly(('{"a":1}',), ("[1]", '"text"', "null", "false", '{"when":9}', "{"))
#: no object with members, which the core writes with some of them twice
ODD_TAG_LISTS = ("[]", "{}", '["t1","t1"]', "[7]", "[0.5]", "null", "[null]", "false", "t1")
TAG_LISTS = rarely(st.sampled_from(ODD_TAG_LISTS), st.lists(TAGS, max_size=2).map(json.dumps))


# -- what is there --------------------------------------------------------------------------------


def _busy(store: Store) -> list[str]:
    """The queues in which something waits or is locked."""
    return sorted({place.queue for place in store.standing if place.kind != "depends"})


def _families(store: Store) -> list[Part]:
    """Each job with all that wait for it."""
    return [(jid, *sorted(store.dependents.get(jid, ()))) for jid in sorted(store.jobs)]


def _waits(store: Store) -> list[Part]:
    """All that each job waits for, to be taken off."""
    return [(jid, "off", *sorted(others)) for jid, others in sorted(store.dependencies.items())]


#: a jid of a job that is there
EXISTING = one_of_the(lambda store: sorted(store.jobs), JIDS)
DEPENDING = one_of_the(lambda store: sorted(store.dependencies), JIDS)
#: a jid, its holder, and its queue: a lock that is held
LOCKS = one_of_the(lambda store: store.running, st.tuples(JIDS, WORKERS, QUEUES))
HELD = one_of_the(lambda store: [lock[:2] for lock in store.running], st.tuples(JIDS, WORKERS))
RUNNING = one_of_the(lambda store: [jid for jid, *_ in store.running], JIDS)
#: a jid, its queue, and its holder, as retry has them
BACK = one_of_the(
    lambda store: [(jid, queue, worker) for jid, worker, queue in store.running],
    st.tuples(JIDS, QUEUES, WORKERS),
)
BUSY = one_of_the(_busy, QUEUES)
FAILED = one_of_the(lambda store: sorted(store.groups), GROUPS)
#: a recurring job and a job may share a jid
RECURRING = one_of_the(lambda store: sorted(store.recurring), st.sampled_from(("r1", "r2", "a")))


def _list(jids: Sequence[Part]) -> Callable[[Store], str]:
    return lambda store: json.dumps(said(tuple(jids), store))


#: no jid is a fraction, which the core writes in two ways
DEPENDS = rarely(
    st.sampled_from(("[]", "{}", "[7]", '["nowhere"]', '[["a"]]', "null", "a")),
    st.lists(EXISTING, max_size=3).map(_list),
)


# -- what each command takes ----------------------------------------------------------------------


def _put(jid: Parts) -> Parts:
    plain = options(priority=PRIORITIES, retries=RETRIES, tags=TAG_LISTS)
    waits = st.tuples(st.just("depends"), DEPENDS, options(unknown=TEXTS, tags=TAG_LISTS))
    return st.tuples(WORKERS, QUEUES, jid, KLASSES, DATA, DELAYS, rarely(waits, plain, of=3))


def _onward() -> Parts:
    """The options of complete; once in a while without the queue that they are for."""
    given = options(delay=DELAYS, depends=DEPENDS)
    return rarely(given, st.just(()) | st.tuples(st.just("next"), QUEUES, given))


def _retry() -> Parts:
    """Back into its queue, and now and then into another."""

    def elsewhere(lock: Part, queue: str) -> Callable[[Store], Part]:
        return lambda store: (said(lock, store)[0], queue, said(lock, store)[2])

    into_another = st.builds(elsewhere, BACK, QUEUES)
    return st.tuples(rarely(into_another, BACK, of=4), some(DELAYS, GROUPS, TEXTS))


def _depends() -> Parts:
    verbs = mostly(("on", "off"), ("never",))
    last = one_of_the(_waits, st.tuples(JIDS, verbs))
    everything = st.tuples(DEPENDING, st.just(("off", "all")))
    return st.tuples(DEPENDING, verbs, several(EXISTING)) | last | everything


def _tag() -> Parts:
    change = st.tuples(mostly(("add", "remove"), ("swap",)), EXISTING, several(TAGS))
    get = st.tuples(st.just("get"), TAGS, some(OFFSETS, COUNTS))
    top = st.tuples(st.just("top"), some(OFFSETS, COUNTS))
    return rarely(get | top, change, of=3)


def _track() -> Parts:
    verbs = mostly(("track", "track", "untrack"), ("TRACK", "follow"))
    return rarely(st.just(()), st.tuples(verbs, EXISTING))


def _recur() -> Parts:
    kinds = mostly(("interval",), ("cron",))
    offsets = mostly(("0", "10"), ("-10", "0.5", "", "later"))
    given = options(backlog=BACKLOGS, priority=PRIORITIES, retries=RETRIES, tags=TAG_LISTS)
    return st.tuples(QUEUES, RECURRING, KLASSES, DATA, kinds, INTERVALS, offsets, given)


def _recur_update() -> Parts:
    given = options(
        interval=INTERVALS,
        queue=QUEUES,
        priority=PRIORITIES,
        retries=RETRIES,
        backlog=BACKLOGS,
        data=DATA,
        klass=KLASSES,
    )
    return st.tuples(RECURRING, given, rarely(st.just(("count", "1")), st.just(())))


def _jobs() -> Parts:
    states = mostly(("running", "stalled", "scheduled", "depends", "recurring"), ("waiting",))
    completed = st.tuples(st.just("complete"), some(OFFSETS, COUNTS))
    return rarely(completed, st.tuples(states, QUEUES, some(OFFSETS, COUNTS)), of=4)


#: what each setting is mostly set to, and what is odd
SETTINGS: Final = {
    "grace-period": (("0", "10", "60"), ("-1", "0.5", "none")),
    "heartbeat": (("5", "60"), ("-10", "0.5", "")),
    "q1-heartbeat": (("30", "600"), ("0",)),
    "q1-max-concurrency": (("1", "2"), ("0", "-1", "1.5", "many")),
    "max-job-history": (("1", "3", "4"), ("2", "0", "-1", "2.5")),
    "jobs-history": (("0", "60", "604800"), ("-1", "0.5", "")),
    "jobs-history-count": (("0", "1", "2"), ("50000", "-1", "1.5")),
    "max-worker-age": (("0", "60", "86400"), ("-60", "old")),
    "application": (("qless",), ("", 'li\nne "é" /')),
}
NAMES = st.sampled_from(sorted(SETTINGS))
SETTING = st.one_of(
    *(st.tuples(st.just(name), mostly(*values)) for name, values in SETTINGS.items())
)

#: the arguments of every command
ARGUMENTS: Final[dict[str, Parts]] = {
    "put": _put(JIDS),
    "pop": st.tuples(BUSY, WORKERS, COUNTS),
    "complete": st.tuples(LOCKS, DATA, _onward()),
    "fail": st.tuples(HELD, GROUPS, TEXTS, some(DATA)),
    "retry": _retry(),
    "heartbeat": st.tuples(HELD, some(DATA)),
    "timeout": several(RUNNING),
    "cancel": one_of_the(_families, JIDS) | several(EXISTING),
    "depends": _depends(),
    "requeue": _put(EXISTING),
    "unfail": st.tuples(QUEUES, FAILED, some(COUNTS)),
    "recur": _recur(),
    "peek": st.tuples(BUSY, COUNTS),
    "priority": st.tuples(EXISTING, PRIORITIES),
    "tag": _tag(),
    "track": _track(),
    "log": st.tuples(EXISTING, TEXTS, some(LOG_DATA)),
    "config.set": SETTING,
    "config.unset": NAMES,
    "config.get": some(NAMES),
    "recur.update": _recur_update(),
    "recur.tag": st.tuples(RECURRING, several(TAGS)),
    "recur.untag": st.tuples(RECURRING, several(TAGS)),
    "recur.get": RECURRING,
    "unrecur": RECURRING,
    "get": EXISTING,
    "multiget": several(EXISTING),
    "failed": rarely(st.just(()), st.tuples(FAILED, some(OFFSETS, COUNTS)), of=3),
    "jobs": _jobs(),
    "length": QUEUES,
    "stats": st.tuples(QUEUES, DATES),
    "queues": some(QUEUES),
    "pause": several(QUEUES),
    "unpause": several(QUEUES),
    "queue.forget": several(QUEUES),
    "workers": some(WORKERS),
    "worker.deregister": several(WORKERS),
}
assert ARGUMENTS.keys() == COMMANDS.keys(), "each command has its strategy"


# -- calls ----------------------------------------------------------------------------------------

#: the commands that bring jobs on their way; without them nothing happens
LIVELY: Final = ("put", "pop", "complete")
WEIGHTS: Final = {
    "put": 4,
    "pop": 4,
    "complete": 3,
    "fail": 2,
    "retry": 3,
    "heartbeat": 2,
    "depends": 2,
    "recur": 2,
    "tag": 2,
    "track": 3,
}

#: what must be there for a command to do more than fail
NEEDS: Final[dict[str, Callable[[Store], Any]]] = {
    **dict.fromkeys(
        ("complete", "fail", "retry", "heartbeat", "timeout"), lambda store: store.running
    ),
    **dict.fromkeys(
        ("recur.update", "recur.tag", "recur.untag", "unrecur"), lambda store: store.recurring
    ),
    **dict.fromkeys(("cancel", "priority", "requeue", "tag", "track"), lambda store: store.jobs),
    "depends": lambda store: store.dependencies,
    "unfail": lambda store: store.groups,
}


class Turn(NamedTuple):
    """The end of one job, and the beginning of the next."""

    #: a ``complete``
    call: Call
    #: the queue that the next job is taken from
    source: str


class Shift(NamedTuple):
    """What a worker does, one after another."""

    queue: str
    worker: str
    #: the names of commands, each with a jid for what is new, and how many seconds after the call before it comes
    steps: list[tuple[str, str, float]]


class Damage(NamedTuple):
    """What a job comes to hold in a field; the whole job is gone if there is none."""

    jid: str
    field: str | None
    text: str = ""


DAMAGES: Final[tuple[tuple[str | None, str], ...]] = (
    (None, ""),
    ("time", "soon"),
    ("tags", "{"),
    ("remaining", "many"),
)


@st.composite
def repertoires(draw: DrawFn) -> tuple[str, ...]:
    """The commands of one run; mostly a few, so that runs go deep."""
    chosen = draw(st.just(set(ARGUMENTS)) | st.sets(st.sampled_from(sorted(ARGUMENTS)), min_size=8))
    return tuple(name for name in ARGUMENTS if name in chosen or name in LIVELY)


def first_settings() -> SearchStrategy[dict[str, str]]:
    """What is set at the start of a run."""
    usual = {name: st.sampled_from(values) for name, (values, _) in SETTINGS.items()}
    return st.fixed_dictionaries({}, optional=usual)


ELAPSED = mostly((0.0, 1.0, 10.0, 61.0, 0.25), (3600.0, 86400.0, 700000.0, -0.5, -30.0, -90000.0))
MOMENTS = st.sampled_from(("", "now", "nan", "inf", "-1", "0", " 0x53724E00 ", "1e15"))
JUNK = st.sampled_from(("", "0", "x", "-1", "{", "null", "é", "\x00", "1e999"))
#: one in fifteen
MISTAKES = st.integers(1, 15).map(lambda number: number == 15)
CHOICES = st.integers(0, 9999)


@st.composite
def calls(draw: DrawFn) -> Call | None:
    """
    The next call of the machine that draws it: of its repertoire, at about its moment, for its store.

    Sometimes there is none: to nothing Hypothesis can shrink a call, and take it away afterwards.
    """
    machine: Any = draw(st.runner())
    names = _likely(machine.repertoire, machine.store)
    number = draw(CHOICES)
    if number == 0:
        return None
    name = names[number % len(names)]
    moment = spelled(machine.now + draw(ELAPSED))
    call = (name, moment, *said(draw(ARGUMENTS[name]), machine.store))
    return _mangled(draw, call) if draw(MISTAKES) else call


@st.composite
def batches(draw: DrawFn, repertoire: Sequence[str]) -> list[Call]:
    """Some calls of one moment, for the store of the machine that draws them."""
    machine: Any = draw(st.runner())
    names = _likely(repertoire, machine.store)
    moment = spelled(machine.now + draw(ELAPSED))
    chosen = draw(st.lists(st.integers(0, len(names) - 1), max_size=6))
    return [
        (names[number], moment, *said(draw(ARGUMENTS[names[number]]), machine.store))
        for number in chosen
    ]


@st.composite
def turns(draw: DrawFn) -> Turn:
    """The end of a job, and where its worker takes the next from, mostly from the same queue."""
    machine: Any = draw(st.runner())
    moment = spelled(machine.now + draw(ELAPSED))
    call = ("complete", moment, *said(draw(ARGUMENTS["complete"]), machine.store))
    (source,) = said(draw(rarely(QUEUES, st.just("q1"), of=3)), machine.store)
    return Turn(call, draw(st.sampled_from((call[4], call[4], source))))


def shifts() -> SearchStrategy[Shift]:
    """A worker's life for a while, with what it lives on."""
    work, rest = ("pop", "pop", "pop", "complete", "complete", "heartbeat"), ("put", "put", "recur")
    step = st.tuples(st.sampled_from((*work, *rest)), JIDS, ELAPSED)
    return st.builds(Shift, QUEUES, WORKERS, st.lists(step, min_size=2, max_size=8))


@st.composite
def damages(draw: DrawFn) -> Damage:
    """Something that no rule does to a job."""
    machine: Any = draw(st.runner())
    (jid,) = said(draw(EXISTING), machine.store)
    return Damage(jid, *draw(st.sampled_from(DAMAGES)))


def _likely(repertoire: Sequence[str], store: Store) -> list[str]:
    """The commands that can do something now, each as often as it is likely."""
    return [
        name
        for name in repertoire
        if name not in NEEDS or NEEDS[name](store)
        for _ in range(WEIGHTS.get(name, 1))
    ]


def spelled(now: float) -> str:
    """A moment as a client sends it."""
    return f"{now:.0f}" if now == int(now) else repr(now)


def _mangled(draw: DrawFn, call: Call) -> Call:
    """A call with something wrong: cut short, too long, at another time, a word replaced."""
    place = draw(CHOICES) % len(call)
    match draw(st.sampled_from(("cut", "longer", "time", "word"))):
        case "cut":
            return call[:place]
        case "longer":
            return (*call, draw(JUNK))
        case "time":
            return (call[0], draw(MOMENTS), *call[2:])
        case _:
            return (*call[:place], draw(JUNK), *call[place + 1 :])


# -- reads and writes of a store ------------------------------------------------------------------

#: one of them is no UTF-8
MEMBERS = st.sampled_from(("a", "b", "c", "é", "\udcff"))
SCORES = st.sampled_from((-math.inf, -1.0, 0.0, 0.5, 2.0, math.inf))
RANKS = st.integers(-2, 4)
NUMBERS = st.sampled_from(("1", "2", "7"))


def _named(*names: str) -> SearchStrategy[str]:
    return st.sampled_from(names)


WRITES = st.one_of(
    st.tuples(_named("HSET"), _named("h"), MEMBERS, NUMBERS),
    st.tuples(_named("HSET"), _named("h"), MEMBERS, NUMBERS, MEMBERS, NUMBERS),
    st.tuples(_named("HDEL"), _named("h"), MEMBERS, MEMBERS),
    st.tuples(_named("HINCRBY"), _named("h"), MEMBERS, st.integers(-2, 2)),
    st.tuples(_named("ZADD"), _named("z"), SCORES, MEMBERS),
    st.tuples(_named("ZREM"), _named("z"), MEMBERS),
    st.tuples(_named("ZREM"), _named("z"), MEMBERS, MEMBERS),
)
RARE_WRITES = st.one_of(
    st.tuples(_named("ZADD"), _named("z"), _named("NX", "XX"), SCORES, MEMBERS),
    st.tuples(_named("ZREMRANGEBYSCORE"), _named("z"), SCORES, SCORES),
    st.tuples(_named("DEL"), _named("h", "z")),
)


def writes() -> SearchStrategy[list[tuple[Any, ...]]]:
    """Writes to a hash ``h`` and a sorted set ``z``."""
    return st.lists(rarely(RARE_WRITES, WRITES, of=12), max_size=8)


_RANKED = st.tuples(_named("ZRANGE", "ZREVRANGE"), _named("z"))
_SCORED = st.tuples(_named("ZRANGEBYSCORE"), _named("z"), SCORES)
_WITH_SCORES = st.just(("WITHSCORES",))
_LIMIT = st.tuples(_named("LIMIT"), st.integers(0, 1), RANKS)
#: a read in parts
BOUNDED_READS = st.one_of(
    st.tuples(st.tuples(_named("HGET"), _named("h"), MEMBERS)),
    st.tuples(st.tuples(_named("HMGET"), _named("h"), MEMBERS, MEMBERS)),
    st.tuples(st.tuples(_named("ZSCORE"), _named("z"), MEMBERS)),
    st.tuples(st.tuples(_named("ZCARD"), _named("z"))),
    st.tuples(st.tuples(_named("ZCOUNT"), _named("z"), SCORES, SCORES)),
    st.tuples(_RANKED, st.tuples(st.just(0), RANKS), _WITH_SCORES),
    st.tuples(_RANKED, st.tuples(RANKS, RANKS), st.just(()) | _WITH_SCORES),
    st.tuples(_SCORED, st.just(("+inf",)), _WITH_SCORES, st.just(()) | _LIMIT),
    st.tuples(_SCORED, st.tuples(SCORES), st.just(()) | _WITH_SCORES, st.just(()) | _LIMIT),
)


def bounded_reads() -> SearchStrategy[tuple[Any, ...]]:
    """Reads of a hash ``h`` or a sorted set ``z`` that show a part of it, odd ones among them."""
    return BOUNDED_READS.map(lambda parts: tuple(word for part in parts for word in part))


# -- statistics -----------------------------------------------------------------------------------


#: what lies between two moments is never -0
TIMES = st.floats(-100, 10**6).map(lambda seconds: seconds + 0.0)


def times_taken() -> SearchStrategy[list[float]]:
    """Times that jobs waited or ran, seconds; some negative, as by a clock that goes back."""
    return st.lists(TIMES, min_size=1, max_size=50)


def runs_of_times() -> SearchStrategy[list[list[float]]]:
    """Such times, in the runs in which they are noted down."""
    return st.lists(st.lists(TIMES, max_size=10), max_size=5)
