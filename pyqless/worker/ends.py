# SPDX-License-Identifier: MIT
"""What is logged of the end of a run, by whoever has told it to the store."""

from __future__ import annotations

import logging
from typing import Any

from pyqless.client.views import JobView
from pyqless.core.failures import exhausted_message
from pyqless.worker.attempts import Attempt
from pyqless.worker.reporting import summary_of
from pyqless.worker.stopping import GIVEN_BACK, StopReason
from pyqless.worker.verdicts import Again, Done, Failed, Left, Stopped, Untold, Verdict, group_name

__all__ = ["as_taken", "log_end", "log_left", "log_stopped"]

logger = logging.getLogger("pyqless.worker")


def as_taken(verdict: Verdict, queue: str, remaining: int) -> Verdict:
    """
    A verdict as the store took it: what was to be tried again has failed where its retries were spent.

    Args:
        remaining: the retries that remain, if it was to be tried again.
    """
    if not isinstance(verdict, Again) or remaining >= 0:
        return verdict
    if verdict.group is None or verdict.message is None:
        return Failed(f"failed-retries-{queue}", exhausted_message(queue))
    return Failed(verdict.group, verdict.message)


def log_end(verdict: Verdict, job: JobView[Any], attempt: Attempt, now: float) -> None:
    """Say in the log how a run has ended; of all that have failed in one form, at a level that is shown."""
    fields = attempt.fields
    seconds = fields["seconds"] = now - attempt.began
    who = f"{attempt.jid} ({attempt.klass})"
    match verdict:
        case Done():
            fields["outcome"] = "done"
            logger.info("job %s done in %.3f s", who, seconds, extra=fields)
        case Again(delay, group, message):
            why = _why(message or "it asked for that", attempt)
            fields |= {"outcome": "again", "delay": delay}
            if group is not None:
                fields["group"] = group_name(group)
            text = "job %s given back after %.3f s, for %g s: %s"
            logger.info(text, who, seconds, delay, why, extra=fields)
        case Failed(group, message):
            _log_failure(group, message, attempt, seconds)
        case Stopped(reason):
            log_stopped(reason, attempt, now)
        case Untold(why):
            log_left(attempt, now, why)
        case Left():
            # its code has ended it; where it has failed it, that is a failure as any other
            if job.state == "failed" and (failure := job.failure) is not None:
                _log_failure(failure.group, failure.message, attempt, seconds)
                return
            fields["outcome"] = "left"
            logger.info("job %s left after %.3f s", who, seconds, extra=fields)


def log_stopped(reason: StopReason, attempt: Attempt, now: float) -> None:
    """Say in the log that a run was stopped, or that it is of no use, however it has ended, since its lock is gone."""
    seconds = now - attempt.began
    fields = {**attempt.fields, "seconds": seconds, "outcome": "stopped", "reason": reason.value}
    how = "stopped" if reason in GIVEN_BACK else "ended in vain"
    text = "job %s (%s) %s after %.3f s: %s"
    logger.warning(text, attempt.jid, attempt.klass, how, seconds, reason, extra=fields)


def log_left(attempt: Attempt, now: float, why: str | None = None) -> None:
    """Say in the log that nobody tells the end of a run, so that its lock has to run out."""
    if why is None:
        why = "its end cannot be told in time" if attempt.settling else "it does not end"
    seconds = now - attempt.began
    fields = {**attempt.fields, "seconds": seconds, "outcome": "left"}
    text = "job %s (%s) is left to its lock after %.3f s: %s"
    logger.error(text, attempt.jid, attempt.klass, seconds, why, extra=fields)


def _log_failure(group: str, message: str, attempt: Attempt, seconds: float) -> None:
    why, named = _why(message, attempt), group_name(group)
    fields = {**attempt.fields, "seconds": seconds, "outcome": "failed", "group": named}
    text = "job %s (%s) from %s failed after %.3f s: %s (group %s)"
    about = (attempt.jid, attempt.klass, attempt.queue, seconds, why, named)
    logger.warning(text, *about, extra=fields)


def _why(message: str, attempt: Attempt) -> str:
    """What went wrong, in a line; the whole of it is for who wants to know all."""
    logger.debug("job %s: %s", attempt.jid, message, extra=attempt.fields)
    return summary_of(message)
