# SPDX-License-Identifier: MIT
"""The client that blocks."""

from __future__ import annotations

import time
from typing import Any, Literal, Self

from pyqless.client import checks
from pyqless.client.caller import MAX_DATA_SIZE, Caller, where
from pyqless.client.checks import Span
from pyqless.client.entering import EnteredBlocking
from pyqless.client.events import Source, channels
from pyqless.client.read_only import ReadOnlyStorage
from pyqless.client.simplifying import Encoder
from pyqless.client.sync.config import Config
from pyqless.client.sync.consuming import Consumer
from pyqless.client.sync.events import Events
from pyqless.client.sync.jobs import Jobs
from pyqless.client.sync.queues import Queues
from pyqless.client.sync.recurring import RecurringJobs
from pyqless.client.sync.tags import Tags
from pyqless.client.sync.workers import Workers
from pyqless.storage import Storage, open_storage
from pyqless.storage.described import Clock

__all__ = ["Client"]


class Client(EnteredBlocking, Caller[Storage]):
    """
    All of qless, on one storage. Threads may share a client, and a forked child may go on using it.

    Args:
        url: of the storage, such as ``redis://host:6379/0`` or ``memory://``, see ``open_storage``;
            that of the variable ``PYQLESS_URL`` or ``REDIS_URL``, or else a file in the user's state directory,
            if neither this nor ``connection`` is given.
        connection: instead of a URL, a client, connection pool or Sentinel master of redis-py.
        worker_name: the name under which jobs are popped; ``HOST-PID`` unless given.
        namespace: what stands before the first colon of every key; Lua clients know ``ql`` only.
        clock: gives the moment of each call, Unix time in seconds; ``store`` for the store's own clock.
        max_data_size: how long the JSON text of a job's data may be, and an entry of its history, bytes; 1 MiB unless given.
        encoder: makes something that JSON can say of a value that it cannot say, such as bytes, and raises ``TypeError``
            for values that it does not know. Without one, dates and times, UUIDs, decimal numbers and paths become text,
            spans of time seconds, and sets lists.
        read_only: change nothing: views leave as it is what they would put in order, and all else raises
            ``ReadOnlyClient``. For dashboards, replicas, and users without the right to write.
        options: of the storage.

    Attributes:
        storage: what runs the rules; ``storage.metrics`` counts its attempts and conflicts.

    Raises:
        InvalidArgument: one of them is no good.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        connection: Any = None,
        worker_name: str | None = None,
        namespace: str = "ql",
        clock: Clock | Literal["store"] = time.time,
        max_data_size: int = MAX_DATA_SIZE,
        encoder: Encoder | None = None,
        read_only: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(worker_name, max_data_size, encoder)
        storage = open_storage(
            where(url, connection),
            connection=connection,
            namespace=checks.name("namespace", namespace),
            clock=checks.clock("clock", clock),
            **options,
        )
        only_looks = checks.flag("read_only", read_only)
        self.storage = ReadOnlyStorage(storage) if only_looks else storage

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def queues(self) -> Queues:
        """The queues, by name."""
        return Queues(self)

    @property
    def jobs(self) -> Jobs:
        """The jobs, by jid, and the lists of them that no queue keeps."""
        return Jobs(self)

    @property
    def recurring(self) -> RecurringJobs:
        """The recurring jobs, by jid."""
        return RecurringJobs(self)

    @property
    def workers(self) -> Workers:
        """The workers, by name."""
        return Workers(self)

    @property
    def tags(self) -> Tags:
        """The tags that jobs bear."""
        return Tags(self)

    @property
    def config(self) -> Config:
        """The settings, which all clients of the storage share."""
        return Config(self)

    def consumer(self, *queues: str, interval: Span | None = None) -> Consumer:
        """
        Take jobs from some queues, one after another, and wait for them.

        Args:
            queues: their names; jobs of the first go first.
            interval: seconds, or a timedelta, after which a queue is looked at again though nothing was heard of it; it must be
                long enough for the store, and short enough for what other clients do in silence: 5 seconds
                for each queue unless given. Idle, that costs less than one command a second.

        Returns:
            Consumer: to be closed.

        Raises:
            InvalidArgument: a name or the interval is no good.
        """
        return Consumer(self, queues, interval)

    def events(self, *sources: Source, worker: str | None = None) -> Events:
        """
        Listen to what happens, from now on.

        Args:
            sources: ``tracked``: what happens to tracked jobs; ``log``: most of what happens to any
                job, and changes of settings; ``worker``: what a worker has to know about its jobs.
                All of them unless any is named.
            worker: whose; this client's unless given.

        Returns:
            Events: to be iterated over, and closed.

        Raises:
            InvalidArgument: there is no such source, or the worker's name is no good.
        """
        name = self.worker_name if worker is None else worker
        return Events(self.storage, channels(self.storage.keys, sources, name))

    def close(self) -> None:
        """Let go of the storage's connections; the client and its handles are of no use afterwards."""
        self.storage.close()
