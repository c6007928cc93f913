# SPDX-License-Identifier: MIT
"""What handles show without asking the store; the handles of both clients build on it."""

from __future__ import annotations

from pyqless.client.views.job import JobView
from pyqless.client.views.queue import NamedQueue, QueueView
from pyqless.client.views.recurring import RecurringJobView
from pyqless.client.views.values import Failure, HistoryEntry, JobPage, JobState, TrackedJobs

__all__ = [
    "Failure",
    "HistoryEntry",
    "JobPage",
    "JobState",
    "JobView",
    "NamedQueue",
    "QueueView",
    "RecurringJobView",
    "TrackedJobs",
]
