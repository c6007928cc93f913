# SPDX-License-Identifier: MIT
"""
What pop and complete read, and who may foresee that they will.

A worker that takes one job will renew its lock or complete it, and then take the next one; a storage that knows
what will be read can read it together with the commit before. A wrong guess costs time, and nothing else.
"""

from __future__ import annotations

from typing import Final

from pyqless.core import busyness, expiry, letting_go, records
from pyqless.core.candidates import head_reads
from pyqless.core.effects import Command
from pyqless.core.expecting import with_next_run
from pyqless.core.keys import Keys
from pyqless.core.lookup import Lookup
from pyqless.core.settings import Settings
from pyqless.core.statistics import Sampler
from pyqless.core.transaction import Transaction

__all__ = [
    "COMPLETION_SETTINGS",
    "another_pop",
    "completion",
    "completion_reads",
    "next_pop",
    "note_puts",
    "pop_opening",
    "pop_reads",
    "pop_settings",
]

#: seconds for which what was read ahead is of use
_SOON: Final = 60.0

COMPLETION_SETTINGS = ("max-job-history", *expiry.SETTINGS)


def pop_settings(queue: str) -> tuple[str, ...]:
    """The settings that pop looks at."""
    return (
        *Settings.heartbeat_names(queue),
        f"{queue}-max-concurrency",
        "grace-period",
        "max-job-history",
    )


def pop_opening(keys: Keys, queue: str) -> tuple[Command, Command]:
    """The guarded reads that every pop begins with."""
    return Settings.read(keys, pop_settings(queue)), ("SISMEMBER", keys.paused, queue)


def pop_reads(
    tx: Transaction, queue: str, count: float, lookup: Lookup | None, sampler: Sampler
) -> tuple[list[Command], list[Command]]:
    """
    What a pop of a few jobs begins with, guarded and free.

    Args:
        lookup: of what will probably be needed; it is read with the rest.
        sampler: of the times that jobs have waited; it is asked only if there is a lookup.
    """
    keys = tx.keys
    guarded: list[Command] = [*pop_opening(keys, queue)]
    free = [
        *head_reads(keys, queue, count, busyness.spread(tx, queue)),
        letting_go.look(keys),
    ]
    if lookup is not None:
        guarded += (*sampler.guarded(), *lookup.guarded(keys))
        free += (*lookup.free(keys), *sampler.free())
    return guarded, free


def completion_reads(
    tx: Transaction, jid: str, sampler: Sampler
) -> tuple[list[Command], list[Command]]:
    """What a completion reads, guarded and free."""
    keys = tx.keys
    guarded = [
        *sampler.guarded(),
        *records.reads(keys, jid),
        Settings.read(keys, COMPLETION_SETTINGS),
        ("SMEMBERS", keys.dependents(jid)),
    ]
    free: list[Command] = [("ZSCORE", keys.tracked, jid)]
    if not (sampler.defers or tx.batched):
        free += *expiry.oldest_reads(keys, expiry.FEW), ("ZSCORE", keys.completed, jid)
    return guarded, [*free, *sampler.free()]


def completion(tx: Transaction, jid: str, queue: str) -> None:
    """Foresee that a job's lock will be renewed, or the job completed."""
    if not tx.foresees:
        return
    sampler = Sampler.of(tx, "run", queue)
    guarded, free = completion_reads(tx, jid, sampler)
    aging = (tx.keys.completed, sampler.pending)
    tx.foresee("job", *guarded, *free, ("HGETALL", tx.keys.config), aging=aging)


def another_pop(tx: Transaction, queue: str, count: float) -> None:
    """Foresee that who has found nothing will look again, and find at most what a recurring job makes by then."""
    if not tx.foresees or busyness.is_busy(tx, queue):
        return
    sampler = Sampler.of(tx, "wait", queue)
    lookup = with_next_run(tx, queue, None, tx.now + _SOON).lookup(tx.keys, queue)
    guarded, free = pop_reads(tx, queue, count, lookup, sampler)
    tx.foresee("none:" + queue, *guarded, *free, aging=(sampler.pending, tx.keys.letting_go))


def note_puts(tx: Transaction, queue: str, looks: tuple[Command, Command] | None) -> None:
    """
    Remember what a put into a queue looks at before it puts.

    Args:
        looks: a setting, and something that may be a little older; None for what must not be foreseen.
    """
    if tx.foresees and tx.memory is not None:
        tx.memory["puts", queue] = looks


def next_pop(tx: Transaction, queue: str, *, put: str | None = None) -> None:
    """
    Foresee a pop, where pops were seen before, and a put, where puts were.

    Args:
        put: the job that has just come to wait, and goes next if no other waits.
    """
    if tx.memory is None:
        return
    jid = tx.memory.get(("next", queue))
    if jid is None and put is not None and ("next", queue) in tx.memory:
        jid = tx.memory["next", queue] = put
    if not tx.foresees:
        return
    looks = tx.memory.get(("puts", queue)) or ()
    lookup = with_next_run(tx, queue, jid, tx.now).lookup(tx.keys, queue)
    if lookup is None or busyness.is_busy(tx, queue):
        tx.foresee("put:" + queue, *looks, aging=(tx.keys.work(queue),))
        return
    sampler = Sampler.of(tx, "wait", queue)
    guarded, free = pop_reads(tx, queue, 1, lookup, sampler)
    aging = (sampler.pending, tx.keys.letting_go)
    tx.foresee("pop:" + queue, *guarded, *free, *looks, aging=aging)
