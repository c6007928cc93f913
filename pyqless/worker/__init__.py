# SPDX-License-Identifier: MIT
"""
Workers: what takes jobs out of queues and runs them.

``SerialWorker``   one job after another in this thread
``ThreadWorker``   several at once, each in a thread
``ForkingWorker``  supervised child processes, each with one job at a time
``AsyncWorker``    many at once, in a loop of asyncio
"""

from __future__ import annotations

from pyqless.client.progress import Progress
from pyqless.worker.aio import AsyncWorker
from pyqless.worker.context import AwaitableJob, BlockingJob, current_job
from pyqless.worker.control import Control
from pyqless.worker.entering import Middleware, uses
from pyqless.worker.finding import Code, CodeNotFound, Finder
from pyqless.worker.forking import ForkingWorker
from pyqless.worker.records import JobInHand, WorkerRecord, records, records_async
from pyqless.worker.reservers import Ordered, Reserver, RoundRobin, ShuffledRoundRobin
from pyqless.worker.running import Runner
from pyqless.worker.serial import SerialWorker
from pyqless.worker.settings import ExitCode, Limits, Settings
from pyqless.worker.signals import taking
from pyqless.worker.stopping import JobStopped, Retry, StopReason, TimeLimitExceeded
from pyqless.worker.threads import ThreadWorker

__all__ = [
    "AsyncWorker",
    "AwaitableJob",
    "BlockingJob",
    "Code",
    "CodeNotFound",
    "Control",
    "ExitCode",
    "Finder",
    "ForkingWorker",
    "JobInHand",
    "JobStopped",
    "Limits",
    "Middleware",
    "Ordered",
    "Progress",
    "Reserver",
    "Retry",
    "RoundRobin",
    "Runner",
    "SerialWorker",
    "Settings",
    "ShuffledRoundRobin",
    "StopReason",
    "ThreadWorker",
    "TimeLimitExceeded",
    "WorkerRecord",
    "current_job",
    "records",
    "records_async",
    "taking",
    "uses",
]
