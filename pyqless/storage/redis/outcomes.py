# SPDX-License-Identifier: MIT
"""What can become of an EXEC."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import Any, NamedTuple

from pyqless.core.transaction import Stale
from pyqless.errors import StorageError
from pyqless.storage.redis.steps import LinkLost

__all__ = ["Kind", "Outcome"]


class Kind(Enum):
    """What became of an EXEC."""

    #: everything was carried out
    COMMITTED = auto()
    #: a guarded key had changed; nothing was carried out
    CONFLICT = auto()
    #: the server would not; nothing was carried out
    REFUSED = auto()
    #: the server never had all of it, or is no longer the master; nothing was carried out
    NOT_SENT = auto()
    #: the connection broke before the reply
    UNKNOWN = auto()


class Outcome(NamedTuple):
    """What became of an EXEC, and the replies to what was queued, or why not."""

    kind: Kind
    replies: list[Any]
    fault: StorageError | None = None
    #: the replies to what stood before and behind it in the packet
    before: Sequence[Any] = ()
    after: Sequence[Any] = ()

    def results(self) -> list[Any]:
        """
        The replies of a commit that took place.

        Raises:
            Stale: it met a conflict.
            StorageError: the server refused it.
            LinkLost: the connection broke; there was nothing to be changed, or nothing was.
        """
        if self.kind is Kind.COMMITTED:
            return self.replies
        if self.kind is Kind.CONFLICT:
            raise Stale
        if self.fault is not None:
            raise self.fault
        raise LinkLost("the connection broke", sent=self.kind is Kind.UNKNOWN)
