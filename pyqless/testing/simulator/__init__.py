# SPDX-License-Identifier: MIT
"""
A simulator of clients, network and store that finds what goes wrong once in a thousand years.

The driver of transactions does no I/O by itself, so a scheduler with a seed can let clients run into each
other at every round trip, and break, delay and lose what it likes. What was committed is then replayed, one
transaction after the other, and must come to the same.
"""

from __future__ import annotations

from pyqless.testing.simulator.history import Attempt, Call, History
from pyqless.testing.simulator.network import Faults, Link
from pyqless.testing.simulator.scenario import Scenario
from pyqless.testing.simulator.simulation import Run, simulate
from pyqless.testing.simulator.staleness import MAY_BE_OLD, MAY_BE_STALE
from pyqless.testing.simulator.watching import Unguarded

__all__ = [
    "MAY_BE_OLD",
    "MAY_BE_STALE",
    "Attempt",
    "Call",
    "Faults",
    "History",
    "Link",
    "Run",
    "Scenario",
    "Unguarded",
    "simulate",
]
