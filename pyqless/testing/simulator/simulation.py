# SPDX-License-Identifier: MIT
"""One run: a store, clients that get into each other's way, and what goes wrong; then the checks."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import count
from typing import NamedTuple

from pyqless.core.keys import Keys
from pyqless.testing.simulator.checks import faults_of
from pyqless.testing.simulator.clients import START, Client
from pyqless.testing.simulator.history import History
from pyqless.testing.simulator.network import Faults, Link
from pyqless.testing.simulator.replicas import Replicas
from pyqless.testing.simulator.scheduler import Scheduler
from pyqless.testing.simulator.server import Server
from pyqless.testing.simulator.watching import Unguarded
from pyqless.testing.simulator.workload import COMMANDS, Words, Workload

__all__ = ["Run", "Scenario", "simulate"]

#: what every run is about, and how often it is drawn
_WEIGHTS = {
    "put": 6,
    "put new": 3,
    "work": 8,
    "turn": 3,
    "pop": 3,
    "complete": 2,
    "fail": 2,
    "retry": 2,
}

#: seconds that a replica falls behind, at times
_STRAGGLES = 3.0

#: how likely each fault is where it is drawn for a run
_PROBABILITIES = {
    "cut": 0.03,
    "lost_request": 0.02,
    "lost_reply": 0.05,
    "torn": 0.2,
    "slow": 0.02,
    "crash": 0.01,
    "jump": 0.1,
    "unreachable": 0.1,
    "restart": 0.5,
    "amnesia": 0.5,
    "failover": 0.5,
    "vanishing": 0.15,
    "refused_control": 0.01,
    "refused_write": 0.005,
}


@dataclass(frozen=True)
class Scenario:
    """What a run is made of."""

    clients: int = 3
    #: how many calls each client makes
    calls: int = 8
    #: how often each command is drawn
    weights: Mapping[str, int] = field(default_factory=lambda: _WEIGHTS)
    #: calls that are made before the clients begin, while nothing goes wrong
    given: tuple[Words, ...] = ()
    faults: Faults = field(default_factory=Faults)
    #: whether the store's clock counts, and not the clients'
    store_clock: bool = False
    #: how many replicas the store has, and whether clients wait for one of them behind each commit
    replicas: int = 0
    is_durable: bool = False
    #: whether jobs may have the jids of runs of recurring jobs, and be written over
    overwrites: bool = False

    @classmethod
    def drawn(cls, chance: random.Random) -> Scenario:
        """Some commands, settings and faults: few at a time find more than all at once."""
        others = [name for name in COMMANDS if name not in _WEIGHTS]
        chosen = chance.sample(others, chance.randint(0, 8))
        likely = [each.name for each in fields(Faults) if chance.random() < 0.3]
        has_replicas = "failover" in likely and "amnesia" not in likely
        return cls(
            clients=chance.randint(2, 4),
            weights=_WEIGHTS | dict.fromkeys(chosen, 2),
            given=tuple(_settings(chance)),
            store_clock=chance.random() < 0.3,
            replicas=2 if has_replicas else 0,
            is_durable=has_replicas and chance.random() < 0.7,
            faults=replace(Faults(), **{name: _PROBABILITIES[name] for name in likely}),
        )


def _settings(chance: random.Random) -> Iterator[Words]:
    choices = {
        "heartbeat": ("3", "8"),
        "grace-period": ("0", "0", "2"),
        "max-job-history": ("3", "4"),
        "jobs-history-count": ("0", "1", "2"),
        "jobs-history": ("2",),
        "q-max-concurrency": ("1", "2"),
        "q-max-waiting": ("2", "4"),
    }
    for name, values in choices.items():
        if name in ("heartbeat", "grace-period") or chance.random() < 0.25:
            yield "config.set", name, chance.choice(values)


class Run(NamedTuple):
    """What came of a run."""

    seed: int
    history: History
    #: what is wrong, the first fault first
    faults: list[str]

    def __str__(self) -> str:
        found = self.faults[0] if self.faults else "no fault"
        return f"seed {self.seed}: {found} (python -m pyqless.testing.simulator {self.seed})"


def simulate(
    seed: int,
    scenario: Scenario | None = None,
    *,
    unguarded: Unguarded | None = None,
    link: type[Link] = Link,
) -> Run:
    """
    Run one history, and check it.

    Args:
        seed: of all that is drawn; the same seed gives the same run.
        scenario: drawn unless given.
        unguarded: guards that are forgotten, to show what they are for.
        link: a faulty one, likewise.
    """
    world = _World(seed, scenario, unguarded, link)
    world.run()
    found = faults_of(
        world.history,
        world.dump(),
        overwrites=world.scenario.overwrites,
        is_durable=world.scenario.is_durable,
    )
    return Run(seed, world.history, list(found))


class _World:
    def __init__(
        self, seed: int, scenario: Scenario | None, unguarded: Unguarded | None, link: type[Link]
    ) -> None:
        self.scheduler = Scheduler(seed)
        self.scenario = scenario or Scenario.drawn(self.scheduler.chance)
        self.faults = Faults()
        self.unguarded = unguarded
        self.history = History(self._time)
        replicas = Replicas(self.scenario.replicas, self._time, self._delay)
        self.server = Server(self._time, self.history, self._refusal, replicas)
        self._link = link
        self._names = (f"w{number}" for number in count(1))
        self._down_until = 0.0

    def _time(self) -> float:
        """What time it is, Unix time in seconds."""
        return START + self.scheduler.now

    def run(self) -> None:
        """Make the calls that are given, then let the clients loose."""
        given = iter(self.scenario.given)
        Client(self, "setup", lambda _: next(given, None)).begin()
        self.scheduler.run()
        self.faults = self.scenario.faults
        for _ in range(self.scenario.clients):
            chance, weights = self.scheduler.chance, self.scenario.weights
            self._start(Workload(chance, weights, self.scenario.calls))
        self._plan_restarts()
        self.scheduler.run()

    def dump(self) -> dict[str, dict[str, object]]:
        """What is stored."""
        return self.server.keyspace.dump()

    def connect(self, previous: Link | None) -> Link | None:
        """See ``clients.World``."""
        down = self.scheduler.now < self._down_until
        if down or self.scheduler.happens(self.faults.unreachable):
            return None
        return self._link.opened(self.scheduler, self.server, self.faults, previous)

    def _start(self, words: Workload) -> None:
        client = Client(self, next(self._names), words, lambda: self._start(words))
        self.scheduler.after(self.scheduler.about(0.3), client.begin)

    def _plan_restarts(self) -> None:
        failover = self.faults.failover if self.scenario.replicas else 0.0
        plans: list[tuple[float, Callable[[], None]]] = [
            (self.faults.restart, partial(self._restart, 0.0)),
            (self.faults.amnesia, partial(self._restart, 1.0)),
            *[(failover, self._fail_over)] * 2,
            *[(self.faults.vanishing, self._lose_key)] * 8,
        ]
        for probability, act in plans:
            if self.scheduler.happens(probability):
                self.scheduler.after(self.scheduler.chance.uniform(1.0, 15.0), act)

    def _restart(self, lost: float) -> None:
        self.history.restarted(self.server.restart(lost))
        self._down_until = self.scheduler.now + self.scheduler.about(1.0)

    def _fail_over(self) -> None:
        self.history.restarted(self.server.fail_over(), is_failover=True)
        self._down_until = self.scheduler.now + self.scheduler.about(1.0)

    def _lose_key(self) -> None:
        """
        Half the time a fence, for there the answer is to be another than for the rest.

        But not that of a client which has not been told of a commit: it cannot know that there is one.
        """
        chance, is_fence = self.scheduler.chance, self.scheduler.happens(0.5)
        told = {Keys().fence(call.client) for call in self.history.calls if call.has_written}
        names = [
            key
            for key in self.server.keyspace.data
            if (key in told if is_fence else ":py:fence:" not in key)
        ]
        if not names:
            return
        key, way = chance.choice(names), chance.choice(("evicted", "expires", "renamed"))
        if way == "expires":
            self.server.carry_out((("EXPIRE", key, "1"),))
        else:
            self.server.lose(key, f"old:{key}" if way == "renamed" else None)

    def _delay(self) -> float:
        """How long a replica takes to have what was written; now and then longer than anybody waits."""
        return self.scheduler.about(_STRAGGLES if self.scheduler.happens(0.05) else Link.TRIP)

    def _refusal(self, name: str) -> str | None:
        if name in ("WATCH", "MULTI") and self.scheduler.happens(self.faults.refused_control):
            return f"NOPERM this user has no permissions to run the '{name.lower()}' command"
        if name in _GROWING and self.scheduler.happens(self.faults.refused_write):
            return "OOM command not allowed when used memory > 'maxmemory'."
        return None


#: what is refused where memory is short
_GROWING = frozenset(("HSET", "ZADD", "LPUSH", "RPUSH", "SADD", "HINCRBY", "ZINCRBY"))
