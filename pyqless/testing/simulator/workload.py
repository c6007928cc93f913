# SPDX-License-Identifier: MIT
"""What clients want: drawn calls on few jobs, so that they get into each other's way."""

from __future__ import annotations

import json
import math
import random
import shlex
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from pyqless.core import batches, limits, putting, replies, statistics, working
from pyqless.core.commands import Call, call
from pyqless.core.putting import JobSpec

if TYPE_CHECKING:
    from pyqless.testing.simulator.clients import Client

__all__ = ["COMMANDS", "Words", "Workload", "wanted_by"]

#: a call without its moment
Words: TypeAlias = tuple[str, ...]

#: draws a call of a client
Draw: TypeAlias = "Callable[[random.Random, Client], Words]"

_JIDS: Final = ("a", "b", "c", "d", "e", "f")
_QUEUES: Final = ("q", "q", "q", "other")
_GROUPS: Final = ("g", "g", "h")
_TAGS: Final = ("red", "blue")


def _put(chance: random.Random, client: Client) -> Words:
    words = ["put", client.name, chance.choice(_QUEUES), chance.choice(_JIDS), "klass", "{}"]
    words.append(chance.choice(("0", "0", "0", "3")))
    if chance.random() < 0.3:
        words += ["priority", chance.choice("0125")]
    if chance.random() < 0.2:
        words += ["tags", json.dumps(chance.sample(_TAGS, chance.randint(1, 2)))]
    if chance.random() < 0.3:
        words += ["retries", chance.choice("01")]
    if chance.random() < 0.3:
        others = [jid for jid in _JIDS if jid != words[3]]
        words += ["depends", json.dumps(chance.sample(others, chance.randint(1, 2)))]
    return tuple(words)


def _pop(chance: random.Random, client: Client) -> Words:
    return "pop", chance.choice(_QUEUES), client.name, chance.choice("112")


def _lock(chance: random.Random, client: Client) -> tuple[str, str]:
    """A job that the client has, or thinks it has, and its queue."""
    held = list(client.held.items())
    return chance.choice(held) if held else (chance.choice(_JIDS), "q")


def _of_lock(draw: Draw) -> Draw:
    """A call for a job that the client has; while it has none, it mostly takes one."""

    def drawn(chance: random.Random, client: Client) -> Words:
        if not client.held and chance.random() < 0.8:
            return _pop(chance, client)
        return draw(chance, client)

    return drawn


def _complete(chance: random.Random, client: Client) -> Words:
    jid, queue = _lock(chance, client)
    words: Words = ("complete", jid, client.name, queue, "{}")
    if chance.random() < 0.2:
        words += ("next", chance.choice(_QUEUES))
        if chance.random() < 0.5:
            others = [other for other in _JIDS if other != jid]
            words += ("depends", json.dumps([chance.choice(others)]))
    return words


def _fail(chance: random.Random, client: Client) -> Words:
    return "fail", _lock(chance, client)[0], client.name, chance.choice(_GROUPS), "message"


def _retry(chance: random.Random, client: Client) -> Words:
    jid, queue = _lock(chance, client)
    return "retry", jid, queue, client.name, chance.choice(("0", "0", "2"))


def _heartbeat(chance: random.Random, client: Client) -> Words:
    return "heartbeat", _lock(chance, client)[0], client.name


def _depends(chance: random.Random, _client: Client) -> Words:
    jid, *others = chance.sample(_JIDS, chance.randint(2, 3))
    verb = chance.choice(("on", "off"))
    return "depends", jid, verb, *(["all"] if verb == "off" and chance.random() < 0.2 else others)


def _jid(name: str, *rest: str) -> Draw:
    return lambda chance, _client: (name, chance.choice(_JIDS), *rest)


def _queue(name: str, *rest: str) -> Draw:
    return lambda chance, _client: (name, chance.choice(_QUEUES), *rest)


def _several(name: str) -> Draw:
    return lambda chance, _client: (name, *chance.sample(_JIDS, chance.randint(1, 2)))


def _fixed(*choices: Words) -> Draw:
    return lambda chance, _client: chance.choice(choices)


def _put_new(chance: random.Random, client: Client) -> Words:
    """A put under a jid that nobody else has."""
    jid = f"{client.name}.{next(client.numbers)}"
    return "put new", client.name, chance.choice(_QUEUES), jid


def _turn(chance: random.Random, client: Client) -> Words:
    """The end of one job and the beginning of the next, in one transaction."""
    jid, queue = _lock(chance, client)
    return "turn", jid, client.name, queue


def _puts(chance: random.Random, client: Client) -> Words:
    """Several puts in one transaction."""
    return "puts", client.name, chance.choice(_QUEUES), *chance.choices(_JIDS, k=3)


def _work(chance: random.Random, client: Client) -> Words:
    """What a worker does next: the calls that the driver expects."""
    if not client.held:
        return "pop", "q", client.name, "1"
    jid, queue = list(client.held.items())[-1]
    if chance.random() < 0.2:
        return "heartbeat", jid, client.name
    return "complete", jid, client.name, queue, "{}"


