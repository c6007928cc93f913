# SPDX-License-Identifier: MIT
"""Jobs and recurring jobs as they were last seen; assigning to some of their attributes tells the store."""

from __future__ import annotations

import json
import os
import time
from functools import cached_property, partial
from importlib import reload
from typing import TYPE_CHECKING, Any, ClassVar

from pyqless.compat.qless.exceptions import LostLockException, QlessException, translated
from pyqless.compat.qless.logs import logger
from pyqless.compat.qless.processing import process
from pyqless.compat.qless.util import class_name, module_of
from pyqless.core import looking

if TYPE_CHECKING:
    from pyqless.compat.qless.client import Client
    from pyqless.compat.qless.queue import Queue

__all__ = ["BaseJob", "Job", "RecurringJob"]


class BaseJob:
    """What both kinds have; ``kwargs`` are the members of the core's JSON."""

    #: Unix time of the last load of each class's module, seconds
    _loaded: ClassVar[dict[str, float]] = {}

    client: Client
    jid: str
    priority: float
    klass_name: str
    queue_name: str
    tags: list[str]
    data: Any

    def __init__(self, client: Client, **kwargs: Any) -> None:
        self._show(
            client=client,
            jid=kwargs["jid"],
            priority=kwargs["priority"],
            klass_name=kwargs["klass"],
            queue_name=kwargs["queue"],
            tags=kwargs["tags"] or [],
            data=json.loads(kwargs["data"]),
        )

    def _show(self, **attributes: Any) -> None:
        """Set attributes without telling the store."""
        vars(self).update(attributes)

    def __setattr__(self, name: str, value: Any) -> None:
        self._tell(name, value)
        super().__setattr__(name, value)

    def _tell(self, name: str, value: Any) -> None:
        """Tell the store what is assigned, if that is its business."""
        if name == "priority":
            self.client("priority", self.jid, value)

    @cached_property
    def queue(self) -> Queue:
        """Its queue."""
        return self.client.queues[self.queue_name]

    @cached_property
    def klass(self) -> Any:
        """Its class, imported when it is first looked at, and anew if its file has changed since."""
        return self._import(self.klass_name)

    @staticmethod
    def reload(klass: str) -> None:
        """Load a class's module anew when a job next asks for it."""
        BaseJob._loaded[klass] = 0

    @staticmethod
    def _import(klass: str) -> Any:
        module = module_of(klass)
        loaded = BaseJob._loaded.setdefault(klass, time.time())
        file = getattr(module, "__file__", None)  # a program that was typed in has none
        try:
            if file is not None and loaded < os.stat(file).st_mtime:  # noqa: PTH116 - tests of qless-py's users patch it
                module = reload(module)
        except OSError:
            logger.warning("Could not check modification time of %s", file)
        return getattr(module, klass.rpartition(".")[2])

    def cancel(self) -> Any:
        """Delete the job."""
        return self.client("cancel", self.jid)

    def tag(self, *tags: str) -> Any:
        """Add tags."""
        return self.client("tag", "add", self.jid, *tags)

    def untag(self, *tags: str) -> Any:
        """Remove tags."""
        return self.client("tag", "remove", self.jid, *tags)


