# SPDX-License-Identifier: MIT
"""How often a transaction is tried, and how long one waits in between."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from typing import TypeGuard

from pyqless.errors import InvalidArgument

__all__ = ["Pauses", "Policy", "Replication", "require_headroom"]

#: seconds to wait before each further try; at its end it is time to give up
Pauses = Iterator[float]


@dataclass(frozen=True, slots=True)
class Replication:
    """
    How many replicas must have a commit before it is reported.

    Raises:
        InvalidArgument: fewer than one, or no time for them.
    """

    replicas: int = 1
    #: how long they may take, seconds
    timeout: float = 1.0

    def __post_init__(self) -> None:
        for name, value in (("replicas", self.replicas), ("timeout", self.timeout)):
            if not (_is_number(value) and value > 0):
                raise InvalidArgument(
                    f"{name} must be a number above 0, not {value!r}", argument=name, value=value
                )

    @classmethod
    def of(cls, durability: object) -> Replication | None:
        """
        What is meant by ``durability``: None, ``replicated`` for the usual one, or a ``Replication``.

        Raises:
            InvalidArgument: it is none of these.
        """
        if durability is None or isinstance(durability, cls):
            return durability
        if durability == "replicated":
            return cls()
        text = f"durability must be None, 'replicated' or a Replication, not {durability!r}"
        raise InvalidArgument(text, argument="durability", value=durability)


def require_headroom(headroom: object) -> float:
    """
    A part of the store's memory.

    Raises:
        InvalidArgument: it is not from 0 up to 1.
    """
    if _is_number(headroom) and 0 <= headroom < 1:
        return float(headroom)
    text = f"headroom must be a number from 0 up to 1, not {headroom!r}"
    raise InvalidArgument(text, argument="headroom", value=headroom)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class Policy:
    """
    When to give up, and how to keep out of each other's way.

    Raises:
        InvalidArgument: one of them is no good, or there would not be a single try.
    """

    #: tries at most
    attempts: int = 100
    #: seconds after which no further try begins
    deadline: float = 10.0
    #: the first pause is a random part of this, seconds; each further one of twice as much
    base: float = 0.001
    #: but of no more than this, seconds
    cap: float = 0.05
    #: seconds that an exchange with the store takes at most where pops of a busy queue take turns; 0: nowhere
    near: float = 0.0005
    #: a clock that never goes back, seconds
    monotonic: Callable[[], float] = time.monotonic
    #: chance, from 0 to 1
    chance: Callable[[], float] = random.random

    def __post_init__(self) -> None:
        attempts: object = self.attempts
        if not (isinstance(attempts, int) and attempts >= 1):
            text = f"attempts must be a whole number from 1 on, not {self.attempts!r}"
            raise InvalidArgument(text, argument="attempts", value=self.attempts)
        for name in ("deadline", "base", "cap", "near"):
            value = getattr(self, name)
            if not (_is_number(value) and value >= 0):
                text = f"{name} must be a number of seconds, not {value!r}"
                raise InvalidArgument(text, argument=name, value=value)

    @classmethod
    def of(cls, policy: object) -> Policy:
        """
        The policy itself; the usual one for None.

        Raises:
            InvalidArgument: it is something else.
        """
        if policy is None or isinstance(policy, cls):
            return policy or cls()
        text = f"policy must be None or a Policy, not {policy!r}"
        raise InvalidArgument(text, argument="policy", value=policy)

    def pauses(self, began: float) -> Pauses:
        """
        The pauses before further tries, with full jitter.

        Args:
            began: when the first try did, on the monotonic clock.
        """
        return islice(self.patience(began), self.attempts - 1)

    def patience(self, began: float) -> Pauses:
        """As ``pauses``, however many tries it takes: for what had better be found out."""
        for attempt in count():
            if self.monotonic() >= began + self.deadline:
                return
            yield self.chance() * min(self.cap, self.base * 2 ** min(attempt, 30))