#: how a call of each command is drawn; some are no commands of the core, see ``wanted_by``
COMMANDS: Final[Mapping[str, Draw]] = {
    "put": _put,
    "put new": _put_new,
    "work": _work,
    "turn": _of_lock(_turn),
    "puts": _puts,
    "pop": _pop,
    "complete": _of_lock(_complete),
    "fail": _of_lock(_fail),
    "retry": _of_lock(_retry),
    "heartbeat": _of_lock(_heartbeat),
    "depends": _depends,
    "cancel": _several("cancel"),
    "timeout": _several("timeout"),
    "requeue": lambda chance, client: ("requeue", *_put(chance, client)[1:]),
    "unfail": lambda chance, _client: (
        *("unfail", chance.choice(_QUEUES), chance.choice(_GROUPS)),
        chance.choice("123"),
    ),
    "peek": _queue("peek", "2"),
    "queues": _queue("queues"),
    "jobs": lambda chance, _client: (
        *("jobs", chance.choice(("running", "stalled", "scheduled", "depends"))),
        chance.choice(_QUEUES),
    ),
    "length": _queue("length"),
    "stats": _queue("stats", "1400000000"),
    "get": _jid("get"),
    "multiget": _several("multiget"),
    "failed": lambda chance, _client: ("failed", *chance.choice(((), ("g",), ("h",)))),
    "priority": lambda chance, _client: ("priority", chance.choice(_JIDS), chance.choice("0125")),
    "log": _jid("log", "a message"),
    "tag": lambda chance, _client: (
        *("tag", chance.choice(("add", "remove")), chance.choice(_JIDS)),
        chance.choice(_TAGS),
    ),
    "track": lambda chance, _client: (
        *("track", chance.choice(("track", "track", "untrack"))),
        chance.choice(_JIDS),
    ),
    "recur": lambda chance, _client: (
        *("recur", chance.choice(_QUEUES), chance.choice(("R", "S")), "klass", "{}"),
        *("interval", chance.choice(("3", "10")), chance.choice("05")),
        *("priority", chance.choice("05")),
    ),
    "recur.tag": lambda chance, _client: (
        *("recur.tag", chance.choice(("R", "S"))),
        chance.choice(_TAGS),
    ),
    "workers": _fixed(("workers",)),
    "fold": _fixed(("fold",)),
    "pause": _fixed(("pause", "q"), ("unpause", "q"), ("unpause", "q")),
    "config": _fixed(
        ("config.set", "heartbeat", "3"),
        ("config.set", "heartbeat", "8"),
        ("config.set", "max-job-history", "4"),
        ("config.unset", "max-job-history"),
        ("config.set", "jobs-history-count", "1"),
        ("config.unset", "jobs-history-count"),
        ("config.set", "grace-period", "0"),
        ("config.set", "q-max-concurrency", "1"),
        ("config.unset", "q-max-concurrency"),
        ("config.set", "q-max-waiting", "2"),
        ("config.unset", "q-max-waiting"),
    ),
}


def wanted_by(words: Words, now: float) -> Call:
    """
    What a call runs.

    Beside the commands of the core: ``put new WORKER QUEUE JID``, ``puts WORKER QUEUE JID ...``, ``turn JID WORKER QUEUE``,
    and ``fold``, which enters deferred samples.
    """
    match words:
        case ("put new", worker, queue, jid):
            spec = JobSpec("klass", "{}")
            put = partial(putting.put_new, worker=worker, queue=queue, jid=jid, spec=spec)
            return Call(now, limits.within(math.inf, queue, put), replies.as_is)
        case ("puts", worker, queue, *jids):
            spec = JobSpec("klass", "{}")
            puts = [
                partial(putting.put, worker=worker, queue=queue, jid=jid, spec=spec) for jid in jids
            ]
            return Call(now, batches.together(puts, size=2), replies.as_is)
        case ("turn", jid, worker, queue):
            turn = partial(working.complete_and_pop, jid=jid, worker=worker, queue=queue, data="{}")
            return Call(now, turn, lambda turn: [turn.state, str(replies.job_list(turn.jobs))])
        case ("fold",):
            return Call(now, statistics.fold, replies.nothing)
    return call((words[0], str(now), *words[1:]))


class Workload:
    """
    Calls that are still to be made, by a client or whoever takes its place; each is drawn when it is wanted.

    Args:
        weights: how often each of ``COMMANDS`` is drawn, or a call that is written out as in a shell,
            ``ME`` standing for the worker.
        count: how many calls.
    """

    def __init__(self, chance: random.Random, weights: Mapping[str, int], count: int) -> None:
        self._chance = chance
        self._weights = weights
        self._left = count

    def __call__(self, client: Client) -> Words | None:
        """The next call, or None."""
        if not self._left:
            return None
        self._left -= 1
        (name,) = self._chance.choices(list(self._weights), list(self._weights.values()))
        if name in COMMANDS:
            return COMMANDS[name](self._chance, client)
        return tuple(client.name if word == "ME" else word for word in shlex.split(name))
