# SPDX-License-Identifier: MIT
"""The plainest transitions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyqless.core.effects import Batch, Command, Factory, Replies, Transition
from pyqless.core.transaction import Transaction

__all__ = ["reading", "stage", "staging"]


def reading(*reads: Command) -> Factory[Replies]:
    """A transition that gives the replies to guarded reads as the storage gives them."""

    def transition(_: Transaction) -> Transition[Replies]:
        return (yield Batch(reads, guarded=len(reads), last=True))

    return transition


def staging(*calls: tuple[Any, ...]) -> Factory[None]:
    """
    A transition that reads nothing and stages some writes.

    Args:
        calls: the name of a method of ``Transaction`` and its arguments.
    """

    def transition(tx: Transaction) -> Transition[None]:
        stage(tx, calls)
        return
        yield

    return transition


def stage(tx: Transaction, calls: Iterable[tuple[Any, ...]]) -> None:
    """Stage writes; see ``staging``."""
    for name, *arguments in calls:
        getattr(tx, name)(*arguments)
