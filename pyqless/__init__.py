# SPDX-License-Identifier: MIT
"""qless in pure Python: a job queue for Redis without Lua, and for programs without any server."""

from __future__ import annotations

from typing import Final

from pyqless import errors
from pyqless.client import (
    AsyncClient,
    AsyncJob,
    AsyncOnCommit,
    AsyncQueue,
    AsyncRecurringJob,
    Client,
    Event,
    Job,
    NewJob,
    OnCommit,
    Queue,
    RecurringJob,
    job,
)
from pyqless.errors import QlessError

__all__ = [  # noqa: RUF022 - in groups, as a reader wants them
    # the clients
    "AsyncClient",
    "Client",
    # jobs that are functions
    "job",
    # jobs that are put together
    "NewJob",
    # their handles
    "AsyncJob",
    "AsyncQueue",
    "AsyncRecurringJob",
    "Event",
    "Job",
    "Queue",
    "RecurringJob",
    # with a database
    "AsyncOnCommit",
    "OnCommit",
    # what goes wrong
    "QlessError",
    "errors",
    # about this package
    "__version__",
]

__version__: Final = "0.1.0"
