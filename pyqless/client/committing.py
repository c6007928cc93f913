# SPDX-License-Identifier: MIT
"""Jobs that are put when a database transaction commits, and dropped when it is rolled back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, ParamSpec, Self, TypeAlias, Unpack

from pyqless.client import checks
from pyqless.client.declaring import JobFunction
from pyqless.client.options import PutOptions
from pyqless.client.requests import enqueueing as requests
from pyqless.client.sync.client import Client

__all__ = ["OnCommit"]

P = ParamSpec("P")

Act: TypeAlias = Callable[[], None]

#: has a database call something after the commit of the transaction that is open, such as Django's
#: ``transaction.on_commit``
Register: TypeAlias = Callable[[Act], object]

#: where a session of SQLAlchemy keeps what is to be done
_PENDING: Final = "pyqless.pending"


class OnCommit:
    """
    Puts jobs when a database transaction commits.

    A job is checked, and has its jid, at once. If the process dies between the commit and the put, the job is
    lost; who cannot bear that writes it into the database first.

    Args:
        client: to put with.
        register: has the database call something after the commit.
    """

    def __init__(self, client: Client, register: Register) -> None:
        if not callable(register):
            checks.refuse("register", register, "must be callable")
        self._client = client
        self._register = register

    @classmethod
    def of_session(cls, client: Client, session: Any) -> Self:
        """
        Put jobs when a session of SQLAlchemy commits; what a savepoint was rolled back with is dropped, too.

        Args:
            session: a ``Session``, or an ``AsyncSession``.
        """
        return cls(client, _register_with(getattr(session, "sync_session", session)))

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
        given: dict[str, Any] = dict.fromkeys(sorted(PutOptions.__optional_keys__)) | {**options}
        put = requests.put(self._client.queues[queue], klass, data, **given)

        def act() -> None:
            self._client.storage.run(put.transition)

        self._register(act)
        return put.jid

    def call(self, function: JobFunction[P, Any], *args: P.args, **kwargs: P.kwargs) -> str:
        """
        Put a job that calls a declared function after the commit.

        Returns:
            str: the jid that it will have.
        """
        data = function.data(args, kwargs)
        return self.put(function.queue_name, function.klass_name, data, **function.defaults)


# -- sessions of SQLAlchemy -------------------------------------------------------------------


def _register_with(session: Any) -> Register:
    from sqlalchemy import event  # noqa: PLC0415 - who has a session has it

    if _PENDING not in session.info:
        session.info[_PENDING] = []
        event.listen(session, "after_commit", _do_pending)
        event.listen(session, "after_soft_rollback", _drop_pending)
        event.listen(session, "after_transaction_end", _forget_pending)

    def register(act: Act) -> None:
        transaction = session.get_nested_transaction() or session.get_transaction()
        session.info[_PENDING].append((_lineage(transaction), act))

    return register


def _lineage(transaction: Any) -> list[Any]:
    """A transaction and those around it, the outermost last."""
    lineage = []
    while transaction is not None:
        lineage.append(transaction)
        transaction = transaction.parent
    return lineage


def _do_pending(session: Any) -> None:
    if session.in_nested_transaction():
        return  # a savepoint was released, which is no commit
    pending, session.info[_PENDING] = session.info[_PENDING], []
    for _, act in pending:
        act()


def _drop_pending(session: Any, ended: Any) -> None:
    session.info[_PENDING] = [entry for entry in session.info[_PENDING] if ended not in entry[0]]


def _forget_pending(session: Any, ended: Any) -> None:
    # what is closed without a commit is rolled back, too, though nobody says so
    if ended.parent is None:
        session.info[_PENDING] = []
