# SPDX-License-Identifier: MIT
"""
Clients: all of qless as methods and handles, blocking or for asyncio.

A method is a request (``pyqless.client.requests``: arguments checked, a transition ready to run) and the
storage that runs it. So ``Client`` and ``AsyncClient`` differ in their waiting, and in nothing else.
"""

from __future__ import annotations

from pyqless.client.aio.client import AsyncClient
from pyqless.client.aio.config import AsyncConfig
from pyqless.client.aio.consuming import AsyncConsumer
from pyqless.client.aio.events import AsyncEvents
from pyqless.client.aio.job import AsyncJob
from pyqless.client.aio.jobs import AsyncJobs
from pyqless.client.aio.queues import AsyncQueue, AsyncQueues
from pyqless.client.aio.recurring import AsyncRecurringJob, AsyncRecurringJobs
from pyqless.client.aio.tags import AsyncTags
from pyqless.client.aio.workers import AsyncWorkers
from pyqless.client.checks import Span
from pyqless.client.committing import AsyncOnCommit, OnCommit
from pyqless.client.declaring import JobFunction, job
from pyqless.client.events import Event
from pyqless.client.new_jobs import NewJob
from pyqless.client.options import JobOptions, OnConflict
from pyqless.client.orders import AsyncOrder, Order, Recurrence
from pyqless.client.sync.client import Client
from pyqless.client.sync.config import Config
from pyqless.client.sync.consuming import Consumer
from pyqless.client.sync.events import Events
from pyqless.client.sync.job import Job
from pyqless.client.sync.jobs import Jobs
from pyqless.client.sync.queues import Queue, Queues
from pyqless.client.sync.recurring import RecurringJob, RecurringJobs
from pyqless.client.sync.tags import Tags
from pyqless.client.sync.workers import Workers
from pyqless.client.views import Failure, HistoryEntry, JobPage, JobState, TrackedJobs
from pyqless.core.explaining import Explanation
from pyqless.core.queues import QueueCounts
from pyqless.core.statistics import Statistics, Times
from pyqless.core.sweeping import Swept
from pyqless.core.tags import Tagged
from pyqless.core.workers import WorkerCounts, WorkerJobs

__all__ = [
    "AsyncClient",
    "AsyncConfig",
    "AsyncConsumer",
    "AsyncEvents",
    "AsyncJob",
    "AsyncJobs",
    "AsyncOnCommit",
    "AsyncOrder",
    "AsyncQueue",
    "AsyncQueues",
    "AsyncRecurringJob",
    "AsyncRecurringJobs",
    "AsyncTags",
    "AsyncWorkers",
    "Client",
    "Config",
    "Consumer",
    "Event",
    "Events",
    "Explanation",
    "Failure",
    "HistoryEntry",
    "Job",
    "JobFunction",
    "JobOptions",
    "JobPage",
    "JobState",
    "Jobs",
    "NewJob",
    "OnCommit",
    "OnConflict",
    "Order",
    "Queue",
    "QueueCounts",
    "Queues",
    "Recurrence",
    "RecurringJob",
    "RecurringJobs",
    "Span",
    "Statistics",
    "Swept",
    "Tagged",
    "Tags",
    "Times",
    "TrackedJobs",
    "WorkerCounts",
    "WorkerJobs",
    "Workers",
    "job",
]
