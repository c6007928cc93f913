# SPDX-License-Identifier: MIT
"""Clients: each does one call after the other, by the driver, and may be slow, wrong about the time, or killed."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from itertools import count
from typing import Any, Final, Protocol

from pyqless.core.effects import Factory
from pyqless.core.keys import Keys
from pyqless.errors import StoreUnavailable
from pyqless.storage.described import Described
from pyqless.storage.redis.clock import StoreClock
from pyqless.storage.redis.driver import carry_out
from pyqless.storage.redis.lane import Lane
from pyqless.storage.redis.policy import Policy, Replication
from pyqless.storage.redis.steps import Close, Connect, Exchange, LinkLost, Pause, Step, Steps
from pyqless.testing.simulator.history import Call, History
from pyqless.testing.simulator.network import Faults, Link
from pyqless.testing.simulator.scenario import Scenario
from pyqless.testing.simulator.scheduler import Scheduler
from pyqless.testing.simulator.watching import Unguarded, watched
from pyqless.testing.simulator.workload import Words, wanted_by

__all__ = ["START", "Client", "World"]

#: when every run begins, Unix time in seconds
START = 1_400_000_000.0

#: seconds for which a client thinks between two calls, or is stopped; by which clocks are wrong
_THINKS, _STOPS, _SKEW = 0.3, 8.0, 5.0

#: what a client waits for behind its commits, where what is acknowledged is to last
_DURABILITY: Final = Replication(replicas=1, timeout=0.5)


class World(Protocol):
    """What clients share."""

    scheduler: Scheduler
    history: History
    faults: Faults
    unguarded: Unguarded | None
    scenario: Scenario

    def connect(self, previous: Link | None) -> Link | None:
        """Open a connection in the place of the previous one; None where the store cannot be reached."""


def driven(store: Described, policy: Policy, lane: Lane, transition: Factory[Any]) -> Steps[Any]:
    """The driver at work: all that the simulator knows of its interface, but for its steps."""
    return carry_out(store, policy, lane, transition, None)


class Client:
    """
    A process with one connection.

    Args:
        name: its worker's, too.
        words: gives the next call that it makes, and None in the end; it may look at ``held``.
        successor: takes its place when it is killed.
    """

    def __init__(
        self,
        world: World,
        name: str,
        words: Callable[[Client], Words | None],
        successor: Callable[[], None] = lambda: None,
    ) -> None:
        self.name = name
        #: the jobs that it was given, each with its queue
        self.held: dict[str, str] = {}
        #: each once, for what is to be told apart; a clock that jumps back gives a moment twice
        self.numbers = count()
        self._world = world
        self._scheduler = world.scheduler
        self._words = words
        self._successor = successor
        self._skew = self._scheduler.chance.uniform(-_SKEW, _SKEW) if world.faults.jump else 0.0
        monotonic = self._time
        clock = StoreClock(monotonic, None) if world.scenario.store_clock else self.clock
        self._store = Described("simulated://", "ql", clock)
        self._policy = Policy(
            deadline=60.0,
            base=0.05,
            cap=1.0,
            monotonic=monotonic,
            chance=self._scheduler.chance.random,
            near=math.inf if world.scenario.takes_turns else 0.0,
        )
        durability = _DURABILITY if world.scenario.is_durable else None
        self._lane = Lane(Keys(), self._policy, self._store.metrics, durability)
        self._lane.fence.key = Keys().fence(name)
        self._link: Link | None = None
        self._previous: Link | None = None
        self._call: Call | None = None
        self._steps: Steps[Any] | None = None
        self._is_alive = True

    def clock(self) -> float:
        """What time the client takes it for, Unix time in seconds."""
        return round(START + self._scheduler.now + self._skew, 3)

    def _time(self) -> float:
        return self._scheduler.now

    def begin(self) -> None:
        """Make the next call, if there is one."""
        if self._scheduler.happens(self._world.faults.jump):
            self._skew += self._scheduler.chance.uniform(-_SKEW, _SKEW)
        words = self._words(self)
        if words is None:
            return
        wanted = wanted_by(words, self.clock())
        spoken = (words[0], "NOW", *words[1:])
        self._call = self._world.history.begin(self.name, spoken, wanted)
        transition = watched(self._world.history, self._call, self._world.unguarded)
        self._steps = driven(self._store, self._policy, self._lane, transition)
        self._go_on(next)

    def _go_on(self, resume: Callable[[Steps[Any]], Step]) -> None:
        """Let the driver run to its next step."""
        if not self._is_alive or self._steps is None:
            return
        try:
            step = resume(self._steps)
        except StopIteration as end:
            self._end(end.value, None)
        except Exception as error:  # noqa: BLE001 - whatever it is, the checks tell of it
            self._end(None, error)
        else:
            self._take_up(step)

    def _send(self, answer: Any) -> None:
        if isinstance(answer, LinkLost | StoreUnavailable):
            self._go_on(lambda steps: steps.throw(answer))
        else:
            self._go_on(lambda steps: steps.send(answer))

    def _take_up(self, step: Step) -> None:
        faults, happens = self._world.faults, self._scheduler.happens
        if happens(faults.crash / 2):
            self.die()
        elif happens(faults.slow):
            self._scheduler.after(self._scheduler.about(_STOPS), lambda: self._perform(step))
        else:
            self._perform(step)

    def _perform(self, step: Step) -> None:
        if not self._is_alive:
            return
        match step:
            case Exchange(commands):
                self._exchange(commands)
            case Pause(seconds):
                self._scheduler.after(seconds, lambda: self._send(None))
            case Connect():
                self._scheduler.after(self._scheduler.about(Link.TRIP), self._connect)
            case Close():
                self._close()
                self._send(None)

    def _exchange(self, commands: tuple[Any, ...]) -> None:
        assert self._link is not None and self._call is not None  # noqa: S101, PT018 - a driver's fault
        attempts = self._call.attempts
        self._link.exchange(commands, attempts[-1] if attempts else None, self._send)
        if self._scheduler.happens(self._world.faults.crash / 2):
            self.die()

    def _connect(self) -> None:
        self._link = self._world.connect(self._previous)
        gone = StoreUnavailable("the simulated store cannot be reached")
        self._send(gone if self._link is None else None)

    def _close(self) -> None:
        if self._link is not None:
            self._link.close()
            self._previous, self._link = self._link, None

    def _end(self, value: Any, error: Exception | None) -> None:
        assert self._call is not None  # noqa: S101 - for the reader
        self._world.history.end(self._call, value, error)
        self._learn(self._call)
        self._call = self._steps = None
        self._scheduler.after(self._scheduler.about(_THINKS), self._next)

    def _next(self) -> None:
        if self._is_alive:
            self.begin()

    def _learn(self, ended: Call) -> None:
        """Remember which jobs are its own."""
        if ended.name in ("complete", "fail", "retry", "turn"):
            self.held.pop(ended.words[2], None)
        if ended.name in ("pop", "turn") and ended.is_done:
            taken = ended.result if ended.name == "pop" else ended.result[1]
            self.held |= {job["jid"]: job["queue"] for job in json.loads(taken) or []}

    def die(self) -> None:
        """Be killed, at any moment; what has been sent lands all the same."""
        self._is_alive = False
        if self._steps is not None:
            self._steps.close()
        self._close()
        self._successor()
