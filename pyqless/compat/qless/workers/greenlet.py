# SPDX-License-Identifier: MIT
"""Many jobs at once, each in a greenlet of gevent; the program monkey-patches what they wait in."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pyqless.compat.qless.client import Client
from pyqless.compat.qless.job import Job
from pyqless.compat.qless.logs import logger
from pyqless.compat.qless.queue import Queue
from pyqless.compat.qless.workers import Worker

__all__ = ["GeventWorker"]


class GeventWorker(Worker):
    """
    Runs jobs in a pool of greenlets; as for ``Worker``.

    Args:
        kwargs: ``greenlets``: how many at once, 10 unless given; ``sandbox``: what their directories lie in.

    Attributes:
        greenlets: those at work, by the jid of their job.

    Raises:
        ImportError: gevent is not installed.
    """

    def __init__(self, queues: Iterable[str | Queue], client: Client, **kwargs: Any) -> None:
        super().__init__(queues, client, **kwargs)
        count = kwargs.pop("greenlets", 10)
        root: str = kwargs.pop("sandbox", str(Path.cwd() / "qless-py-workers"))
        self.sandbox = root  # type: ignore[assignment, method-assign] # qless-py has one name for both
        self.sandboxes = [str(Path(root, f"greenlet-{index}")) for index in range(count)]
        self.greenlets: dict[str, Any] = {}
        self._gevent = _gevent()
        self.pool = self._gevent.pool.Pool(count)

    def run(self) -> None:
        """Work until told to stop, and wait for the jobs in hand."""
        self.signals()
        with self.listener():
            try:
                for job in self.jobs():
                    self._begin(job)
                    self.pool.wait_available()
                    if self.shutdown:
                        break
            finally:
                logger.info("Waiting for greenlets to finish")
                self.pool.join()

    def _begin(self, job: Job | None) -> None:
        if job is None:
            logger.debug("Sleeping for %fs", self.interval)
            self._gevent.sleep(self.interval)
            return
        greenlet = self._gevent.Greenlet(self.process, job)
        self.greenlets[job.jid] = greenlet
        self.pool.start(greenlet)

    def process(self, job: Job) -> None:
        """Run a job in a directory of its own."""
        sandbox = self.sandboxes.pop(0)
        try:
            with Worker.sandbox(sandbox):
                job.sandbox = sandbox
                job.process()
        finally:
            self.greenlets.pop(job.jid, None)
            self.sandboxes.append(sandbox)

    def kill(self, jid: str) -> None:
        """End the greenlet that runs a job, if any does."""
        if (greenlet := self.greenlets.get(jid)) is not None:
            logger.warning("Lost ownership of %s", jid)
            greenlet.kill()


def _gevent() -> Any:
    try:
        import gevent.pool  # noqa: PLC0415 - optional
    except ImportError as error:
        raise ImportError(
            "GeventWorker needs gevent, which is not installed", name="gevent"
        ) from error
    return gevent
