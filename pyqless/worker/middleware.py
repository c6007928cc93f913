# SPDX-License-Identifier: MIT
"""
Ready-made middleware; see ``entering`` for what a middleware is, and where it is put.

Each is an object that can be pickled, as children that are spawned need it, as long as its arguments can be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

from pyqless.client import JobFunction, Span, checks
from pyqless.worker.backoffs import checked_backoff, constant, exponential, linear
from pyqless.worker.entering import called
from pyqless.worker.stopping import JobStopped, Retry

__all__ = [
    "constant",
    "exponential",
    "hooks",
    "linear",
    "memory_limit",
    "reporting",
    "retry_on",
    "time_limit",
]

S = TypeVar("S")


def _around_a_job(
    method: Callable[[S, Any], Iterator[None]],
) -> Callable[[S, Any], AbstractContextManager[None]]:
    """As ``contextmanager``; and who puts a middleware above a function by itself is told what is missing."""
    make = contextmanager(method)

    @wraps(method)
    def enter(self: S, job: Any) -> AbstractContextManager[None]:
        if isinstance(job, FunctionType | type | JobFunction):
            name = type(self).__name__
            checks.refuse(
                "middleware", job, f"decorates nothing by itself: write @uses({name}(...))"
            )
        return make(self, job)

    return enter


# -- trying again -----------------------------------------------------------------------------


class retry_on:  # noqa: N801 - it is used as a function is, beside others that are
    """
    Try a job again when its code raises certain exceptions; once its retries are spent, it fails with the last one.

    Args:
        exceptions: which ones, at least one.
        backoff: how long to wait, seconds or a timedelta, by how often it was tried again; 1, 2, 4, ... with jitter unless given.

    Raises:
        InvalidArgument: there is none, one is no class of exceptions that derives of ``Exception``, or the backoff
            cannot be called.
    """

    def __init__(
        self, *exceptions: type[Exception], backoff: Callable[[int], Span] | None = None
    ) -> None:
        self._backoff = exponential() if backoff is None else checked_backoff(backoff)
        if not exceptions:
            checks.refuse("exceptions", exceptions, "are missing: retry_on(ConnectionError, ...)")
        for kind in exceptions:
            _require_exception(kind)
        self._exceptions = exceptions

    @_around_a_job
    def __call__(self, job: Any) -> Iterator[None]:
        """Be entered around a job."""
        try:
            yield
        except Retry:
            raise
        except self._exceptions as error:
            tries = max(0, job.retries - job.remaining)
            delay = checks.span("backoff", self._backoff(tries))
            raise Retry(delay) from error


def _require_exception(kind: Any) -> None:
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        checks.refuse("exceptions", kind, "must be classes of exceptions, one by one")
    if not issubclass(kind, Exception):
        checks.refuse(
            "exceptions", kind, "must derive of Exception: others end a process, or a task"
        )


# -- limits -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class time_limit:  # noqa: N801 - as above
    """
    Stop a job that runs for too long, as far as the kind of worker can: see the documentation of each.

    Args:
        seconds: or a timedelta, counted from the moment at which it was popped.
        retry: try it again, rather than let it fail.

    Raises:
        InvalidArgument: the time is no span above 0, or ``retry`` neither True nor False.
    """

    seconds: Span
    retry: bool = False

    def __post_init__(self) -> None:
        checks.positive_span("seconds", self.seconds)
        checks.flag("retry", self.retry)

    @_around_a_job
    def __call__(self, job: Any) -> Iterator[None]:
        """Be entered around a job."""
        job.limit_time(self.seconds, retries=self.retry)
        yield


@dataclass(frozen=True)
class memory_limit:  # noqa: N801 - as above
    """
    Let a job that asks for too much memory fail with ``MemoryError``.

    The limit is one of the whole process, so it is of use where that runs one job at a time.

    Args:
        size: of the address space that the process may have while the job runs, bytes.

    Raises:
        InvalidArgument: it is no whole number above 0.
    """

    size: int

    def __post_init__(self) -> None:
        checks.whole("size", self.size, least=1)

    @_around_a_job
    def __call__(self, _job: Any) -> Iterator[None]:
        """Be entered around a job."""
        import resource  # noqa: PLC0415 - not everywhere

        before, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = self.size if hard == resource.RLIM_INFINITY else min(self.size, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (before, hard))


# -- hooks ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class hooks:  # noqa: N801 - as above
    """
    Call functions around each job, such as those that let go of database connections which have grown old.

    Args:
        before: called first.
        after: called last, however the job has ended.

    Raises:
        InvalidArgument: one of them cannot be called, or is a coroutine function, which nobody would await.
    """

    before: Callable[[], object] | None = None
    after: Callable[[], object] | None = None

    def __post_init__(self) -> None:
        for name in ("before", "after"):
            if (value := getattr(self, name)) is not None:
                called(name, value)

    @_around_a_job
    def __call__(self, _job: Any) -> Iterator[None]:
        """Be entered around a job."""
        if self.before is not None:
            self.before()
        try:
            yield
        finally:
            if self.after is not None:
                self.after()


@dataclass(frozen=True)
class reporting:  # noqa: N801 - as above
    """
    Hand what goes wrong to a service that collects errors.

    A retry that was asked for is no error, nor is a job that is stopped.

    Args:
        capture: given the exception, within the scope; such as ``sentry_sdk.capture_exception``.
        scope: given the job, makes the context in which it runs, such as one that has jid and klass as tags.

    Raises:
        InvalidArgument: one of them cannot be called, or is a coroutine function, which nobody would await.
    """

    capture: Callable[[BaseException], object]
    scope: Callable[[Any], AbstractContextManager[Any]] | None = None

    def __post_init__(self) -> None:
        called("capture", self.capture)
        if self.scope is not None:
            called("scope", self.scope)

    @_around_a_job
    def __call__(self, job: Any) -> Iterator[None]:
        """Be entered around a job."""
        with ExitStack() as stack:
            if self.scope is not None:
                stack.enter_context(self.scope(job))
            try:
                yield
            except (Retry, JobStopped, GeneratorExit):
                raise
            except BaseException as error:
                self.capture(error)
                raise
