# SPDX-License-Identifier: MIT
"""How chains are put together."""

from __future__ import annotations

from typing import Any, TypeVar

from pyqless.core.effects import Continue, Factory, FollowedBy, Transition
from pyqless.core.transaction import Transaction

__all__ = ["followed", "in_turn"]

T = TypeVar("T")


def in_turn(first: Factory[Any], *others: Factory[Any]) -> Factory[Any]:
    """One chain of several; its value is that of the last."""

    def begin(tx: Transaction) -> Transition[Any]:
        value = yield from first(tx)
        if isinstance(value, Continue):
            return Continue(in_turn(value.rest, *others))
        return Continue(in_turn(*others)) if others else value

    return begin


def followed(value: T, *housekeeping: Factory[Any] | None) -> T | FollowedBy:
    """A value, and what is to follow it, one after another; None stands for nothing."""
    chains = [chain for chain in housekeeping if chain is not None]
    return FollowedBy(value, in_turn(*chains)) if chains else value
