# SPDX-License-Identifier: MIT
"""What jobs and recurring jobs have in common."""

from __future__ import annotations

from typing import Any, Final, Generic, TypeVar, overload

from pyqless.client import payload
from pyqless.client.caller import Caller
from pyqless.client.fitting import fitted
from pyqless.client.plain import plain_number
from pyqless.core import lua, models
from pyqless.core.fields import Fields, Tags

__all__ = ["UNREAD", "Handle"]

T = TypeVar("T")
C = TypeVar("C", bound=Caller[Any])

#: stands for data that nobody has looked at
UNREAD: Final = object()


class Handle(Generic[C]):
    """
    What jobs and recurring jobs show.

    Every property raises ``CorruptedJob`` where the store holds something that makes no sense.
    """

    __slots__ = ("_data", "_fields", "client")

    def __init__(self, client: C) -> None:
        self.client = client

    def _show(self, seen: models.Job | models.RecurringJob) -> None:
        """Show what was seen, and nothing of before."""
        self._fields = Fields.of(seen.jid, dict(seen.fields))
        self._data: Any = UNREAD

    @property
    def jid(self) -> str:
        """Its id."""
        return self._fields.jid

    @property
    def klass_name(self) -> str:
        """The name of the code that runs it."""
        return self._fields.text("klass")

    @property
    def queue_name(self) -> str:
        """The queue it belongs to; an empty text once it is complete."""
        return self._fields.text("queue")

    @property
    def raw_data(self) -> str:
        """Its data as the store had it: JSON text, as long as its writer kept to that."""
        return self._fields.text("data")

    @property
    def data(self) -> Any:
        """Its data, decoded when it is first looked at."""
        if self._data is UNREAD:
            self._data = payload.decode(self.raw_data, self.jid)
        return self._data

    @overload
    def data_as(self, kind: type[T]) -> T: ...

    @overload  # a union is no type to type checkers
    def data_as(self, kind: Any) -> Any: ...

    def data_as(self, kind: type[T]) -> T:
        """
        Its data as a dataclass, TypedDict, model of pydantic, struct of msgspec, or anything of their parts.

        Raises:
            DataMismatch: the data does not fit; the message names the place, such as ``data['to'][0]``.
        """
        return fitted(self.data, kind)

    @property
    def priority(self) -> float:
        """The greater goes first."""
        return plain_number(self._fields.number("priority"))

    @property
    def retries(self) -> int:
        """How often a run may be tried again in all."""
        return int(self._fields.number("retries"))

    @property
    def tags(self) -> list[str]:
        """Its tags."""
        return [lua.concat(tag) for tag in self._fields.tag_list()]

    def _noted(self, outcome: tuple[T, dict[str, str]]) -> T:
        """Keep how a call left the job, and give what the call gives."""
        value, fields = outcome
        self._note(**fields)
        return value

    def _note(self, **fields: str) -> None:
        self._fields = Fields.of(self.jid, {**self._fields.fields, **fields})

    def _tagged(self, tags: Tags) -> list[str]:
        self._note(tags=lua.encode(tags))
        return self.tags
