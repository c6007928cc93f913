# SPDX-License-Identifier: MIT
"""What a recurring job shows."""

from __future__ import annotations

from typing import Any, TypeVar

from pyqless.client.caller import Caller
from pyqless.client.plain import plain_number
from pyqless.client.views.handle import Handle
from pyqless.core import models

__all__ = ["RecurringJobView"]

C = TypeVar("C", bound=Caller[Any])


class RecurringJobView(Handle[C]):
    """A recurring job as it was last seen; its own calls keep its settings current."""

    __slots__ = ()

    def __init__(self, client: C, seen: models.RecurringJob) -> None:
        super().__init__(client)
        self._show(seen)

    def __repr__(self) -> str:
        fields = self._fields.fields
        place = f"{fields.get('klass')} every {fields.get('interval')} s in {fields.get('queue')!r}"
        return f"<{type(self).__name__} {self.jid}: {place}>"

    @property
    def interval(self) -> float:
        """Seconds from one run to the next."""
        return plain_number(self._fields.number("interval"))

    @property
    def count(self) -> int:
        """How many jobs it has made; the last one's jid ends in this number."""
        return self._fields.whole("count")

    @property
    def last_spawned_jid(self) -> str | None:
        """The jid of the last job that it has made; None if it has made none."""
        return f"{self.jid}-{self.count}" if self.count else None

    @property
    def backlog(self) -> int:
        """How many overdue runs are caught up at most, the last ones; 0: all."""
        return int(self._fields.number("backlog", 0.0))
