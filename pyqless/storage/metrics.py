# SPDX-License-Identifier: MIT
"""Counters of a storage."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Metrics"]


@dataclass(slots=True)
class Metrics:
    """What a storage has done since it was opened; threads may make the counts slightly low."""

    #: attempts at transitions
    attempts: int = 0
    #: transitions that were applied, or that ended without anything to apply
    commits: int = 0
    #: attempts that others' changes made void
    conflicts: int = 0
    #: damaged entries that were passed over
    damaged: int = 0
    #: commits whose outcome had to be looked up after the connection was lost
    recoveries: int = 0
    #: batches that came after one that was announced as the last
    reopenings: int = 0
    #: attempts that began with what was read ahead, and those of them that had to be begun afresh
    guesses: int = 0
    misguesses: int = 0
    #: round trips to the store, and those of them that were answered
    trips: int = 0
    answers: int = 0
