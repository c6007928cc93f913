# SPDX-License-Identifier: MIT
"""
Cleaning up what no call of qless-core ever does: the rules of the janitor.

Each is a small transaction that is right by itself, finds what it removes under the guards that keep it true,
and finds nothing where another has just been. With ``dry`` it only looks.
"""

from __future__ import annotations

from pyqless.core.cleaning.marks import clean_tag, clean_tracked, indexes, known_tags
from pyqless.core.cleaning.paging import PAGE
from pyqless.core.cleaning.statistics import (
    Days,
    clean_histograms,
    clean_statistics,
    known_queues,
    statistics_days,
)
from pyqless.core.cleaning.waiting import mend_dependencies, page_of_depending
from pyqless.core.cleaning.workers import (
    drop_silent_workers,
    drop_worker_entries,
    known_workers,
    old_workers,
)

__all__ = [
    "PAGE",
    "Days",
    "clean_histograms",
    "clean_statistics",
    "clean_tag",
    "clean_tracked",
    "drop_silent_workers",
    "drop_worker_entries",
    "indexes",
    "known_queues",
    "known_tags",
    "known_workers",
    "mend_dependencies",
    "old_workers",
    "page_of_depending",
    "statistics_days",
]
