# SPDX-License-Identifier: MIT
"""Walking through all jobs of a queue, or of the store, a page at a time."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from pyqless.core import failures
from pyqless.core.effects import Transition
from pyqless.core.jobs import views
from pyqless.core.keys import Keys
from pyqless.core.looking import Cursor, entries
from pyqless.core.models import Job
from pyqless.core.transaction import Transaction

__all__ = ["STATES", "Stage", "Step", "everywhere", "stages_of", "step"]

#: a sorted set that is read on from a cursor, or a group of failures, from an offset
Stage: TypeAlias = "tuple[str, Cursor] | tuple[str, int]"

#: the states of the jobs that stand in a queue, and the sets in which they do
STATES = ("running", "waiting", "scheduled", "depends")


class Step(NamedTuple):
    """Some jobs, and the stages that are left."""

    jobs: list[Job]
    rest: tuple[Stage, ...]


def stages_of(keys: Keys, queue: str, states: tuple[str, ...]) -> list[Stage]:
    """
    The stages of a walk through a queue.

    Args:
        states: of ``STATES``; ``running`` includes those whose lock has expired.
    """
    sets = dict(zip(STATES, (keys.locks, keys.work, keys.scheduled, keys.depends), strict=True))
    return [(sets[state](queue), Cursor()) for state in STATES if state in states]


def everywhere(tx: Transaction) -> Transition[Step]:
    """The beginning of a walk through the store: all queues, all groups of failures, what is complete."""
    keys = tx.keys
    (names,) = yield from tx.snapshot(("ZRANGE", keys.queues, 0, -1))
    groups = yield from failures.groups(tx)
    stages = [stage for name in names for stage in stages_of(keys, name, STATES)]
    stages += [(keys.failed(group), 0) for group in groups]
    return Step([], (*stages, (keys.completed, Cursor())))


def step(tx: Transaction, stages: tuple[Stage, ...], count: int) -> Transition[Step]:
    """
    Go on with a walk.

    Args:
        count: how many jobs to read at most, 1 or more.
    """
    (key, place), *rest = stages
    if isinstance(place, int):
        (jids,) = yield from tx.snapshot(("LRANGE", key, place, place + count - 1))
        going_on: list[Stage] = [(key, place + count)] if len(jids) == count else []
    else:
        page = yield from entries(tx, key, place, count)
        jids = page.jids
        going_on = [] if page.rest is None else [(key, page.rest)]
    return Step((yield from views(tx, jids)), (*going_on, *rest))
