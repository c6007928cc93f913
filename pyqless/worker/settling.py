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
from functools import partial
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
from pyqless.worker.ends import as_taken, log_end
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


def _never() -> bool:
    return False


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
    gives_up: Callable[[], bool] = _never,
) -> Settled[J]:
    """
    Tell the store how a run has ended.

    Args:
        gives_up: whether to leave the job to its lock rather than to tell again what the store has not answered.
        takes_next: take the next job of the queue, in the same transaction, if this one is done.
    """
    steps = _settling(
        runner, verdict, job, attempt, storage.clock, takes_next=takes_next, gives_up=gives_up
    )
    answer: Any = None
    while True:
        try:
            step = steps.send(answer)
        except StopIteration as end:
            settled: Settled[J] = end.value
            log_end(settled.verdict, job, attempt, storage.clock())
            return settled
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
            ended: Verdict = end.value.verdict
            log_end(ended, job, attempt, storage.clock())
            return ended
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
    gives_up: Callable[[], bool] = _never,
) -> Generator[_Step, Any, Settled[J]]:
    """Tell the end, and take the next job with it; where the two cannot be done together, tell the end alone."""
    answer: Any = None
    if takes_next and isinstance(verdict, Done):
        answer = yield from _turning(runner, verdict, job, attempt)
        if not isinstance(answer, QlessError):
            return Settled(verdict, _following(job, answer))
    # a store that is at fault may have done half of it, or all
    doubtful = isinstance(answer, StorageError)
    is_over = partial(_is_over, attempt, clock, gives_up)
    told = yield from _telling(runner, verdict, job, attempt, is_over, doubtful=doubtful)
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
    is_over: Callable[[], bool],
    *,
    doubtful: bool,
) -> Generator[_Step, Any, Verdict]:
    verdict, transition = _prepared(runner, verdict, job, attempt)
    if transition is None:
        return verdict
    attempt.settle()
    backoff = Backoff()
    while True:
        answer = yield transition
        if isinstance(answer, NotReplicated):
            logger.warning("job %s: %s", attempt.jid, answer, extra=attempt.fields)
            answer = answer.result
        if not isinstance(answer, QlessError):
            return _as_answered(verdict, job, answer)
        if isinstance(answer, JobNotFound | JobLost | NotRunning):
            if doubtful and isinstance(answer, NotRunning):
                # said twice, since the first answer was lost on its way
                return _as_answered(verdict, job, None)
            return _lost(attempt, answer)
        if isinstance(answer, StoreCorrupted | RequestError) or is_over():
            text = "job %s: its end cannot be told: %s"
            logger.error(text, attempt.jid, answer, extra=attempt.fields)
            return Left()
        doubtful = doubtful or isinstance(answer, OutcomeUnknown)
        log = logger.warning if backoff.is_fresh else logger.debug
        log("job %s: its end is told again: %s", attempt.jid, answer, extra=attempt.fields)
        yield backoff.next()


def _is_over(attempt: Attempt, clock: Callable[[], float], gives_up: Callable[[], bool]) -> bool:
    """Whether there is no use in telling the end once more, or no time."""
    return not attempt.holds or clock() > attempt.expires + GRACE or gives_up()


def _prepared(
    runner: Runner, verdict: Verdict, job: JobView[Any], attempt: Attempt
) -> tuple[Verdict, Factory[Any] | None]:
    """The transition; a job whose result or data cannot be stored has failed."""
    try:
        return verdict, request(verdict, job, attempt, keeps_result=runner.keeps_results)
    except RequestError as error:
        failed = Failed(runner.group_of(attempt, error), str(error))
        return failed, request(failed, job, attempt)


def _as_answered(
    verdict: Verdict, job: JobView[Any], answer: tuple[Any, dict[str, str]] | None
) -> Verdict:
    """The verdict as the store took it; without an answer, by what was known of the job before."""
    if not isinstance(verdict, Again):
        return verdict
    remaining = job.remaining - 1 if answer is None else answer[0]
    return as_taken(verdict, job.queue_name, remaining)


def _lost(attempt: Attempt, error: QlessError) -> Verdict:
    reason = StopReason.CANCELED if isinstance(error, JobNotFound) else StopReason.LOST
    text = "job %s has ended too late, and is refused: %s"
    logger.warning(text, attempt.jid, error, extra=attempt.fields)
    return Stopped(reason)
