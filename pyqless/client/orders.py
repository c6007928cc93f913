# SPDX-License-Identifier: MIT
"""How a declared job is to be put: with which client, when, how often, with which options."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final, Generic, ParamSpec, Self, TypeVar, Unpack, overload

from pyqless.client import checks
from pyqless.client.aio.client import AsyncClient
from pyqless.client.checks import Span
from pyqless.client.new_jobs import NewJob
from pyqless.client.options import PutOptions, RecurOptions, require_known
from pyqless.client.sync.client import Client

if TYPE_CHECKING:
    from pyqless.client.declaring import JobFunction

__all__ = ["AsyncOrder", "Order", "Recurrence", "require_client"]

P = ParamSpec("P")
C = TypeVar("C", bound=Client | AsyncClient)
T = TypeVar("T")

#: what ``Queue.put`` and ``Queue.recur`` take
_PUT: Final = PutOptions.__optional_keys__
_RECURRING: Final = RecurOptions.__optional_keys__


class _Order(Generic[P, C]):
    """
    What was chosen so far; each further choice gives another order.

    Args:
        client: gives the client, once it is needed.
        options: of ``Queue.put``, besides those that the function was declared with.
    """

    def __init__(
        self,
        client: Callable[[], C],
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

    @overload
    def on(self, client: Client) -> Order[P]: ...

    @overload
    def on(self, client: AsyncClient) -> AsyncOrder[P]: ...

    def on(self, client: Client | AsyncClient) -> Order[P] | AsyncOrder[P]:
        """Choose the client to put it with: ``await resize.on(client).put("a.png")``."""
        if isinstance(client, AsyncClient):
            return AsyncOrder(lambda: client, self._function, self._options, self._at)
        checked = require_client(client)
        return Order(lambda: checked, self._function, self._options, self._at)

    def options(self, **options: Unpack[PutOptions]) -> Self:
        """
        Choose options of ``Queue.put``: ``resize.options(jid="a").put("a.png")``.

        Raises:
            InvalidArgument: there is no option of that name.
        """
        require_known(options, _PUT, "put")
        return type(self)(self._client, self._function, {**self._options, **options}, self._at)

    def delay(self, seconds: Span) -> Self:
        """Let it wait before it may run: seconds, or a timedelta."""
        return self.options(delay=checks.span("seconds", seconds))

    def at(self, moment: Any) -> Self:
        """Let it wait until a moment: a datetime with a time zone, a date, or Unix time in seconds."""
        when = checks.moment("moment", moment)
        return type(self)(self._client, self._function, self._options, when)

    def prepared(self, *args: P.args, **kwargs: P.kwargs) -> NewJob:
        """Say which job it is, to be put with others by ``Queue.put_many``, into whichever queue that is."""
        chosen = self._chosen()
        data = self._function.data(args, kwargs, whole=_is_unique(chosen))
        return NewJob(self._function.klass_name, data, **chosen)

    def _chosen(self) -> PutOptions:
        chosen: PutOptions = {**self._function.defaults, **self._options}
        if self._at is not None:
            chosen["delay"] = max(0.0, self._at - self._client().storage.clock())
        return chosen

    def _put(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        function, client = self._function, self._client()
        queue: Any = client.queues[function.queue_name]
        chosen = self._chosen()
        data = function.data(args, kwargs, client.encoder, whole=_is_unique(chosen))
        return queue.put(function.klass_name, data, **chosen)

    def _recur(self, interval: Span, options: RecurOptions) -> Callable[[Any, Any], Any]:
        function, client = self._function, self._client()
        queue: Any = client.queues[function.queue_name]
        chosen = {**self._chosen(), **options}
        require_known(chosen, _RECURRING, "recur")

        def put(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            data = function.data(args, kwargs, client.encoder, whole=_is_unique(chosen))
            return queue.recur(function.klass_name, data, interval, **chosen)

        return put


class Order(_Order[P, Client]):
    """
    How a job of a declared function is to be put: what was chosen so far; each further choice gives another order.

    A function makes one: ``resize.options(priority=5).delay(60).put("a.png")``.
    """

    def put(self, *args: P.args, **kwargs: P.kwargs) -> str:
        """
        Put a job that makes this call.

        Returns:
            str: the jid.

        Raises:
            InvalidArgument: the arguments do not fit the function, or there is no client to put it with.
        """
        jid: str = self._put(args, kwargs)
        return jid

    def recur(self, interval: Span, **options: Unpack[RecurOptions]) -> Recurrence[P, str]:
        """Let it be made every so many seconds, or every timedelta; see ``Queue.recur`` for the options."""
        return Recurrence(self._recur(interval, options))


class AsyncOrder(_Order[P, AsyncClient]):
    """As ``Order``; ``resize.on(client)`` makes one of a client for asyncio."""

    async def put(self, *args: P.args, **kwargs: P.kwargs) -> str:
        """As ``Order.put``."""
        jid: str = await self._put(args, kwargs)
        return jid

    def recur(
        self, interval: Span, **options: Unpack[RecurOptions]
    ) -> Recurrence[P, Coroutine[Any, Any, str]]:
        """As ``Order.recur``."""
        return Recurrence(self._recur(interval, options))


class Recurrence(Generic[P, T]):
    """How often a job is to be made; ``resize.recur(60)`` is one."""

    def __init__(self, put: Callable[[Any, Any], T]) -> None:
        self._put = put

    def put(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Put the recurring job; returns its jid."""
        return self._put(args, kwargs)


def _is_unique(options: Mapping[str, Any]) -> bool:
    """Whether the job is known by its data, which then has to say all of the call."""
    return options.get("unique") is True


def require_client(client: object) -> Client:
    """
    Make sure that it is a client that blocks.

    Raises:
        InvalidArgument: it is none.
    """
    if isinstance(client, AsyncClient):
        checks.refuse("client", client, "is for asyncio, so it has to be named by on(client)")
    if not isinstance(client, Client):
        fault = f"must be a client, or a function that gives one, not {type(client).__name__}"
        checks.refuse("client", client, fault)
    return client
