# SPDX-License-Identifier: MIT
"""How a declared job is to be put: with which client, when, how often, with which options."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final, Generic, ParamSpec, Self, TypeVar, Unpack

from pyqless.client import checks
from pyqless.client.new_jobs import NewJob
from pyqless.client.options import PutOptions, RecurOptions, require_known

if TYPE_CHECKING:
    from pyqless.client.aio.client import AsyncClient
    from pyqless.client.declaring import JobFunction
    from pyqless.client.sync.client import Client

__all__ = ["AsyncOrder", "Order", "Recurrence"]

P = ParamSpec("P")
C = TypeVar("C", bound="Client | AsyncClient")
T = TypeVar("T")

#: what ``Queue.put`` and ``Queue.recur`` take
_PUT: Final = PutOptions.__optional_keys__
_RECURRING: Final = RecurOptions.__optional_keys__


class _Order(Generic[P, C]):
    """
    What was chosen so far; each further choice gives another order.

    Args:
        options: of ``Queue.put``, besides those that the function was declared with.
    """

    def __init__(
        self,
        client: C,
        function: JobFunction[P, Any],
        options: PutOptions,
        at: float | None = None,
    ) -> None:
        self._client = client
        self._function = function
        self._options = options
        self._at = at

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._function!r}>"

    def options(self, **options: Unpack[PutOptions]) -> Self:
        """Choose options of ``Queue.put``."""
        require_known(options, _PUT, "put")
        return type(self)(self._client, self._function, {**self._options, **options}, self._at)

    def delay(self, seconds: float) -> Self:
        """Let it wait before it may run."""
        return self.options(delay=checks.number("seconds", seconds, least=0))

    def at(self, moment: Any) -> Self:
        """Let it wait until a moment: a datetime with a time zone, a date, or Unix time in seconds."""
        when = checks.moment("moment", moment)
        return type(self)(self._client, self._function, self._options, when)

    def prepared(self, *args: P.args, **kwargs: P.kwargs) -> NewJob:
        """Say which job it is, to be put with others by ``Queue.put_many``, into whichever queue that is."""
        data = self._function.data(args, kwargs)
        return NewJob(self._function.klass_name, data, **self._chosen())

    def _chosen(self) -> PutOptions:
        chosen: PutOptions = {**self._function.defaults, **self._options}
        if self._at is not None:
            chosen["delay"] = max(0.0, self._at - self._client.storage.clock())
        return chosen

    def _put(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        queue: Any = self._client.queues[self._function.queue_name]
        data = self._function.data(args, kwargs)
        return queue.put(self._function.klass_name, data, **self._chosen())

    def _recur(self, interval: float, options: RecurOptions) -> Callable[[Any, Any], Any]:
        queue: Any = self._client.queues[self._function.queue_name]
        function, chosen = self._function, {**self._chosen(), **options}
        require_known(chosen, _RECURRING, "recurring jobs")

        def put(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            return queue.recur(function.klass_name, function.data(args, kwargs), interval, **chosen)

        return put


class Order(_Order[P, "Client"]):
    """How a job is to be put, with a client that blocks."""

    def put(self, *args: P.args, **kwargs: P.kwargs) -> str:
        """Put the job; returns the jid."""
        jid: str = self._put(args, kwargs)
        return jid

    def recur(self, interval: float, **options: Unpack[RecurOptions]) -> Recurrence[P, str]:
        """Let it be made every so many seconds; see ``Queue.recur`` for the options."""
        return Recurrence(self._recur(interval, options))


class AsyncOrder(_Order[P, "AsyncClient"]):
    """How a job is to be put, with a client for asyncio."""

    async def put(self, *args: P.args, **kwargs: P.kwargs) -> str:
        """Put the job; returns the jid."""
        jid: str = await self._put(args, kwargs)
        return jid

    def recur(
        self, interval: float, **options: Unpack[RecurOptions]
    ) -> Recurrence[P, Coroutine[Any, Any, str]]:
        """Let it be made every so many seconds; see ``Queue.recur`` for the options."""
        return Recurrence(self._recur(interval, options))


class Recurrence(Generic[P, T]):
    """How often a job is to be made."""

    def __init__(self, put: Callable[[Any, Any], T]) -> None:
        self._put = put

    def put(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Put the recurring job; returns its jid."""
        return self._put(args, kwargs)
