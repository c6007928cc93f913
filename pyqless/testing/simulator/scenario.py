# SPDX-License-Identifier: MIT
"""What a run is made of: clients, calls, settings, and what goes wrong."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace

from pyqless.testing.simulator.network import Faults
from pyqless.testing.simulator.workload import COMMANDS, Words

__all__ = ["Scenario"]

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
    #: whether pops of a busy queue take turns
    takes_turns: bool = False
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
            takes_turns=chance.random() < 0.5,
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
