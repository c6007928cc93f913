# SPDX-License-Identifier: MIT
"""How a job is run: which method of its class, and what becomes of what that raises."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from pyqless.compat.qless.logs import logger
from pyqless.worker.reporting import group_of, message_of

if TYPE_CHECKING:
    from pyqless.compat.qless.job import Job

__all__ = ["process"]


def process(job: Job) -> None:
    """Run a job; it ends its run by itself, or is failed here."""
    try:
        method = getattr(job.klass, job.queue_name, getattr(job.klass, "process", None))
    except Exception as error:  # noqa: BLE001 - whatever a module raises fails the job
        logger.exception("Failed to import %s", job.klass_name)
        # Python has given it a name of its own since; dashboards look for the group that they know
        fault = ImportError() if isinstance(error, ImportError) else error
        job.fail(_group(job, fault), f"Failed to import {job.klass_name}")
        return
    if method is None:
        text = f'{job.klass_name} is missing a method "{job.queue_name}" or "process"'
        logger.error("Failed %s: %s", job.jid, text)
        job.fail(f"{job.queue_name}-method-missing", text)
    elif not isinstance(method, FunctionType):
        logger.error("Failed %s in %s: %r is not static", job.jid, job.queue_name, method)
        job.fail(f"{job.queue_name}-method-type", f"{method!r} is not static")
    else:
        _run(job, method)


def _run(job: Job, method: Any) -> None:
    logger.info("Processing %s in %s", job.jid, job.queue_name)
    try:
        method(job)
    except Exception as error:  # noqa: BLE001 - likewise whatever its code raises
        logger.exception("Failed %s in %s: %r", job.jid, job.queue_name, method)
        job.fail(_group(job, error), message_of(error))
    else:
        logger.info("Completed %s in %s", job.jid, job.queue_name)


def _group(job: Job, error: Exception) -> str:
    return group_of(error, job.klass_name, job.queue_name, compat=True)
