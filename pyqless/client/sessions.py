# SPDX-License-Identifier: MIT
"""What is to be done when a session of SQLAlchemy commits, and is dropped with what is rolled back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

from pyqless.client import checks

__all__ = ["async_register_with", "register_with"]

Act: TypeAlias = Callable[[], object]

#: where a session keeps what is to be done
_PENDING: Final = "pyqless.pending"


def register_with(session: Any) -> Callable[[Act], None]:
    """
    Have something called after a session's commit.

    What is registered in a savepoint is dropped when that is rolled back, and not done before the outermost commit.

    Raises:
        InvalidArgument: it is no ``Session``.
    """
    if not hasattr(session, "get_nested_transaction"):
        checks.refuse("session", session, "must be a Session of SQLAlchemy")
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


def async_register_with(session: Any) -> Callable[[Callable[[], Awaitable[None]]], None]:
    """
    As ``register_with``; what is registered is awaited within ``await session.commit()``.

    Raises:
        InvalidArgument: it is no ``AsyncSession``.
    """
    if not hasattr(session, "sync_session"):
        checks.refuse("session", session, "must be an AsyncSession of SQLAlchemy")
    from sqlalchemy.util import await_only  # noqa: PLC0415 - who has a session has it

    register = register_with(session.sync_session)
    return lambda act: register(lambda: await_only(act()))


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
