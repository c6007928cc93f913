# SPDX-License-Identifier: MIT
"""
How the end of a run gets to the store, however often the store has to be asked.

A job that is done and cannot say so would be run again. So what the store does not answer is said again, for as long
as the lock may be held.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Generator
from typing import Any, Final, TypeAlias

from pyqless.client.views import JobView
from pyqless.core.effects import Factory
from pyqless.errors import (
    JobLost,
    JobNotFound,
    NotReplicated,
    NotRunning,
    OutcomeUnknown,
    QlessError,
    RequestError,
    StoreCorrupted,
)
from pyqless.storage import AsyncStorage, Storage
from pyqless.worker.attempts import Attempt
from pyqless.worker.reporting import summary_of
from pyqless.worker.running import Runner
from pyqless.worker.stopping import StopReason
from pyqless.worker.verdicts import Again, Done, Failed, Left, Stopped, Verdict, request
from pyqless.worker.waiting import Backoff

__all__ = ["settle", "settle_async"]

logger = logging.getLogger("pyqless.worker")

#: how long after the expiry of a lock the store is asked once more, seconds: it may be in its grace period still
GRACE: Final = 10.0

#: a transition to run (a ``QlessError`` is sent back where it raises), or seconds to wait
_Step: TypeAlias = Factory[Any] | float


def settle(
    storage: Storage,
    runner: Runner,
    verdict: Verdict,
    job: JobView[Any],
    attempt: Attempt,
    sleep: Callable[[float], None] = time.sleep,
) -> Verdict:
    """
    Tell the store how a run has ended.

    Returns:
        Verdict: as the store took it.
    """
    steps = _settling(runner, verdict, job, attempt, storage.clock)
    answer: QlessError | None = None
    while True:
        try:
            step = steps.send(answer)
        except StopIteration as end:
            return _told(attempt, end.value, storage.clock())
        answer = None
        if isinstance(step, float):
            sleep(step)
            continue
        try:
            storage.run(step)
        except QlessError as error:
            answer = error


async def settle_async(
    storage: AsyncStorage, runner: Runner, verdict: Verdict, job: JobView[Any], attempt: Attempt
) -> Verdict:
    """As ``settle``, for asyncio."""
    steps = _settling(runner, verdict, job, attempt, storage.clock)
    answer: QlessError | None = None
    while True:
        try:
            step = steps.send(answer)
        except StopIteration as end:
            return _told(attempt, end.value, storage.clock())
        answer = None
        if isinstance(step, float):
            await asyncio.sleep(step)
            continue
        try:
            await storage.run(step)
        except QlessError as error:
            answer = error


def _settling(
    runner: Runner,
    verdict: Verdict,
    job: JobView[Any],
    attempt: Attempt,
    clock: Callable[[], float],
) -> Generator[_Step, QlessError | None, Verdict]:
    verdict, transition = _prepared(runner, verdict, job, attempt)
    if transition is None:
        return verdict
    attempt.settle()
    backoff, doubtful = Backoff(), False
    while True:
        error = yield transition
        if error is None:
            return verdict
        if isinstance(error, NotReplicated):
            logger.warning("job %s: %s", attempt.jid, error)
            return verdict
        if isinstance(error, JobNotFound | JobLost | NotRunning):
            # said twice, since the first answer was lost on its way
            return verdict if doubtful and isinstance(error, NotRunning) else _lost(attempt, error)
        is_over = not attempt.holds or clock() > attempt.expires + GRACE
        if isinstance(error, StoreCorrupted | RequestError) or is_over:
            logger.error("job %s: its end cannot be told: %s", attempt.jid, error)
            return Left()
        doubtful = doubtful or isinstance(error, OutcomeUnknown)
        logger.warning("job %s: its end is told again: %s", attempt.jid, error)
        yield backoff.next()


def _prepared(
    runner: Runner, verdict: Verdict, job: JobView[Any], attempt: Attempt
) -> tuple[Verdict, Factory[Any] | None]:
    """The transition; a job whose result or data cannot be stored has failed."""
    try:
        return verdict, request(verdict, job, attempt, keeps_result=runner.keeps_results)
    except RequestError as error:
        failed = Failed(runner.group_of(attempt, error), str(error))
        return failed, request(failed, job, attempt)


def _lost(attempt: Attempt, error: QlessError) -> Verdict:
    reason = StopReason.CANCELED if isinstance(error, JobNotFound) else StopReason.LOST
    logger.warning("job %s has ended too late, and is refused: %s", attempt.jid, error)
    return Stopped(reason)


def _told(attempt: Attempt, verdict: Verdict, now: float) -> Verdict:
    took = now - attempt.began
    match verdict:
        case Done():
            logger.info("job %s (%s) done in %.3f s", attempt.jid, attempt.klass, took)
        case Again(delay=delay, message=message):
            why = _told_why(attempt, message or "it asked for that")
            logger.info(
                "job %s given back after %.3f s, for %g s: %s", attempt.jid, took, delay, why
            )
        case Failed(group=group, message=message):
            why = _told_why(attempt, message)
            logger.warning(
                "job %s failed after %.3f s: %s (group %s)", attempt.jid, took, why, group
            )
        case Stopped(reason=reason):
            logger.warning("job %s stopped after %.3f s: %s", attempt.jid, took, reason)
        case Left():
            logger.info("job %s left after %.3f s", attempt.jid, took)
    return verdict


def _told_why(attempt: Attempt, message: str) -> str:
    """What went wrong, in a line; the whole of it is for who wants to know all."""
    logger.debug("job %s: %s", attempt.jid, message)
    return summary_of(message)
