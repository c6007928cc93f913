# SPDX-License-Identifier: MIT
"""A connection and what belongs to it; it carries out one transaction at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import apsw

from pyqless.storage.sqlite import statements as sql
from pyqless.storage.sqlite.keyspace import StoredKeyspace
from pyqless.storage.sqlite.listeners import Listener, listeners_in, store
from pyqless.storage.sqlite.log import LogFile
from pyqless.storage.sqlite.opened import OPENED
from pyqless.storage.sqlite.whereabouts import Place

__all__ = ["Lane"]


class Lane:
    """
    One transaction at a time.

    Args:
        connection: the lane's own from now on.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self.place = Place.of(connection)
        cursor = connection.cursor()
        self.execute: Callable[..., Any] = cursor.execute
        self.keyspace = StoredKeyspace(cursor)
        self._listeners: list[Listener] | None = None
        self._version = -1
        self._changes = 0
        self._log: LogFile | None = None

    def begin_writing(self) -> None:
        """
        Begin a transaction that alone may write, and forget what others have changed since the last one.

        Raises:
            apsw.BusyError: others write, or the file is just being opened or closed.
        """
        self._begin(sql.BEGIN_WRITING)
        self._catch_up()
        self._changes = self.connection.total_changes()

    def begin_looking(self) -> None:
        """As ``begin_writing``, for a transaction that sees what was committed when it begins."""
        self._begin(sql.BEGIN_READING)
        try:
            self.execute(sql.FIRST_LOOK).fetchall()
        except BaseException:
            self.roll_back()
            raise
        self._catch_up()

    def _begin(self, statement: str) -> None:
        if self.connection.in_transaction:
            self.roll_back()  # who was to do so was interrupted
        self.execute(statement)

    def _catch_up(self) -> None:
        version = self.connection.data_version()
        if version != self._version:
            self.forget()
            self._version = version
        self.keyspace.tidy()

    def commit(self) -> bool:
        """Commit the transaction, with what the keyspace has not written yet; tell whether it changes anything."""
        self.keyspace.save()
        self.execute(sql.COMMIT)
        # one's own commit changes it, too
        self._version = self.connection.data_version()
        return self.connection.total_changes() != self._changes

    def roll_back(self) -> None:
        """Undo the transaction."""
        self.forget()
        self.end()

    def end(self) -> None:
        """End a transaction of which nothing is to be kept."""
        # after some errors SQLite has done it already
        if self.connection.in_transaction:
            self.execute(sql.ROLLBACK)

    def forget(self) -> None:
        """Forget what was read."""
        self.keyspace.forget()
        self._listeners = None

    def publish(self, messages: Sequence[tuple[str, str]]) -> list[Listener]:
        """
        Put messages where those who listen find them after the commit.

        Args:
            messages: (channel, data).

        Returns:
            list: whom to wake then.
        """
        if messages and self._listeners is None:
            self._listeners = listeners_in(self.connection)
        return store(self.connection, self._listeners, messages) if self._listeners else []

    def log(self) -> LogFile:
        """The log's file; there is one once something has been written."""
        if self._log is None:
            self._log = LogFile(self.connection)
        return self._log

    def close(self, *, tidily: bool = True) -> None:
        """
        Close the connection.

        Args:
            tidily: let the last one move the log's content into the file, and remove the log.
        """
        if self.keyspace.has_vacancies:
            self._drop_vacancies()
        if tidily:
            self._close()
        else:
            self.abandon()

    def abandon(self) -> None:
        """Close the connection, and write no more to the file, nor to the log beside it."""
        self.connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        self._close()

    def _close(self) -> None:
        if self._log is not None:
            self._log.close()
        self.connection.close()
        OPENED.remove(self.connection)

    def _drop_vacancies(self) -> None:
        try:
            self.begin_writing()
            self.keyspace.drop_vacancies()
            self.commit()
        except apsw.Error:  # there are few, and they do no harm
            self.roll_back()
