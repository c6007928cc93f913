# SPDX-License-Identifier: MIT
"""The core beneath all kinds of workers: find a job's code, run it inside its middleware, judge how it ended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    ExitStack,
)
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyqless.client import checks
from pyqless.client.views import JobView
from pyqless.worker.attempts import Attempt
from pyqless.worker.context import AwaitableJob, BlockingJob, being
from pyqless.worker.entering import Middleware, middleware_of, require_middleware
from pyqless.worker.finding import Code, CodeNotFound, Finder
from pyqless.worker.lifelines import in_one_process
from pyqless.worker.reporting import MESSAGE_LIMIT, group_of, message_of
from pyqless.worker.stopping import JobStopped, Retry, StopReason, TimeLimitExceeded
from pyqless.worker.verdicts import Again, Done, Failed, Left, Stopped, Verdict

__all__ = ["Runner"]

logger = logging.getLogger("pyqless.worker")


@dataclass(frozen=True, kw_only=True)
class Runner:
    """
    Runs jobs.

    Args:
        finder: finds their code.
        middleware: around each job, the first the outermost.
        compat: jobs end their runs by themselves, as with qless-py: one that returns without that is left alone.
        keeps_results: enter what a job returns into its history, as ``result``.
        message_limit: how long a failure's message may be, characters.

    Raises:
        InvalidArgument: one of them is no good.
    """

    finder: Finder = field(default_factory=Finder)
    middleware: Sequence[Middleware] = ()
    compat: bool = False
    keeps_results: bool = False
    message_limit: int = MESSAGE_LIMIT

    def __post_init__(self) -> None:
        checks.instance("finder", self.finder, Finder)
        require_middleware(checks.instance("middleware", self.middleware, Sequence))
        checks.flag("compat", self.compat)
        checks.flag("keeps_results", self.keeps_results)
        checks.whole("message_limit", self.message_limit)

    def run(self, job: JobView[Any], attempt: Attempt, sandbox: Path | None = None) -> Verdict:
        """
        Run a job in this thread; a coroutine runs in a loop of its own.

        Raises:
            KeyboardInterrupt: it came while the job ran.
        """
        try:
            code = self._find(attempt)
            if code.is_async:
                value = asyncio.run(self._enclosed(code, AwaitableJob(job, attempt, sandbox)))
            else:
                value = self._within(code, BlockingJob(job, attempt, sandbox))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a job that calls sys.exit fails, and the worker lives on
            return self.judge(job, attempt, error)
        return self._returned(job, attempt, value)

    async def run_async(
        self,
        job: JobView[Any],
        attempt: Attempt,
        in_thread: Callable[..., Any],
        sandbox: Path | None = None,
    ) -> Verdict:
        """
        Run a job in this task, or a function in a thread.

        Args:
            in_thread: an awaitable call of a function in a thread.
        """
        loop = asyncio.get_running_loop()
        try:
            code = self._find(attempt)
            if code.is_async:
                value = await self._enclosed(code, AwaitableJob(job, attempt, sandbox))
            else:
                face = BlockingJob(job, attempt, sandbox, loop)
                attempt.on_stop = None  # what runs in a thread cannot be cancelled, only told
                value = await in_thread(self._within, code, face)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - as above; a cancelled run has a reason, see judge
            return self.judge(job, attempt, error)
        return self._returned(job, attempt, value)

    # -- around the code ----------------------------------------------------------------------

    def _find(self, attempt: Attempt) -> Code:
        return self.finder.find(attempt.klass, attempt.queue)

    def _around(self, code: Code) -> tuple[Middleware, ...]:
        return (*self.middleware, *middleware_of(code.owner))

    def _within(self, code: Code, job: BlockingJob) -> Any:
        with being(job), ExitStack() as stack:
            for middleware in self._around(code):
                manager = middleware(job)
                if not isinstance(manager, AbstractContextManager):
                    raise _no_context(manager, middleware, code)
                stack.enter_context(manager)
            job.attempt.raise_if_stopped()
            with in_one_process():
                return code.function(job)
        return None  # a middleware has dealt with the exception

    async def _enclosed(self, code: Code, job: AwaitableJob) -> Any:
        async with AsyncExitStack() as stack:
            stack.enter_context(being(job))
            for middleware in self._around(code):
                manager = middleware(job)
                if isinstance(manager, AbstractAsyncContextManager):
                    await stack.enter_async_context(manager)
                elif isinstance(manager, AbstractContextManager):
                    stack.enter_context(manager)
                else:
                    raise _no_context(manager, middleware, code)
            job.attempt.raise_if_stopped()
            with in_one_process():
                return await code.function(job)
        return None

    # -- judging ------------------------------------------------------------------------------

    def _returned(self, job: JobView[Any], attempt: Attempt, value: Any) -> Verdict:
        if not attempt.holds:
            return _refused(attempt)
        if job.state != "running":
            return Left()
        if self.compat:
            text = "job %s has ended, but not its run: its lock will expire"
            logger.warning(text, attempt.jid, extra=attempt.fields)
            return Left()
        return Done(value)

    def judge(self, job: JobView[Any], attempt: Attempt, error: BaseException) -> Verdict:
        """Tell what an exception means for the run."""
        if not attempt.holds:
            return _refused(attempt)
        if job.state != "running":
            text = "job %s raised after its end"
            logger.error(text, attempt.jid, exc_info=error, extra=attempt.fields)
            return Left()
        if isinstance(error, JobStopped):
            return Stopped(error.reason)
        if isinstance(error, asyncio.CancelledError) and attempt.stopped is not None:
            if attempt.stopped is not StopReason.TIME_LIMIT:
                return Stopped(attempt.stopped)
            error = TimeLimitExceeded(f"the job ran for longer than {attempt.limit:g} s")
        return self._faulted(attempt, error)

    def _faulted(self, attempt: Attempt, error: BaseException) -> Verdict:
        if isinstance(error, Retry):
            cause = error.__cause__
            if cause is None:
                named = error.group is not None
                return Again(error.delay, error.group, str(error) if named else None)
            group = error.group or self.group_of(attempt, cause)
            return Again(error.delay, group, error.message or message_of(cause, self.message_limit))
        group, message = self.group_of(attempt, error), message_of(error, self.message_limit)
        if isinstance(error, TimeLimitExceeded) and attempt.retries_at_limit:
            return Again(0.0, group, message)
        return Failed(group, message)

    def group_of(self, attempt: Attempt, error: BaseException) -> str:
        """The group of failures that an exception belongs to."""
        if self.compat and isinstance(error, CodeNotFound) and error.kind != "not-found":
            return f"{attempt.queue}-{error.kind}"
        return group_of(error, attempt.klass, attempt.queue, compat=self.compat)


def _no_context(manager: object, middleware: Middleware, code: Code) -> TypeError:
    if isinstance(manager, AbstractAsyncContextManager):
        return TypeError(f"{middleware!r} is for coroutines, and {code.owner!r} is none")
    return TypeError(f"{middleware!r} must give a context manager, not {manager!r}")


def _refused(attempt: Attempt) -> Verdict:
    return Stopped(attempt.stopped or StopReason.LOST)
