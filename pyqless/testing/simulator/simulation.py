# SPDX-License-Identifier: MIT
"""One run: a store, clients that get into each other's way, and what goes wrong; then the checks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import NamedTuple

from pyqless.testing.simulator.checks import faults_of
from pyqless.testing.simulator.clients import START, Client
from pyqless.testing.simulator.history import Deposed, History
from pyqless.testing.simulator.network import Faults, Link
from pyqless.testing.simulator.replicas import Replicas
from pyqless.testing.simulator.scenario import Scenario
from pyqless.testing.simulator.scheduler import Scheduler
from pyqless.testing.simulator.server import Server
from pyqless.testing.simulator.watching import Unguarded
from pyqless.testing.simulator.workload import Workload

__all__ = ["Run", "simulate"]

#: seconds that a replica falls behind, at times
_STRAGGLES = 3.0

#: seconds for which a master goes on that is none any more
_SPLIT = 4.0


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
        if self.scenario.is_durable and self.scheduler.happens(0.5):
            self._split()
            return
        self.history.restarted(self.server.fail_over(), is_failover=True)
        self._down_until = self.scheduler.now + self.scheduler.about(1.0)

    def _split(self) -> None:
        """The old master goes on for a while, for those who are connected to it."""
        deposed = self.server
        self.server, kept_until = deposed.depose(Deposed(self.history))
        self.history.restarted(kept_until, is_failover=True)
        self.scheduler.after(self.scheduler.about(_SPLIT), deposed.stop)

    def _lose_key(self) -> None:
        """Half the time a fence, for there the answer is to be another than for the rest."""
        chance, is_fence = self.scheduler.chance, self.scheduler.happens(0.5)
        names = [key for key in self.server.keyspace.data if (":py:fence:" in key) is is_fence]
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
