# SPDX-License-Identifier: MIT
"""
The job as its code sees it: the client's handle, and what the worker adds.

There are two faces, one that blocks for functions and one to be awaited for coroutines. Either works over either
client, so that a function runs the same in each kind of worker.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from inspect import iscoroutinefunction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pyqless.client import AsyncJob, Job, checks
from pyqless.client.checks import Span
from pyqless.client.progress import Progress
from pyqless.client.references import AnyJob
from pyqless.client.views import JobView
from pyqless.worker.attempts import Attempt

__all__ = ["AwaitableJob", "BlockingJob", "JobContext", "JobLogger", "being", "current_job"]

#: what ends a run
_SETTLING: Final = frozenset(
    {"cancel", "complete", "complete_and_pop", "fail", "move", "requeue", "retry", "timeout"}
)


# A face is no handle, and gives what its handle has by __getattr__, of which type checkers know nothing. So to them, and to
# nobody else, it is one: what the handle has not is an error to them, and so is a call that is not awaited.
if TYPE_CHECKING:
    _Handle: TypeAlias = Job
    _AsyncHandle: TypeAlias = AsyncJob
else:
    _Handle = _AsyncHandle = object

_current: ContextVar[BlockingJob | AwaitableJob | None] = ContextVar("pyqless_job", default=None)


def current_job() -> BlockingJob | AwaitableJob | None:
    """
    The job that this code runs for, as far down as it may be called.

    Returns:
        BlockingJob: or AwaitableJob in a coroutine; None where no job runs. A thread that the job's code starts knows of none,
            unless that hands it the context, as ``asyncio.to_thread`` does.
    """
    return _current.get()


@contextmanager
def being(job: BlockingJob | AwaitableJob) -> Iterator[None]:
    """Be entered around a job's code and middleware."""
    token = _current.set(job)
    try:
        yield
    finally:
        _current.reset(token)


class JobLogger(logging.LoggerAdapter[logging.Logger]):
    """Logs with the job's name before each line, and ``jid``, ``klass``, ``queue`` and ``worker`` in each record."""

    def __init__(self, attempt: Attempt) -> None:
        super().__init__(logging.getLogger("pyqless.job"), attempt.fields)
        self._name = f"{attempt.klass} {attempt.jid}"

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        """See ``logging.LoggerAdapter``."""
        # a name may have a percent sign, which is none of the places that the arguments fill
        name = self._name.replace("%", "%%") if args else self._name
        kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + 1  # this method is not who has called
        super().log(level, f"[{name}] {msg}", *args, **kwargs)

    def process(self, msg: Any, kwargs: Any) -> tuple[Any, Any]:
        """See ``logging.LoggerAdapter``; what is given as ``extra`` is kept, too."""
        fields = {**(self.extra or {}), **(kwargs.get("extra") or {})}
        return msg, {**kwargs, "extra": fields}


class JobContext(AnyJob):
    """
    What both faces show; whatever is not here is the handle's, see ``pyqless.Job``.

    Attributes:
        handle: the client's handle.
        attempt: this run of it.
        logger: for what the job has to say.
        sandbox: a directory of the job's own, empty at first and removed afterwards; None if the worker has none to give.
    """

    def __init__(self, handle: JobView[Any], attempt: Attempt, sandbox: Path | None = None) -> None:
        self.handle = handle
        self.attempt = attempt
        self.logger = JobLogger(attempt)
        self.sandbox = sandbox

    if TYPE_CHECKING:
        #: the worker's, of either kind, whichever face this is
        client: Any
    else:

        def __getattr__(self, name: str) -> Any:
            return self._given(name)

    def _given(self, name: str) -> Any:
        """What the handle has of a name, in the form of this face."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.attempt.klass} {self.attempt.jid}>"

    @property
    def jid(self) -> str:
        """Its id."""
        return self.attempt.jid

    @property
    def data(self) -> Any:
        """Its data; changes go to the store with the end of the job, and with ``checkpoint``."""
        return self.handle.data

    @data.setter
    def data(self, data: Any) -> None:
        self.handle.data = data

    def __getitem__(self, key: Any) -> Any:
        return self.data[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[key] = value

    @property
    def ttl(self) -> float:
        """For how many seconds the lock still holds, unless it is renewed, as it will be."""
        return self.attempt.expires - float(self.handle.client.storage.clock())

    @property
    def is_settled(self) -> bool:
        """Whether the job's code has ended the run by itself: completed, failed, moved or given back the job."""
        return self.handle.state != "running"

    def limit_time(self, seconds: Span, *, retries: bool = False) -> None:
        """
        Let the job run for so long at most, counted from its beginning.

        Args:
            seconds: or a timedelta, above 0.
            retries: try it again when it is stopped, rather than let it fail.

        Raises:
            InvalidArgument: ``seconds`` is no span of time above 0, or ``retries`` no truth value.
        """
        longest = checks.positive_span("seconds", seconds)
        checks.flag("retries", retries)
        self.attempt.limit_time(longest, retries=retries)

    def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        """
        Tell how far the job has come, in units of its own; shown beside the worker while the job runs.

        Args:
            done: a finite number, as ``total``.
            note: what is being done; cut after 1,000 characters.

        Raises:
            InvalidArgument: one of them is of another type.
        """
        self.attempt.report(Progress(done, total, note))

    def _beats_at_checkpoint(self) -> bool:
        """Whether there is news for the store; the worker renews the lock anyhow."""
        return self.handle.changed_data() is not None