class Job(BaseJob):
    """
    A job.

    Attributes:
        sandbox: a directory of its own, while a worker runs it.
    """

    state: str
    tracked: bool
    failure: dict[str, Any]
    history: list[dict[str, Any]]
    dependents: list[str]
    dependencies: list[str]
    expires_at: float
    original_retries: int
    retries_left: int
    worker_name: str
    sandbox: str

    #: whether its own code has taken it from its worker, which is to let that code go on; not in qless-py
    was_given_up = False

    def __init__(self, client: Client, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        self._show(
            **{name: kwargs[name] for name in ("state", "tracked", "failure", "history")},
            dependents=kwargs["dependents"] or [],
            dependencies=kwargs["dependencies"] or [],
            expires_at=kwargs["expires"],
            original_retries=kwargs["retries"],
            retries_left=kwargs["remaining"],
            worker_name=kwargs["worker"],
        )

    @property
    def ttl(self) -> float:
        """For how many seconds its lock still holds."""
        return self.expires_at - float(self.client.storage.clock())

    def __getitem__(self, key: str) -> Any:
        return self.data.get(key)

    def __setitem__(self, key: str, value: Any) -> None:
        self.data[key] = value

    def __repr__(self) -> str:
        return f"<{self.klass_name} {self.jid}>"

    def process(self) -> None:
        """Run it: the method of its class that is named like its queue, else ``process``; what is raised fails it."""
        process(self)

    def move(self, queue: str, delay: float = 0, depends: list[str] | None = None) -> Any:
        """Put it into another queue, whatever it does at the moment, and give its jid."""
        logger.info("Moving %s to %s from %s", self.jid, queue, self.queue_name)
        return self.client(
            "put",
            self.worker_name,
            queue,
            self.jid,
            self.klass_name,
            json.dumps(self.data),
            delay,
            *("depends", json.dumps(depends or [])),
        )

    def complete(
        self, nextq: str | None = None, delay: float | None = None, depends: list[str] | None = None
    ) -> Any:
        """Complete it, or let it go on in another queue, and give the state that it is in then."""
        words = ["complete", self.jid, self.client.worker_name, self.queue_name]
        words.append(json.dumps(self.data))
        if not nextq:
            logger.info("Completing %s", self.jid)
            return self.client(*words) or False
        logger.info("Advancing %s to %s from %s", self.jid, nextq, self.queue_name)
        onward = ("next", nextq, "delay", delay or 0, "depends", json.dumps(depends or []))
        return self.client(*words, *onward) or False

    def heartbeat(self) -> float:
        """
        Renew its lock, keep its data, and give the moment at which the lock expires, Unix time in seconds.

        Raises:
            LostLockException: the lock is not this worker's any more.
        """
        logger.debug("Heartbeating %s (ttl = %s)", self.jid, self.ttl)
        words = ("heartbeat", self.jid, self.client.worker_name, json.dumps(self.data))
        try:
            self.expires_at = float(self.client(*words) or 0)
        except QlessException as error:
            raise LostLockException(self.jid) from error
        logger.debug("Heartbeated %s (ttl = %s)", self.jid, self.ttl)
        return self.expires_at

    def fail(self, group: str, message: str) -> Any:
        """Let it fail, to be looked at by people, and give its jid."""
        logger.warning("Failing %s (%s): %s", self.jid, group, message)
        words = ("fail", self.jid, self.client.worker_name, group, message)
        return self.client(*words, json.dumps(self.data)) or False

    def track(self) -> Any:
        """Have its events published."""
        return self.client.track(self.jid)

    def untrack(self) -> Any:
        """Have its events published no longer."""
        return self.client.untrack(self.jid)

    def retry(self, delay: float = 0, group: str | None = None, message: str | None = None) -> Any:
        """Give it back to its queue, and give how many retries are left."""
        reason = () if group is None or message is None else (group, message)
        return self.client("retry", self.jid, self.queue_name, self.worker_name, delay, *reason)

    def depend(self, *args: str) -> Any:
        """Let it wait for more jobs; it must wait for some already."""
        return self.client("depends", self.jid, "on", *args) or False

    def undepend(self, *args: str, **kwargs: Any) -> Any:
        """Let it wait for some jobs no longer, or for none with ``all=True``."""
        jids = ("all",) if kwargs.get("all") else args
        return self.client("depends", self.jid, "off", *jids) or False

    def timeout(self) -> None:
        """Take it from the worker that has it."""
        self.was_given_up = True
        self.client("timeout", self.jid)

    def cancel(self) -> Any:
        """Delete the job."""
        self.was_given_up = True
        return super().cancel()


class RecurringJob(BaseJob):
    """A job that is put every so many seconds."""

    retries: int
    interval: float
    count: int

    def __init__(self, client: Client, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        self._show(**{name: kwargs[name] for name in ("retries", "interval", "count")})

    def _tell(self, name: str, value: Any) -> None:
        match name:
            case "priority" | "retries" | "interval":
                self._update(name, value)
            case "data":
                self._update(name, json.dumps(value))
            case "klass":
                self._update(name, class_name(value))
                self.klass_name = class_name(value)

    def _update(self, name: str, value: Any) -> Any:
        return self.client("recur.update", self.jid, name, value)

    @property
    def next(self) -> float | None:
        """When it is put next, Unix time in seconds."""
        with translated():
            return self.client.storage.run(partial(looking.next_run, jid=self.jid))

    def move(self, queue: str) -> Any:
        """Put its jobs into another queue from now on."""
        return self._update("queue", queue)

    def cancel(self) -> None:
        """Put no more of its jobs."""
        self.client("unrecur", self.jid)

    def tag(self, *tags: str) -> Any:
        """Add tags for the jobs to come."""
        return self.client("recur.tag", self.jid, *tags)

    def untag(self, *tags: str) -> Any:
        """Remove tags from the jobs to come."""
        return self.client("recur.untag", self.jid, *tags)
