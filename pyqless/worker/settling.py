# SPDX-License-Identifier: MIT
"""
How the end of a run gets to the store, however often the store has to be asked.

A job that is done and cannot say so would be run again. So what the store does not answer is said again, for as long
as the lock may be held.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

from pyqless.client.views import JobView
from pyqless.client.waiting import still_handed
from pyqless.core.effects import Factory
from pyqless.core.working import Turn
from pyqless.errors import (
    InvalidArgument,
    JobLost,
    JobNotFound,
    NotReplicated,
    NotRunning,
    OutcomeUnknown,
    QlessError,
    RequestError,
    StorageError,
    StoreCorrupted,
    StoreUnavailable,
)
from pyqless.storage import AsyncStorage, Storage
from pyqless.worker.attempts import Attempt
from pyqless.worker.ends import as_taken, log_end
from pyqless.worker.hurrying import unless
from pyqless.worker.reporting import message_of
from pyqless.worker.running import Runner
from pyqless.worker.stopping import StopReason
from pyqless.worker.verdicts import Again, Done, Failed, Stopped, Untold, Verdict, request, turn
from pyqless.worker.waiting import Backoff, is_refusal

__all__ = ["Settled", "settle", "settle_async"]

logger = logging.getLogger("pyqless.worker")

#: how long after the expiry of a lock the store is asked once more, seconds: it may be in its grace period still
GRACE: Final = 10.0

#: for how long a store that answers, and refuses the end, is asked again, seconds: a lock is renewed meanwhile
REFUSED: Final = 60.0

#: a transition to run (its value is sent back, or the ``QlessError`` that it raises), or seconds to wait
_Step: TypeAlias = Factory[Any] | float

J = TypeVar("J", bound=JobView[Any])


def _never() -> bool:
    return False


def _nobody(_: object) -> None:
    pass


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
    on_answer: Callable[[object], None] = _nobody,
) -> Settled[J]:
    """
    Tell the store how a run has ended.

    Args:
        gives_up: whether to leave the job to its lock rather than to tell again what the store has not answered.
        takes_next: take the next job of the queue, in the same transaction, if this one is done.
        on_answer: told what the store answers to the end alone, a value or an error; and to both, if it takes them.
    """
    steps = _settling(
        runner,
        verdict,
        job,
        attempt,
        storage.clock,
        takes_next=takes_next,
        gives_up=gives_up,
        on_answer=on_answer,
    )
    answer: Any = None
    is_away = False
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
            # whoever has seen the store away does not wait for it once more than there is time
            call = partial(storage.run, step)
            answer = unless(gives_up, call) if is_away else call()
        except QlessError as error:
            answer = error
        is_away = isinstance(answer, StoreUnavailable | OutcomeUnknown)


async def settle_async(
    storage: AsyncStorage,
    runner: Runner,
    verdict: Verdict,
    job: JobView[Any],
    attempt: Attempt,
    on_answer: Callable[[object], None] = _nobody,
) -> Verdict:
    """As ``settle``, for asyncio; takes no next job, and gives the verdict as the store took it."""
    steps = _settling(runner, verdict, job, attempt, storage.clock, on_answer=on_answer)
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
    on_answer: Callable[[object], None],
) -> Generator[_Step, Any, Settled[J]]:
    """Tell the end, and take the next job with it; where the two cannot be done together, tell the end alone."""
    answer: Any = None
    if takes_next and isinstance(verdict, Done):
        answer = yield from _turning(runner, verdict, job, attempt)
        if not isinstance(answer, QlessError):
            on_answer(answer)
            return Settled(verdict, _following(job, answer))
    # a store that is at fault may have done half of it, or all
    doubtful = isinstance(answer, StorageError)
    patience = _Patience(attempt, clock, gives_up)
    told = yield from _telling(
        runner, verdict, job, attempt, patience, doubtful=doubtful, on_answer=on_answer
    )
    return Settled(told)


def _turning(
    runner: Runner, done: Done, job: JobView[Any], attempt: Attempt
) -> Generator[_Step, Any, Any]:
    try:
        transition = turn(done, job, keeps_result=runner.keeps_results)
    except Exception:  # noqa: BLE001 - told alone, it is seen to
        return InvalidArgument("the end cannot be written")
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
    patience: _Patience,
    *,
    doubtful: bool,
    on_answer: Callable[[object], None],
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
        on_answer(answer)
        if not isinstance(answer, QlessError):
            return _as_answered(verdict, job, answer)
        if isinstance(answer, JobNotFound | JobLost | NotRunning):
            if doubtful and isinstance(answer, NotRunning):
                # said twice, since the first answer was lost on its way
                return _as_answered(verdict, job, None)
            return _lost(attempt, answer)
        if isinstance(answer, StoreCorrupted | RequestError) or patience.ends(answer):
            return Untold(f"its end cannot be told: {answer}")
        doubtful = doubtful or isinstance(answer, OutcomeUnknown)
        log = logger.warning if backoff.is_fresh else logger.debug
        log("job %s: its end is told again: %s", attempt.jid, answer, extra=attempt.fields)
        yield backoff.next()


class _Patience:
    """Whether there is use in telling the end once more, and time."""

    def __init__(
        self, attempt: Attempt, clock: Callable[[], float], gives_up: Callable[[], bool]
    ) -> None:
        self._attempt = attempt
        self._clock = clock
        self._gives_up = gives_up
        self._refused_at = math.inf

    def ends(self, error: QlessError) -> bool:
        """Take note of what stands against the end, and tell whether that is all."""
        now = self._clock()
        self._refused_at = min(self._refused_at, now) if is_refusal(error) else math.inf
        is_too_late = now > min(self._attempt.expires + GRACE, self._refused_at + REFUSED)
        return is_too_late or not self._attempt.holds or self._gives_up()


def _prepared(
    runner: Runner, verdict: Verdict, job: JobView[Any], attempt: Attempt
) -> tuple[Verdict, Factory[Any] | None]:
    """The transition; a job whose data cannot be stored has failed."""
    try:
        return verdict, request(verdict, job, attempt, keeps_result=runner.keeps_results)
    except Exception as error:  # noqa: BLE001 - what the client's encoder raises is as good a reason
        is_ours = isinstance(error, QlessError)
        message = str(error) if is_ours else message_of(error, runner.message_limit)
        failed = Failed(runner.group_of(attempt, error), message)
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
