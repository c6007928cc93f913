# SPDX-License-Identifier: MIT
"""Chains, driven link by link, so that a client can be taken away between any two of them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final
from unittest.mock import patch

from pyqless.core import cancelling, failures, letting_go, popping_many, timing_out
from pyqless.core.commands import call
from pyqless.core.effects import Continue, Factory, FollowedBy, Transition
from pyqless.core.transaction import Transaction
from pyqless.storage import Storage

__all__ = ["bounded_by", "links", "made"]

_CHAINED: Final = (cancelling, failures, letting_go, popping_many, timing_out)


@contextmanager
def bounded_by(jobs: int) -> Iterator[None]:
    """Let a transaction deal with so many jobs at most."""
    with ExitStack() as stack:
        for module in _CHAINED:
            stack.enter_context(patch.object(module, "MANY", jobs))
        yield


def links(storage: Storage, transition: Factory[Any], now: float) -> Iterator[None]:
    """Commit a link with each step, and never one more than is asked for."""
    rest: Factory[Any] | None = transition
    while rest is not None:
        (value,) = storage.run(_alone(rest), now)
        rest = value.rest if isinstance(value, Continue | FollowedBy) else None
        yield


def _alone(link: Factory[Any]) -> Factory[tuple[Any]]:
    """A link whose end the storage does not look at."""

    def begin(tx: Transaction) -> Transition[tuple[Any]]:
        return ((yield from link(tx)),)

    return begin


def made(storage: Storage, words: str) -> Iterator[None]:
    """The links of a call that is written as in a shell."""
    wanted = call(shlex.split(words))
    return links(storage, wanted.transition, wanted.now)
