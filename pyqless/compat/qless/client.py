# SPDX-License-Identifier: MIT
"""The client, and what hangs on it."""

from __future__ import annotations

import json
import socket
from functools import cached_property
from typing import Any, Final

import redis

from pyqless.compat.qless.config import Config
from pyqless.compat.qless.exceptions import QlessException, translated
from pyqless.compat.qless.job import Job, RecurringJob
from pyqless.compat.qless.listener import Events
from pyqless.compat.qless.queue import Queue
from pyqless.core.commands import call
from pyqless.core.replies import Reply
from pyqless.storage import open_storage
from pyqless.storage.queries import without_options

__all__ = ["Client", "Jobs", "Queues", "Workers"]

#: What redis-py did when qless-py was written: wait for as long as it takes, and give the replies of protocol 2.
_AS_IT_WAS: Final[dict[str, Any]] = {"socket_timeout": None, "protocol": 2}


class Jobs:
    """The jobs, by jid, and the lists of them that no queue keeps."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def complete(self, offset: int = 0, count: int = 25) -> Any:
        """List the jids of completed jobs, the last one at the head."""
        return self.client("jobs", "complete", offset, count)

    def tracked(self) -> Any:
        """Give the tracked ``jobs``, and the jids of those that are there no more as ``expired``."""
        results = self.client.read("track")
        results["jobs"] = [Job(self.client, **job) for job in results["jobs"]]
        return results

    def tagged(self, tag: str, offset: int = 0, count: int = 25) -> Any:
        """Give how many jobs bear a tag in all as ``total``, and a page of their jids as ``jobs``."""
        return self.client.read("tag", "get", tag, offset, count)

    def failed(self, group: str | None = None, start: int = 0, limit: int = 25) -> Any:
        """Count the failed jobs of each group; with a group give its ``total`` and a page of its ``jobs``."""
        if not group:
            return self.client.read("failed")
        results = self.client.read("failed", group, start, limit)
        results["jobs"] = self.get(*results["jobs"])
        return results

    def get(self, *jids: str) -> list[Job]:
        """Look jobs up; those that are not there are left out."""
        if not jids:
            return []
        return [Job(self.client, **job) for job in self.client.read("multiget", *jids)]

    def __getitem__(self, jid: str) -> Job | RecurringJob | None:
        if job := self.client("get", jid):
            return Job(self.client, **json.loads(job))
        if recurring := self.client("recur.get", jid):
            return RecurringJob(self.client, **json.loads(recurring))
        return None


class Workers:
    """The workers; ``workers[name]`` gives the jids that one has in hand."""

    def __init__(self, clnt: Client) -> None:
        self.client = clnt

    @property
    def counts(self) -> Any:
        """How many jobs each worker has."""
        return self.client.read("workers")

    def __getitem__(self, worker_name: str) -> dict[str, Any]:
        found = self.client.read("workers", worker_name)
        return {name: jids or [] for name, jids in found.items()}


class Queues:
    """The queues; ``queues[name]`` is one of them."""

    def __init__(self, clnt: Client) -> None:
        self.client = clnt

    @property
    def counts(self) -> Any:
        """How many jobs each queue has in each state."""
        return self.client.read("queues")

    def __getitem__(self, queue_name: str) -> Queue:
        return Queue(queue_name, self.client, self.client.worker_name)


class Client:
    """
    A client with the face of qless-py's.

    Args:
        url: of a Redis; any other storage of pyqless will do, too.
        hostname: the worker's name; the host's unless given, for all processes on it.
        kwargs: options of redis-py's connections.

    Attributes:
        worker_name: in whose name jobs are popped, may be changed.
        storage: what runs the rules; not in qless-py.
    """

    def __init__(
        self, url: str = "redis://localhost:6379", hostname: str | None = None, **kwargs: Any
    ) -> None:
        self.worker_name = hostname or socket.gethostname()
        self._url = url
        self._options = {name: kwargs[name] for name in kwargs if name != "decode_responses"}
        self.storage = open_storage(url, **self._options)
        self.jobs = Jobs(self)
        self.queues = Queues(self)
        self.config = Config(self)
        self.workers = Workers(self)

    @cached_property
    def redis(self) -> redis.Redis:
        """A client of redis-py, which gives texts; ``ValueError`` where the URL is of no Redis."""
        options = {**_AS_IT_WAS, **self._options, "decode_responses": True}
        url, _ = without_options(self._url)
        return redis.Redis.from_url(url, **options)

    @cached_property
    def events(self) -> Events:
        """What happens to tracked jobs."""
        return Events(self.storage)

    def __call__(self, command: str, *args: Any) -> Any:
        """
        Send a command as it goes over the wire.

        Args:
            command: its name, such as ``put``.
            args: texts and numbers.

        Returns:
            what the core replies: text, an integer, None or a list; JSON as text.

        Raises:
            QlessException: it could not be carried out.
            redis.ConnectionError: the store does not answer.
        """
        words = [command, repr(float(self.storage.clock())), *map(_word, args)]
        with translated():
            wanted = call(words)
            reply: Reply = wanted.render(self.storage.run(wanted.transition, wanted.now))
        return reply

    def read(self, command: str, *args: Any) -> Any:
        """Send a command that replies in JSON, and read that; not in qless-py."""
        return json.loads(self(command, *args))

    def track(self, jid: str) -> Any:
        """Have a job's events published."""
        return self("track", "track", jid)

    def untrack(self, jid: str) -> Any:
        """Have a job's events published no longer."""
        return self("track", "untrack", jid)

    def tags(self, offset: int = 0, count: int = 100) -> Any:
        """List the most frequent tags."""
        return self.read("tag", "top", offset, count)

    def unfail(self, group: str, queue: str, count: int = 500) -> Any:
        """Put failed jobs of a group into a queue, and tell how many."""
        return self("unfail", queue, group, count)

    def close(self) -> None:
        """Let go of all connections; not in qless-py, which leaves that to the end of the process."""
        self.storage.close()
        if "redis" in vars(self):
            self.redis.close()


def _word(value: object) -> str:
    """An argument as it goes over the wire."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        text = f"commands take texts and numbers, not {value!r}"
        raise QlessException(text, argument="args", value=value)
    return repr(value)
