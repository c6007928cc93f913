# SPDX-License-Identifier: MIT
"""
The verdict: what clients were told, beside what the book says, beside how the jobs themselves stand.

Nothing of it asks pyqless: the store is read by plain commands.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import redis

from tests.ordeal.book import Entry, Event
from tests.ordeal.clerk import GROUP, QUEUES, RETRIES, Call

__all__ = ["WRONG", "Life", "Verdict", "judge", "lives", "read_lives"]


class Life(NamedTuple):
    """How a job stands, and what it has been through."""

    #: and where it is to be found, if that is not the one place for this state
    state: str
    #: who has it in hand
    worker: str
    #: of the last call that wrote its data
    number: int
    remaining: int
    #: how often it was put, popped, completed and failed, where it was
    events: Mapping[str, int]


#: what may be wrong with a call or a job
WRONG: Final = ("doubles", "ghosts", "lost", "baseless", "shared", "astray")


class Verdict(NamedTuple):
    """
    How calls ended, and what is wrong; calls by their numbers, jobs by their jids.

    ``doubles``: took effect more than once.
    ``ghosts``: took effect, and were reported as not done; or nobody has made them.
    ``lost``: were reported as done, and took no effect, or another.
    ``baseless``: were refused, although no call before them was in doubt that had done it.
    ``shared``: popped a job that somebody had in hand.
    ``astray``: jobs that stand otherwise than by the book.
    """

    #: how many were reported as done, as not done, and as unknown
    acknowledged: int
    undone: int
    unknown: int
    wrong: Mapping[str, Sequence[int | str]]

    @property
    def faults(self) -> dict[str, Sequence[int | str]]:
        """What there is of that."""
        return {name: found for name, found in self.wrong.items() if found}


def judge(calls: Iterable[Call], book: Sequence[Entry], found: Mapping[str, Life]) -> Verdict:
    """
    Compare.

    Args:
        calls: what all clients were told.
        book: what took effect, in its order.
        found: how the jobs stand in the store.
    """
    told = {call.number: call for call in calls}
    counts = Counter(call.told for call in told.values())
    expected, shared = lives(book)
    jids = expected.keys() | found.keys()
    wrong = (
        [number for number, times in Counter(entry.number for entry in book).items() if times > 1],
        [entry.number for entry in book if not _is_known(told.get(entry.number))],
        [call.number for call in _lost(told.values(), book)],
        [call.number for call in _baseless(told, book)],
        shared,
        [jid for jid in jids if expected.get(jid) != found.get(jid)],
    )
    return Verdict(
        counts["done"], counts["undone"], counts["unknown"], dict(zip(WRONG, wrong, strict=True))
    )


def _is_known(call: Call | None) -> bool:
    return call is not None and call.told in {"done", "unknown"}


def _lost(calls: Iterable[Call], book: Iterable[Entry]) -> Iterator[Call]:
    jids = {entry.number: entry.jid for entry in book}
    return (call for call in calls if call.told == "done" and jids.get(call.number) != call.jid)


def _baseless(told: Mapping[int, Call], book: Iterable[Entry]) -> Iterator[Call]:
    doubtful = {
        (entry.event, entry.jid)
        for entry in book
        if entry.number in told and told[entry.number].told == "unknown"
    }
    return (
        call
        for call in told.values()
        if call.told == "refused" and (call.event, call.jid) not in doubtful
    )


# -- what should be -------------------------------------------------------------------------------

_BEGINNING: Final = Life("", "", -1, RETRIES, {})

#: to which state an event takes a job, and what the job's history calls it, if it tells of it
_LEADS_TO: Final[dict[Event, tuple[str, str | None]]] = {
    "put": ("waiting", "put"),
    "pop": ("running", "popped"),
    "heartbeat": ("running", None),
    "complete": ("complete", "done"),
    "fail": ("failed", "failed"),
    "retry": ("waiting", None),
}


def lives(book: Iterable[Entry]) -> tuple[dict[str, Life], list[int]]:
    """How jobs must stand by the book, and which calls popped one that somebody had in hand."""
    found: dict[str, Life] = {}
    shared = []
    for entry in book:
        before = found.get(entry.jid, _BEGINNING)
        if entry.event == "pop" and before.worker:
            shared.append(entry.number)
        found[entry.jid] = _after(before, entry)
    return found, shared


def _after(before: Life, entry: Entry) -> Life:
    state, what = _LEADS_TO[entry.event]
    writes_data = entry.event not in {"pop", "retry"}
    remaining = RETRIES if entry.event == "complete" else before.remaining
    return Life(
        state,
        entry.worker if state == "running" else "",
        entry.number if writes_data else before.number,
        remaining - (entry.event == "retry"),
        {**before.events, **({what: before.events.get(what, 0) + 1} if what else {})},
    )


# -- what is --------------------------------------------------------------------------------------


def read_lives(server: redis.Redis) -> dict[str, Life]:
    """How each job stands, by its own fields, its history, and the place where it is found."""
    places = _places(server)
    jids = {key.split(":", 2)[2] for key in server.scan_iter("ql:j:*", 1000, "hash")}
    jids |= places.keys()
    with server.pipeline(transaction=False) as pipe:
        for jid in jids:
            pipe.hgetall(f"ql:j:{jid}")
            pipe.lrange(f"ql:j:{jid}-history", 0, -1)
        replies = pipe.execute()
    return {
        jid: _life(fields, history, places.get(jid, []))
        for jid, fields, history in zip(jids, replies[::2], replies[1::2], strict=True)
    }


def _places(server: redis.Redis) -> dict[str, list[str]]:
    """For which states jobs are found, by their jids."""
    found: dict[str, list[str]] = defaultdict(list)
    for state, jids in (
        *(("waiting", server.zrange(f"ql:q:{queue}-work", 0, -1)) for queue in QUEUES),
        *(("running", server.zrange(f"ql:q:{queue}-locks", 0, -1)) for queue in QUEUES),
        ("failed", server.lrange(f"ql:f:{GROUP}", 0, -1)),
        ("complete", server.zrange("ql:completed", 0, -1)),
    ):
        for jid in jids:
            found[str(jid)].append(state)
    return found


def _life(fields: Mapping[str, str], history: Iterable[str], places: list[str]) -> Life:
    state = fields.get("state", "gone")
    return Life(
        state if places == [state] else f"{state} in {places}",
        fields["worker"] if state == "running" else "",
        json.loads(fields.get("data", "{}")).get("number", -1),
        int(fields.get("remaining", -1)),
        Counter(json.loads(entry)[1] for entry in history),
    )