class BlockingJob(JobContext, _Handle):
    """
    A job as a function sees it that a worker runs.

    It has what ``pyqless.Job`` has, too: ``complete``, ``fail``, ``retry``, ``log``, ``tag``, ``client``, ``klass_name``,
    ``queue_name``, ``tags``, ``history`` and so on. ``job["name"]`` is ``job.data["name"]``.

    Args:
        loop: whose handle this is, where the handle is one for asyncio; not the loop of the calling thread.

    Attributes:
        logger: for what the job has to say: its name stands before each line, and ``jid``, ``klass``, ``queue`` and ``worker``
            are in each record.
        sandbox: a directory of the job's own, empty at first and removed afterwards; None if the worker has none to give.
        handle: the ``pyqless.Job`` behind it; with a worker for asyncio an ``AsyncJob``, whose calls are made in its loop.
    """

    def __init__(
        self,
        handle: JobView[Any],
        attempt: Attempt,
        sandbox: Path | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(handle, attempt, sandbox)
        self._loop = loop

    def _given(self, name: str) -> Any:
        value = getattr(self.handle, name)
        if not _is_call(name):
            return value
        call = value if self._loop is None else _through_loop(value, self._loop)
        return _noting(call, self.attempt) if name in _SETTLING else call

    def checkpoint(self) -> None:
        """
        Stop here if the job is to end, and keep what it has changed in its data.

        Raises:
            JobStopped: the lock is lost, the job was cancelled, or the worker stops.
            TimeLimitExceeded: it has run for too long.
        """
        self.attempt.raise_if_stopped()
        if self._beats_at_checkpoint():
            self.heartbeat()


class AwaitableJob(JobContext, _AsyncHandle):
    """
    A job as a coroutine sees it that a worker runs: as ``BlockingJob``, but that its calls are awaited.

    Attributes:
        logger: for what the job has to say: its name stands before each line, and ``jid``, ``klass``, ``queue`` and ``worker``
            are in each record.
        sandbox: a directory of the job's own, empty at first and removed afterwards; None if the worker has none to give.
        handle: the ``pyqless.AsyncJob`` behind it; with a worker that blocks a ``Job``, whose calls are made in threads.
    """

    def _given(self, name: str) -> Any:
        value = getattr(self.handle, name)
        if not _is_call(name):
            return value
        call = value if iscoroutinefunction(value) else _in_thread(value)
        return _noting_async(call, self.attempt) if name in _SETTLING else call

    async def checkpoint(self) -> None:
        """As ``BlockingJob.checkpoint``."""
        self.attempt.raise_if_stopped()
        if self._beats_at_checkpoint():
            await self.heartbeat()


def _is_call(name: str) -> bool:
    """Whether a name is that of a call to the store: those are what the handle for asyncio has coroutines for."""
    return iscoroutinefunction(getattr(AsyncJob, name, None))


def _through_loop(
    call: Callable[..., Coroutine[Any, Any, Any]], loop: asyncio.AbstractEventLoop
) -> Callable[..., Any]:
    def run(*args: Any, **options: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(call(*args, **options), loop).result()

    return run


def _in_thread(call: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
    async def run(*args: Any, **options: Any) -> Any:
        return await asyncio.to_thread(call, *args, **options)

    return run


def _noting(call: Callable[..., Any], attempt: Attempt) -> Callable[..., Any]:
    def run(*args: Any, **options: Any) -> Any:
        attempt.settle()
        try:
            return call(*args, **options)
        except BaseException:
            attempt.settle(begins=False)
            raise

    return run


def _noting_async(
    call: Callable[..., Coroutine[Any, Any, Any]], attempt: Attempt
) -> Callable[..., Coroutine[Any, Any, Any]]:
    async def run(*args: Any, **options: Any) -> Any:
        attempt.settle()
        try:
            return await call(*args, **options)
        except BaseException:
            attempt.settle(begins=False)
            raise

    return run
