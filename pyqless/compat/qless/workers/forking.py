# SPDX-License-Identifier: MIT
"""A worker with child processes, each with a worker of its own."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterable, Sequence
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from types import FrameType
from typing import Any, Final

from pyqless.compat.qless.client import Client
from pyqless.compat.qless.job import Job
from pyqless.compat.qless.logs import logger
from pyqless.compat.qless.queue import Queue
from pyqless.compat.qless.util import import_class
from pyqless.compat.qless.workers import Worker
from pyqless.compat.qless.workers.serial import SerialWorker
from pyqless.errors import InvalidArgument
from pyqless.worker.forking import GROWN_UP
from pyqless.worker.waiting import Backoff

__all__ = ["NUM_CPUS", "ForkingWorker"]

NUM_CPUS: Final = multiprocessing.cpu_count()

_FORK: Final = multiprocessing.get_context("fork")

#: what is passed on to the children
_ORDERS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)


class ForkingWorker(Worker):
    """
    Keeps children at work; as for ``Worker``, and all that is not meant for it goes to the workers of the children.

    Args:
        kwargs: ``workers``: how many children, as many as there are cores unless given; ``klass``: the class of their
            workers, or its dotted name.

    Attributes:
        sandboxes: the directory of each child, by its process id.
    """

    def __init__(self, queues: Iterable[str | Queue], client: Client, **kwargs: Any) -> None:
        super().__init__(queues, client, **kwargs)
        if client.storage.url.startswith(("memory:", "fakeredis:")):
            text = f"children cannot share {client.storage.url}, which lies in one process"
            raise InvalidArgument(text, argument="client", value=client.storage.url)
        self.klass = self.kwargs.pop("klass", SerialWorker)
        self.count = self.kwargs.pop("workers", 0) or NUM_CPUS
        self.sandboxes: dict[int, str] = {}
        self._children: dict[int, ForkProcess] = {}

    def spawn(self, **kwargs: Any) -> Any:
        """Make the worker of a child."""
        if isinstance(self.klass, str):
            self.klass = import_class(self.klass)
        return self.klass(self.queues, self.client, **{**self.kwargs, **kwargs})

    def run(self) -> None:
        """Replace children that end, until told to stop; ``shutdown`` is looked at whenever one has ended."""
        self.signals([order.name.removeprefix("SIG") for order in _ORDERS])
        for index, resume in enumerate(self.divide(self.resume, self.count)):
            self._begin(str(Path.cwd() / "qless-py-workers" / f"sandbox-{index}"), resume)
        began, backoff = time.monotonic(), Backoff()
        try:
            while not self.shutdown:
                wait([child.sentinel for child in self._children.values()])
                if time.monotonic() - began > GROWN_UP:
                    backoff.reset()
                for sandbox in self._buried():
                    if not self.shutdown:
                        time.sleep(backoff.next())
                        began = time.monotonic()
                        self._begin(sandbox, ())
        finally:
            self.stop(signal.SIGKILL)

    def stop(self, sig: int = signal.SIGINT) -> None:
        """Send all children a signal, and wait for their ends."""
        self.shutdown = True
        for pid, child in list(self._children.items()):
            if child.is_alive():
                logger.warning("Stopping %i...", pid)
                os.kill(pid, sig)
        for pid, child in list(self._children.items()):
            child.join()
            logger.warning("%i stopped with status %s", pid, child.exitcode)
            self._forget(pid)

    def handler(self, signum: int, _frame: FrameType | None) -> None:
        """Pass a signal on to the children, and end with them."""
        self.stop(signum)
        sys.exit(0)

    # -- children -----------------------------------------------------------------------------

    def _begin(self, sandbox: str, resume: Sequence[Job]) -> None:
        child = _FORK.Process(target=self._live, args=(sandbox, resume))
        # a signal must find the child both in our books and without our handlers
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _ORDERS)
        try:
            child.start()
            pid = child.pid or 0
            self._children[pid], self.sandboxes[pid] = child, sandbox
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        logger.info("Spawned worker %i", pid)

    def _live(self, sandbox: str, resume: Sequence[Job]) -> None:
        """The life of a child."""
        for number in _ORDERS:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ORDERS)
        with Worker.sandbox(sandbox):
            os.chdir(sandbox)
            try:
                self.spawn(resume=resume, sandbox=sandbox).run()
            except Exception:  # noqa: BLE001 - nobody else would tell of it
                logger.exception("Exception in spawned worker")

    def _buried(self) -> list[str]:
        """Forget the children that have ended, and give their directories."""
        ended = [pid for pid, child in self._children.items() if not child.is_alive()]
        for pid in ended:
            logger.warning("Worker %i died with status %s", pid, self._children[pid].exitcode)
        return [self._forget(pid) for pid in ended]

    def _forget(self, pid: int) -> str:
        self._children.pop(pid).close()
        return self.sandboxes.pop(pid)
