# SPDX-License-Identifier: MIT
"""What handles show without asking the store; the handles of both clients build on it."""

from __future__ import annotations

from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from pyqless.client import payload
from pyqless.client.caller import Caller
from pyqless.client.fitting import fitted
from pyqless.client.plain import plain, plain_number
from pyqless.core import limits, lua, models
from pyqless.core.fields import Fields, Tags

__all__ = [
    "Failure",
    "JobPage",
    "JobView",
    "NamedQueue",
    "QueueView",
    "RecurringJobView",
    "TrackedJobs",
]

T = TypeVar("T")
C = TypeVar("C", bound=Caller[Any])
J = TypeVar("J")

_UNREAD: Final = object()


class Failure(NamedTuple):
    """How a job failed last."""

    #: the kind of failure, under which failed jobs are found
    group: str
    message: str
    #: Unix time, seconds
    when: float
    #: the worker that had the job, or an empty text
    worker: str


class JobPage(NamedTuple, Generic[J]):
    """A page of a longer list of jobs."""

    #: how many jobs the whole list has
    total: int
    jobs: list[J]


class TrackedJobs(NamedTuple, Generic[J]):
    """All that is tracked."""

    jobs: list[J]
    #: jids whose jobs are there no more
    expired: list[str]


class NamedQueue(Protocol):
    """What requests have to know of a queue."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def client(self) -> Any:
        """Who asks."""


class QueueView(Generic[C]):
    """
    A queue's name, and who asks.

    Attributes:
        name: of the queue.
    """

    def __init__(self, client: C, name: str) -> None:
        self.client = client
        self.name = name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    @property
    def heartbeat_setting(self) -> str:
        """The setting that says for how many seconds a lock holds here."""
        return f"{self.name}-heartbeat"

    @property
    def max_concurrency_setting(self) -> str:
        """The setting that says how many jobs may run here at once."""
        return f"{self.name}-max-concurrency"

    @property
    def max_waiting_setting(self) -> str:
        """The setting that says how many jobs may wait here."""
        return limits.setting_of(self.name)


class _Handle(Generic[C]):
    """
    What jobs and recurring jobs show.

    Every property raises ``CorruptedJob`` where the store holds something that makes no sense.
    """

    def __init__(self, client: C) -> None:
        self.client = client

    def _show(self, seen: models.Job | models.RecurringJob) -> None:
        """Show what was seen, and nothing of before."""
        self._fields = Fields.of(seen.jid, dict(seen.fields))
        self._data: Any = _UNREAD

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
        if self._data is _UNREAD:
            self._data = payload.decode(self.raw_data, self.jid)
        return self._data

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


class JobView(_Handle[C]):
    """
    A job as it was last seen.

    Its own calls keep state, queue, lock, retries, priority and tags current;
    the rest, and what others do, shows after ``refresh``.
    """

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
    def state(self) -> str:
        """``waiting``, ``running``, ``stalled``, ``scheduled``, ``depends``, ``failed`` or ``complete``."""
        return self._fields.text("state")

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
    def history(self) -> list[dict[str, Any]]:
        """
        What has happened to it, the oldest first.

        Each entry has ``when`` (Unix time, seconds) and ``what``; with ``put`` goes the queue as ``q``,
        with ``popped`` the ``worker``, with ``failed`` the ``group``, with those of ``log`` its data.
        """
        return [plain(entry) for entry in self._seen.history]

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
        if self._data is _UNREAD or payload.is_unchanged(self._data, self.raw_data):
            return None
        return self.client.encoded(self._data)


class RecurringJobView(_Handle[C]):
    """A recurring job as it was last seen; its own calls keep its settings current."""

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
        """How many overdue runs are caught up; 0: all."""
        return int(self._fields.number("backlog", 0.0))
