# SPDX-License-Identifier: MIT
"""Jobs that are put when a database transaction commits, and dropped when it is rolled back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any, Generic, ParamSpec, Self, TypeAlias, TypeVar, Unpack

from pyqless.client import checks, sessions
from pyqless.client.aio.client import AsyncClient
from pyqless.client.declaring import JobFunction
from pyqless.client.options import PutOptions, require_known
from pyqless.client.requests import enqueueing as requests
from pyqless.client.sync.client import Client
from pyqless.core.effects import Factory

__all__ = ["AsyncOnCommit", "OnCommit"]

P = ParamSpec("P")
C = TypeVar("C", Client, AsyncClient)

#: has a database call something after the commit of the transaction that is open, such as Django's
#: ``transaction.on_commit``
Register: TypeAlias = Callable[[Callable[[], None]], object]

#: has a database await something after the commit
AsyncRegister: TypeAlias = Callable[[Callable[[], Awaitable[None]]], object]


class _Puts(ABC, Generic[C]):
    """Puts jobs later."""

    _client: C

    def __repr__(self) -> str:
        return f"<{type(self).__name__} with {self._client!r}>"

    def put(
        self, queue: str, klass: str | type, data: Any = None, **options: Unpack[PutOptions]
    ) -> str:
        """
        Put a job after the commit; see ``Queue.put``.

        Returns:
            str: the jid that it will have.

        Raises:
            InvalidArgument: an argument is no good.
            DataTooLarge: the data is longer than the client allows.
        """
        given: dict[str, Any] = dict.fromkeys(sorted(PutOptions.__optional_keys__))
        require_known(options, given, "put")
        put = requests.put(self._client.queues[queue], klass, data, **{**given, **options})
        self._later(put.transition)
        return put.jid

    def call(self, function: JobFunction[P, Any], *args: P.args, **kwargs: P.kwargs) -> str:
        """
        Put a job that calls a declared function after the commit.

        Returns:
            str: the jid that it will have.
        """
        data = function.data(args, kwargs, self._client.encoder)
        return self.put(function.queue_name, function.klass_name, data, **function.defaults)

    @abstractmethod
    def _later(self, transition: Factory[str]) -> None:
        """Have it carried out after the commit."""


class OnCommit(_Puts[Client]):
    """
    Puts jobs when a database transaction commits.

    A job is checked, and has its jid, at once. If the process dies between the commit and the put, the job is
    lost; who cannot bear that writes it into the database first.

    Args:
        client: to put with.
        register: has the database call something after the commit.

    Raises:
        InvalidArgument: one of them is no good.
    """

    def __init__(self, client: Client, register: Register) -> None:
        self._client = _checked(client, Client, "AsyncOnCommit")
        self._register = checks.function("register", register)

    @classmethod
    def of_session(cls, client: Client, session: Any) -> Self:
        """
        Put jobs when a session of SQLAlchemy commits; what a savepoint was rolled back with is dropped, too.

        Args:
            session: a ``Session``, or an ``AsyncSession``, whose loop stands still while jobs are put.
        """
        return cls(client, sessions.register_with(getattr(session, "sync_session", session)))

    def _later(self, transition: Factory[str]) -> None:
        def act() -> None:
            self._client.storage.run(transition)

        self._register(act)


class AsyncOnCommit(_Puts[AsyncClient]):
    """
    As ``OnCommit``, with a client for asyncio; ``put`` and ``call`` are no coroutines, since they only register.

    Args:
        register: has the database await something after the commit.
    """

    def __init__(self, client: AsyncClient, register: AsyncRegister) -> None:
        self._client = _checked(client, AsyncClient, "OnCommit")
        self._register = checks.function("register", register)

    @classmethod
    def of_session(cls, client: AsyncClient, session: Any) -> Self:
        """
        As ``OnCommit.of_session``; the jobs are put before ``await session.commit()`` returns.

        Args:
            session: an ``AsyncSession``.
        """
        return cls(client, sessions.async_register_with(session))

    def _later(self, transition: Factory[str]) -> None:
        async def act() -> None:
            await self._client.storage.run(transition)

        self._register(act)


def _checked(client: Any, kind: type[C], other: str) -> C:
    if not isinstance(client, kind):
        checks.refuse("client", client, f"must be of type {kind.__name__}; see {other}, too")
    return client
