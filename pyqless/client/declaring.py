# SPDX-License-Identifier: MIT
"""Functions that are jobs: declared by a decorator, called as they are, and put into a queue by name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, Generic, ParamSpec, TypeAlias, TypeVar, Unpack, cast, overload

from pyqless.client import checks
from pyqless.client.aio.client import AsyncClient
from pyqless.client.arguments import Arguments
from pyqless.client.checks import Span
from pyqless.client.new_jobs import NewJob
from pyqless.client.options import PutOptions, RecurOptions
from pyqless.client.orders import AsyncOrder, Order, Recurrence, require_client
from pyqless.client.simplifying import Encoder
from pyqless.client.sync.client import Client

__all__ = ["JobFunction", "job"]

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])

#: a client, or what gives one when the first job is put
Source: TypeAlias = Client | Callable[[], Client]


class JobFunction(Generic[P, R]):
    """
    A function that is a job; ``job`` makes one. To call it is to call the function, here and now.

    Attributes:
        klass_name: the name under which workers find it.
        queue_name: where it is put.
        heartbeat: every how many seconds its worker should renew the lock; None: as the worker likes.
        is_async: whether a call gives a coroutine.
    """

    #: the function's own
    __name__: str

    def __init__(
        self,
        function: Callable[P, R],
        *,
        klass_name: str,
        queue_name: str,
        heartbeat: float | None,
        source: Source | None,
        options: PutOptions,
    ) -> None:
        functools.update_wrapper(self, function)
        self.klass_name = klass_name
        self.queue_name = queue_name
        self.heartbeat = heartbeat
        self.is_async = inspect.iscoroutinefunction(function)
        self._function = function
        self._source = source
        self._options = options
        self._arguments = Arguments(function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        return self._function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<JobFunction {self.klass_name} in {self.queue_name!r}>"

    def process(self, job: Any) -> R:
        """
        Do what a job says: call the function with the arguments in its data. Workers call this.

        Raises:
            DataMismatch: the arguments do not fit, or one is not of the type it is annotated with.
        """
        args, kwargs = self._arguments.call(job.data)
        return self._function(*args, **kwargs)

    # -- putting it into its queue ------------------------------------------------------------

    def put(self, *args: P.args, **kwargs: P.kwargs) -> str:
        """
        Put a job that makes this call.

        Returns:
            str: the jid.

        Raises:
            InvalidArgument: the arguments do not fit the function, JSON cannot say one, or there is no client to put it
                with.
        """
        return self.options().put(*args, **kwargs)

    def prepared(self, *args: P.args, **kwargs: P.kwargs) -> NewJob:
        """
        Say which job makes this call, to be put with others by ``Queue.put_many``, into whichever queue that is.

        Raises:
            InvalidArgument: the arguments do not fit the function.
        """
        return NewJob(self.klass_name, self.data(args, kwargs), **self._options)

    def options(self, **options: Unpack[PutOptions]) -> Order[P]:
        """
        Choose options of ``Queue.put`` for a job: ``resize.options(jid="a").put("a.png")``.

        Raises:
            InvalidArgument: there is no option of that name.
        """
        return Order(self._client, self, {}).options(**options)

    def delay(self, seconds: Span) -> Order[P]:
        """Let a job wait before it may run, seconds or a timedelta: ``resize.delay(60).put("a.png")``."""
        return self.options().delay(seconds)

    def at(self, moment: Any) -> Order[P]:
        """
        Let a job wait until a moment.

        Args:
            moment: a datetime with a time zone, a date (its first moment, UTC), or Unix time in seconds.
        """
        return self.options().at(moment)

    def recur(self, interval: Span, **options: Unpack[RecurOptions]) -> Recurrence[P, str]:
        """Let a job be made every so many seconds, or every timedelta: ``tidy.recur(3600, jid="tidy").put()``."""
        return self.options().recur(interval, **options)

    @overload
    def on(self, client: Client) -> Order[P]: ...

    @overload
    def on(self, client: AsyncClient) -> AsyncOrder[P]: ...

    def on(self, client: Client | AsyncClient) -> Order[P] | AsyncOrder[P]:
        """Choose the client to put it with: ``await resize.on(client).put("a.png")``."""
        return self.options().on(client)

    def data(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        encoder: Encoder | None = None,
        *,
        whole: bool = False,
    ) -> dict[str, Any]:
        """The data of a job that makes a call; see ``Arguments.data``."""
        return self._arguments.data(args, kwargs, encoder, whole=whole)

    @property
    def defaults(self) -> PutOptions:
        """The options of each of its jobs, unless others are chosen."""
        return self._options

    def _client(self) -> Client:
        source = self._source
        if source is None:
            fault = "is missing: give job() one, or call on(client)"
            checks.refuse("client", self.klass_name, fault)
        return source if isinstance(source, Client) else require_client(source())


def _told_what_is_missing(declare: F) -> F:
    """Let a decorator that is used without its arguments say so in our words; type checkers know all the same."""

    @functools.wraps(declare)
    def checked(*function: Any, **options: Any) -> Any:
        if function or "queue" not in options:
            text = "is missing: declare a job with @pyqless.job(queue=...)"
            checks.refuse("queue", next(iter(function), None), text)
        return declare(**options)

    return cast("F", checked)


@_told_what_is_missing
def job(
    *,
    queue: str,
    name: str | None = None,
    client: Source | None = None,
    retries: int | None = None,
    tags: Iterable[str] | None = None,
    priority: float | None = None,
    heartbeat: Span | None = None,
) -> Callable[[Callable[P, R]], JobFunction[P, R]]:
    """
    Declare a function to be a job.

    Args:
        queue: where it is put.
        name: under which workers find it; ``module.function`` unless given.
        client: to put it with, or a function that gives one when it is needed.
        retries: how often it may be tried again; 5 unless given.
        tags: of each of its jobs.
        priority: the greater goes first; 0 unless given.
        heartbeat: how often its worker should renew the lock: every so many seconds, above 0, or every timedelta.

    Returns:
        a decorator, that makes a ``JobFunction``.

    Raises:
        InvalidArgument: an argument is no good, or no worker would find the function.
    """
    given: dict[str, Any] = {
        "retries": checks.optional(checks.whole, "retries", retries),
        "tags": checks.optional(checks.names, "tags", tags),
        "priority": checks.optional(checks.number, "priority", priority),
    }
    options: Any = {option: value for option, value in given.items() if value is not None}

    if client is not None and not callable(client):
        require_client(client)

    def declare(function: Callable[P, R]) -> JobFunction[P, R]:
        if isinstance(function, staticmethod):
            function = function.__func__
        return JobFunction(
            _checked(function),
            klass_name=_name_of(function) if name is None else checks.name("name", name),
            queue_name=checks.name("queue", queue),
            heartbeat=checks.optional(checks.positive_span, "heartbeat", heartbeat),
            source=client,
            options=options,
        )

    return declare


def _checked(function: Any) -> Any:
    """Refuse what can be called, and yet would do nothing, or not be called as a job is."""
    if isinstance(function, type):
        fault = (
            "is a class: declare a function, or put the class as it is, by queue.put(Class, data)"
        )
        checks.refuse("function", function, fault)
    if isinstance(function, classmethod) or _is_method(function):
        fault = "is a method, and a job has no object: declare a function, or put @staticmethod above it"
        checks.refuse("function", function, fault)
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        checks.refuse("function", function, "is a generator, which nobody would go through")
    return checks.function("function", function)


def _is_method(function: Any) -> bool:
    """Whether it is defined in the body of a class, to be called with an object of it."""
    owner = getattr(function, "__qualname__", "").rpartition(".")[0]
    if not owner or owner.endswith("<locals>") or not inspect.isfunction(function):
        return False
    return next(iter(inspect.signature(function).parameters), "") in ("self", "cls")


def _name_of(function: Callable[..., Any]) -> str:
    # "<" as in "<locals>" or "<lambda>", and "." in a class
    if not {"<", "."}.isdisjoint(getattr(function, "__qualname__", "<")):
        fault = "stands in no module by itself, where a worker would find it; give it a name"
        checks.refuse("function", function, fault)
    return f"{function.__module__}.{function.__qualname__}"
