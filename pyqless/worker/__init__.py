# SPDX-License-Identifier: MIT
"""
Workers: what takes jobs out of queues and runs them.

``SerialWorker``   one job after another in this thread
``ThreadWorker``   several at once, each in a thread
"""

from __future__ import annotations

from pyqless.worker.attempts import Progress
from pyqless.worker.context import AwaitableJob, BlockingJob
from pyqless.worker.finding import Code, CodeNotFound, Finder
from pyqless.worker.records import JobInHand, WorkerRecord, records
from pyqless.worker.reservers import Ordered, Reserver, RoundRobin, ShuffledRoundRobin
from pyqless.worker.running import Middleware, Runner, uses
from pyqless.worker.serial import SerialWorker
from pyqless.worker.settings import ExitCode, Limits, Settings
from pyqless.worker.signals import taking
from pyqless.worker.stopping import JobStopped, Retry, StopReason, TimeLimitExceeded
from pyqless.worker.threads import ThreadWorker

__all__ = [
    "AwaitableJob",
    "BlockingJob",
    "Code",
    "CodeNotFound",
    "ExitCode",
    "Finder",
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
    "records",
    "taking",
    "uses",
]
