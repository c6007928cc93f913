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
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

from pyqless.client.views import JobView
from pyqless.client.waiting import still_handed
from pyqless.core.effects import Factory
from pyqless.core.working import Turn
from pyqless.errors import (
    JobLost,
    JobNotFound,
    NotReplicated,
    NotRunning,
    OutcomeUnknown,
    QlessError,
    RequestError,
    StorageError,
    StoreCorrupted,
)
from pyqless.storage import AsyncStorage, Storage
from pyqless.worker.attempts import Attempt
from pyqless.worker.reporting import summary_of
from pyqless.worker.running import Runner
from pyqless.worker.stopping import StopReason
from pyqless.worker.verdicts import Again, Done, Failed, Left, Stopped, Verdict, request, turn
from pyqless.worker.waiting import Backoff

__all__ = ["Settled", "settle", "settle_async"]

logger = logging.getLogger("pyqless.worker")

#: how long after the expiry of a lock the store is asked once more, seconds: it may be in its grace period still
GRACE: Final = 10.0

#: a transition to run (its value is sent back, or the ``QlessError`` that it raises), or seconds to wait
_Step: TypeAlias = Factory[Any] | float

J = TypeVar("J", bound=JobView[Any])


class Settled(NamedTuple, Generic[J]):
    """How the store took the end of a run."""

    verdict: Verdict
    #: the job that was taken with it, if any
    following: J | None = None


def settle(
    storage: Storage,
    runner: Runner,
    verdict: Verdict,
    job: J,
    attempt: Attempt,
    sleep: Callable[[float], None] = time.sleep,
    *,
    takes_next: bool = False,
) -> Settled[J]:
    """
    Tell the store how a run has ended.

    Args:
        takes_next: take the next job of the queue, in the same transaction, if this one is done.
    """
    steps = _settling(runner, verdict, job, attempt, storage.clock, takes_next=takes_next)
    answer: Any = None
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
            answer = storage.run(step)
        except QlessError as error:
            answer = error


async def settle_async(
    storage: AsyncStorage, runner: Runner, verdict: Verdict, job: JobView[Any], attempt: Attempt
) -> Verdict:
    """As ``settle``, for asyncio; takes no next job, and gives the verdict as the store took it."""
    steps = _settling(runner, verdict, job, attempt, storage.clock)
    answer: Any = None
    while True:
        try:
            step = steps.send(answer)
        except StopIteration as end:
            return _told(attempt, end.value, storage.clock()).verdict
        answer = None
        if isinstance(step, float):
            await asyncio.sleep(step)
            continue
        try:
            answer = await storage.run(step)
        except QlessError as error:
            answer = error


def _settling(
    runner: Runner,
    verdict: Verdict,
    job: J,
    attempt: Attempt,
    clock: Callable[[], float],
    *,
    takes_next: bool = False,
) -> Generator[_Step, Any, Settled[J]]:
    """Tell the end, and take the next job with it; where the two cannot be done together, tell the end alone."""
    answer: Any = None
    if takes_next and isinstance(verdict, Done):
        answer = yield from _turning(runner, verdict, job, attempt)
        if not isinstance(answer, QlessError):
            return Settled(verdict, _following(job, answer))
    # a store that is at fault may have done half of it, or all
    doubtful = isinstance(answer, StorageError)
    told = yield from _telling(runner, verdict, job, attempt, clock, doubtful=doubtful)
    return Settled(told)


def _turning(
    runner: Runner, done: Done, job: JobView[Any], attempt: Attempt
) -> Generator[_Step, Any, Any]:
    try:
        transition = turn(done, job, keeps_result=runner.keeps_results)
    except RequestError as error:
        return error
    attempt.settle()
    answer = yield transition
    return still_handed(answer) if isinstance(answer, NotReplicated) else answer


def _following(job: J, answer: tuple[Turn, dict[str, str]]) -> J | None:
    taken = answer[0].jobs
    return next((type(job)(job.client, seen, seen.worker) for seen in taken), None)


def _telling(
    runner: Runner,
    verdict: Verdict,
    job: JobView[Any],
    attempt: Attempt,
    clock: Callable[[], float],
    *,
    doubtful: bool,
) -> Generator[_Step, Any, Verdict]:
    verdict, transition = _prepared(runner, verdict, job, attempt)
    if transition is None:
        return verdict
    attempt.settle()
    backoff = Backoff()
    while True:
        error = yield transition
        if not isinstance(error, QlessError):
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


def _told(attempt: Attempt, settled: Settled[J], now: float) -> Settled[J]:
    took = now - attempt.began
    match settled.verdict:
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
    return settled


def _told_why(attempt: Attempt, message: str) -> str:
    """What went wrong, in a line; the whole of it is for who wants to know all."""
    logger.debug("job %s: %s", attempt.jid, message)
    return summary_of(message)
