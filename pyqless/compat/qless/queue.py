# SPDX-License-Identifier: MIT
"""A queue, and the lists of its jobs."""

from __future__ import annotations

import json
import uuid
import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from pyqless.compat.qless.job import Job
from pyqless.compat.qless.util import class_name

if TYPE_CHECKING:
    from pyqless.compat.qless.client import Client

__all__ = ["Jobs", "Queue"]

#: how often a job is tried again unless given
RETRIES: Final = 5


class Jobs:
    """The jids of a queue's jobs, by state."""

    def __init__(self, name: str, client: Client) -> None:
        self.name = name
        self.client = client

    def running(self, offset: int = 0, count: int = 25) -> Any:
        """List those that run."""
        return self.client("jobs", "running", self.name, offset, count)

    def stalled(self, offset: int = 0, count: int = 25) -> Any:
        """List those whose lock has expired."""
        return self.client("jobs", "stalled", self.name, offset, count)

    def scheduled(self, offset: int = 0, count: int = 25) -> Any:
        """List those that are delayed."""
        return self.client("jobs", "scheduled", self.name, offset, count)

    def depends(self, offset: int = 0, count: int = 25) -> Any:
        """List those that wait for others."""
        return self.client("jobs", "depends", self.name, offset, count)

    def recurring(self, offset: int = 0, count: int = 25) -> Any:
        """List the recurring ones."""
        return self.client("jobs", "recurring", self.name, offset, count)


class Queue:
    """A queue as a client sees it."""

    def __init__(self, name: str, client: Client, worker_name: str) -> None:
        self.name = name
        self.client = client
        self.worker_name = worker_name

    @cached_property
    def jobs(self) -> Jobs:
        """The jids of its jobs, by state."""
        return Jobs(self.name, self.client)

    @property
    def counts(self) -> Any:
        """How many jobs it has in each state, and whether it is paused."""
        return self.client.read("queues", self.name)

    @property
    def heartbeat(self) -> int:
        """For how many seconds a lock holds here, the common setting where the queue has none of its own."""
        settings = self.client.config.all
        return int(settings.get(f"{self.name}-heartbeat", settings.get("heartbeat", 60)))

    @heartbeat.setter
    def heartbeat(self, seconds: float) -> None:
        self.client.config[f"{self.name}-heartbeat"] = seconds

    def class_string(self, klass: str | type) -> str:
        """Name a class as jobs name it."""
        return class_name(klass)

    def pause(self) -> Any:
        """Hand out no more jobs."""
        return self.client("pause", self.name)

    def unpause(self) -> Any:
        """Hand out jobs again."""
        return self.client("unpause", self.name)

    def put(
        self,
        klass: str | type,
        data: Any,
        priority: float | None = None,
        tags: list[str] | None = None,
        delay: float | None = None,
        retries: int | None = None,
        jid: str | None = None,
        depends: list[str] | None = None,
    ) -> Any:
        """Put a job, or what is there under this jid, and give its jid; ``retries=0`` means 5."""
        tries = _retries(retries)
        return self._put("put", klass, data, priority, tags, delay, tries, jid, depends)

    def requeue(
        self,
        klass: str | type,
        data: Any,
        priority: float | None = None,
        tags: list[str] | None = None,
        delay: float | None = None,
        retries: int | None = None,
        jid: str | None = None,
        depends: list[str] | None = None,
    ) -> Any:
        """Put a job that must be there, such as a failed one, and give its jid; ``retries=0`` means 5."""
        tries = _retries(retries)
        return self._put("requeue", klass, data, priority, tags, delay, tries, jid, depends)

    def _put(
        self,
        command: str,
        klass: str | type,
        data: Any,
        priority: float | None,
        tags: list[str] | None,
        delay: float | None,
        retries: int,
        jid: str | None,
        depends: list[str] | None,
    ) -> Any:
        return self.client(
            command,
            self.worker_name,
            self.name,
            jid or uuid.uuid4().hex,
            class_name(klass),
            json.dumps(data),
            delay or 0,
            *_described(priority, tags, retries),
            *("depends", json.dumps(depends or [])),
        )

    def recur(
        self,
        klass: str | type,
        data: Any,
        interval: float,
        offset: float = 0,
        priority: float | None = None,
        tags: list[str] | None = None,
        retries: int | None = None,
        jid: str | None = None,
    ) -> Any:
        """Put a job every so many seconds, and give the jid of that order; ``retries=0`` means 5."""
        return self.client(
            "recur",
            self.name,
            jid or uuid.uuid4().hex,
            class_name(klass),
            json.dumps(data),
            *("interval", interval, offset),
            *_described(priority, tags, _retries(retries)),
        )

    def pop(self, count: int | None = None) -> Any:
        """Take a job, or None; with a count a list of so many at most."""
        return self._taken(count, "pop", self.name, self.worker_name)

    def peek(self, count: int | None = None) -> Any:
        """Look at the next job, or None; with a count at a list of so many at most."""
        return self._taken(count, "peek", self.name)

    def _taken(self, count: int | None, *words: str) -> Any:
        jobs = [Job(self.client, **job) for job in self.client.read(*words, count or 1)]
        if count is None:
            return jobs[0] if jobs else None
        return jobs

    def stats(self, date: float | None = None) -> Any:
        """Give the day's ``wait`` and ``run`` times, and how many jobs have failed and were tried again."""
        moment = date or repr(float(self.client.storage.clock()))
        return self.client.read("stats", self.name, moment)

    def __len__(self) -> int:
        return int(self.client("length", self.name))


def _retries(given: int | None) -> int:
    if given == 0:
        warnings.warn("retries=0 means 5 retries, as it does in qless-py", stacklevel=3)
    return given or RETRIES


def _described(priority: float | None, tags: list[str] | None, retries: int) -> tuple[object, ...]:
    """What a new job and a recurring one have in common, as words."""
    return (
        *("priority", priority or 0),
        *("tags", json.dumps(tags or [])),
        *("retries", retries),
    )
