# SPDX-License-Identifier: MIT
"""A job as it lies in the store: what a rule reads of it, and the changes that most rules share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyqless.core import history
from pyqless.core.effects import Command
from pyqless.core.fields import Fields
from pyqless.core.keys import Keys
from pyqless.core.transaction import Transaction
from pyqless.errors import DanglingEntry, StoreCorrupted

__all__ = ["StoredJob", "checked", "reads"]


def reads(keys: Keys, jid: str) -> tuple[Command, Command]:
    """The reads whose replies make a ``StoredJob``."""
    return ("HGETALL", keys.job(jid)), ("LRANGE", keys.history(jid), 0, -1)


def checked(tx: Transaction, jid: str, fields: Any, entries: Any) -> StoredJob:
    """
    The job that tolerant reads found.

    Raises:
        StoreCorrupted: one of its keys is of another type.
        DanglingEntry: its hash is gone.
    """
    for reply in (fields, entries):
        if isinstance(reply, StoreCorrupted):
            raise reply
    if "jid" not in fields:
        key = tx.keys.job(jid)
        raise DanglingEntry(f"job {jid!r} is named, but not there", argument=key)
    return StoredJob(tx, jid, fields, entries)


class StoredJob(Fields):
    """
    A job in a transaction.

    Args:
        fields: its hash, a live image; empty where there is no such job.
        entries: its history list, a live image.
    """

    __slots__ = ("entries", "tx")

    def __init__(
        self, tx: Transaction, jid: str, fields: dict[str, str], entries: Sequence[str] = ()
    ) -> None:
        self.tx = tx
        self.jid = jid
        self.fields = fields
        self.entries = entries

    def set(self, *pairs: str) -> None:
        """Set fields: name, text, name, text, ..."""
        self.tx.hset(self.tx.keys.job(self.jid), *pairs)

    def record(self, limit: int, what: str, *, moment: float | None = None, **names: str) -> None:
        """Append an entry of ``history.entry``, of the transaction's moment unless another is given."""
        self.append(limit, history.entry(self.tx.now if moment is None else moment, what, **names))

    def append(self, limit: int, entry: str) -> None:
        """Append an entry to the history."""
        history.migrate(self.tx, self.jid, self.fields)
        history.append(self.tx, self.jid, self.entries, limit, entry)

    def spend_retry(self) -> None:
        """Count one retry down, and begin anew with the grace period."""
        key = self.tx.keys.job(self.jid)
        self.tx.hincrby(key, "remaining", -1)
        if "grace" in self.fields:
            self.tx.hdel(key, "grace")
