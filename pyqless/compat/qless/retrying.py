# SPDX-License-Identifier: MIT
"""Jobs that are tried again when they raise what was to be expected."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from pyqless.compat.qless.job import Job

__all__ = ["retry"]


def retry(*excepts: type[BaseException]) -> Callable[[Callable[[Job], Any]], Callable[[Job], None]]:
    """Decorate the method of a job's class: the job is given back when it raises one of these."""

    def decorate(method: Callable[[Job], Any]) -> Callable[[Job], None]:
        @wraps(method)
        def process(job: Job) -> None:
            try:
                method(job)
            except excepts:
                job.retry()

        return process

    return decorate
