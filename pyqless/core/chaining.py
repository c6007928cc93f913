# SPDX-License-Identifier: MIT
"""How transitions are put together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from pyqless.core.effects import Continue, Factory, FollowedBy, Replies, Transition
from pyqless.core.transaction import Transaction

__all__ = ["followed", "in_turn", "resumed"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _InTurn:
    """Several chains, one after another; equal to another of the same ones."""

    chains: tuple[Factory[Any], ...]

    def __call__(self, tx: Transaction) -> Transition[Any]:
        first, *others = self.chains
        value = yield from first(tx)
        if isinstance(value, Continue):
            return Continue(_InTurn((value.rest, *others)))
        return Continue(_InTurn(tuple(others))) if others else value


@lru_cache(maxsize=64)
def in_turn(*chains: Factory[Any]) -> Factory[Any]:
    """One chain of several, of which each is carried out once, however often it is named."""
    each: dict[Factory[Any], None] = {}
    for chain in chains:
        each |= dict.fromkeys(chain.chains if isinstance(chain, _InTurn) else (chain,))
    return _InTurn(tuple(each))


def followed(value: T, *housekeeping: Factory[Any] | None) -> T | FollowedBy:
    """A value, and what is to follow it, one after another; None stands for nothing."""
    chains = [chain for chain in housekeeping if chain is not None]
    return FollowedBy(value, in_turn(*chains)) if chains else value


def resumed(steps: Transition[T], replies: Replies) -> Transition[T]:
    """Go on with a transition that waits for replies."""
    try:
        while True:
            replies = yield steps.send(replies)
    except StopIteration as end:
        value: T = end.value
        return value
