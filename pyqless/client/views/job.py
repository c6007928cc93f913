# SPDX-License-Identifier: MIT
"""What a job shows."""

from __future__ import annotations

from typing import Any, TypeVar, cast, overload

from pyqless.client import payload
from pyqless.client.caller import Caller
from pyqless.client.fitting import fitted
from pyqless.client.plain import plain
from pyqless.client.references import AnyJob
from pyqless.client.views.handle import UNREAD, Handle
from pyqless.client.views.values import Failure, HistoryEntry, JobState
from pyqless.core import lua, models

__all__ = ["JobView"]

T = TypeVar("T")
C = TypeVar("C", bound=Caller[Any])


class JobView(Handle[C], AnyJob):
    """
    A job as it was last seen.

    Its own calls keep state, queue, lock, retries, priority and tags current;
    the rest, and what others do, shows after ``refresh``.
    """

    __slots__ = ("_acting_worker", "_seen", "_tracked")

    def __init__(self, client: C, seen: models.Job, acting_worker: str | None = None) -> None:
        super().__init__(client)
        self._acting_worker = acting_worker
        self._see(seen)

    def _see(self, seen: models.Job) -> None:
        self._show(seen)
        self._seen = seen
        self._tracked = seen.tracked

    def __repr__(self) -> str:
        fields = self._fields.fields
        place = f"{fields.get('klass')}, {fields.get('state')} in {fields.get('queue')!r}"
        return f"<{type(self).__name__} {self.jid}: {place}>"

    @property
    def acting_worker(self) -> str:
        """In whose name it calls: the worker that popped it, also after a fork; else the client's."""
        return self._acting_worker or self.client.worker_name

    @property
    def data(self) -> Any:
        """
        Its data, decoded when it is first looked at.

        What is changed in it or assigned to it goes to the store with ``complete``, ``fail``,
        ``heartbeat`` and ``requeue``.
        """
        return super().data

    @data.setter
    def data(self, data: Any) -> None:
        self._data = data

    @property
    def state(self) -> JobState:
        """``waiting``, ``running``, ``stalled``, ``scheduled``, ``depends``, ``failed`` or ``complete``."""
        return cast("JobState", self._fields.text("state"))

    @property
    def worker_name(self) -> str:
        """The worker that has it in hand; of a job that is not running, an empty text or the last one."""
        return self._fields.fields.get("worker", "")

    @property
    def expires_at(self) -> float:
        """Unix time at which its lock expires, seconds; 0 without a lock."""
        return lua.to_number(self._fields.fields.get("expires")) or 0.0

    @property
    def ttl(self) -> float:
        """For how many seconds the lock still holds; below 0 once it has expired, and without one."""
        return self.expires_at - float(self.client.storage.clock())

    @property
    def remaining(self) -> int:
        """How often it may still be tried again; below 0 once it has failed for want of retries."""
        return int(lua.floor(self._fields.number("remaining")))

    @property
    def tracked(self) -> bool:
        """Whether its events are published."""
        return self._tracked

    @property
    def spawned_from_jid(self) -> str | None:
        """The recurring job that made it."""
        return self._fields.fields.get("spawned_from_jid")

    @property
    def dependents(self) -> list[str]:
        """The jids that wait for it, sorted."""
        return self._seen.dependents

    @property
    def dependencies(self) -> list[str]:
        """The jids that it waits for, sorted."""
        return self._seen.dependencies

    @property
    def failure(self) -> Failure | None:
        """How it failed last; None if it has not, or has come through since."""
        found = self._fields.json("failure", "{}")
        if not isinstance(found, dict) or "group" not in found:
            return None
        group, message, worker = self._fields.members("failure", "group", "message", "worker")
        when = found.get("when", 0.0)
        if not isinstance(when, float):
            raise self._fields.corrupted("failure")
        return Failure(group, message, when, worker)

    @property
    def result(self) -> Any:
        """What its code has returned, where its worker keeps results; None if it has not, or runs anew."""
        for entry in reversed(self.history):
            if entry.get("what") == "result":
                return entry.get("value")
            if entry.get("what") in ("popped", "put"):
                break
        return None

    @overload
    def result_as(self, kind: type[T]) -> T: ...

    @overload  # a union is no type to type checkers
    def result_as(self, kind: Any) -> Any: ...

    def result_as(self, kind: type[T]) -> T:
        """
        Its result as a dataclass, TypedDict, model of pydantic, struct of msgspec, or anything of their parts.

        Raises:
            DataMismatch: the result does not fit, None for want of one included.
        """
        return fitted(self.result, kind, "result")

    @property
    def history(self) -> list[HistoryEntry]:
        """
        What has happened to it, the oldest first.

        Each entry has ``when`` (Unix time, seconds) and ``what``; with ``put`` goes the queue as ``q``,
        with ``popped`` the ``worker``, with ``failed`` the ``group``, with those of ``log`` its data.
        """
        return [HistoryEntry(plain(entry)) for entry in self._seen.history]

    def _prioritized(self, priority: float) -> None:
        self._note(priority=lua.argument(priority))

    def _marked(self, changed: int, *, tracked: bool) -> bool:
        self._tracked = tracked
        return bool(changed)

    def encoded_data(self) -> str:
        """The JSON text of its data as it is now; what nobody has changed stays as it was written."""
        changed = self.changed_data()
        return self.raw_data if changed is None else changed

    def changed_data(self) -> str | None:
        """
        The JSON text of its data if that was changed here, else None.

        Raises:
            InvalidArgument: JSON cannot say it.
            DataTooLarge: it has become too large.
        """
        if self._data is UNREAD or payload.is_unchanged(self._data, self.raw_data):
            return None
        return self.client.encoded(self._data)
