# SPDX-License-Identifier: MIT
"""One job after another."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from pyqless.compat.qless.client import Client
from pyqless.compat.qless.job import Job
from pyqless.compat.qless.logs import logger
from pyqless.compat.qless.queue import Queue
from pyqless.compat.qless.workers import Worker
from pyqless.worker.signals import NUDGE
from pyqless.worker.waiting import SLICE

__all__ = ["SerialWorker"]


class SerialWorker(Worker):
    """
    Runs jobs one after another; as for ``Worker``, and ``sandbox`` is the directory that each of them gets.

    Attributes:
        jid: of the job in hand.
    """

    _job: Job | None = None
    _killed: Job | None = None
    _takes_nudges = False

    def __init__(self, queues: Iterable[str | Queue], client: Client, **kwargs: Any) -> None:
        super().__init__(queues, client, **kwargs)
        self.jid: str | None = None
        self._directory: str = kwargs.pop("sandbox", str(Path.cwd() / "qless-py-workers"))
        self.sandbox = self._directory  # type: ignore[method-assign] # qless-py has one name for both

    def run(self) -> None:
        """Work until told to stop."""
        self.signals()
        with self.listener(), self._killable():
            for job in self.jobs():
                if job is None:
                    self.title(f"Sleeping for {self.interval:f}s")
                    self._sleep()
                else:
                    self.title(f"Working on {job.jid} ({job.klass_name})")
                    self._work(job)
                if self.shutdown:
                    break

    def _sleep(self) -> None:
        end = time.monotonic() + self.interval
        while not self.shutdown and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, SLICE))

    def _work(self, job: Job) -> None:
        self._job, self.jid = job, job.jid
        try:
            with Worker.sandbox(self._directory):
                job.sandbox = self._directory
                job.process()
        finally:
            self._job = self.jid = None

    # -- lost jobs ----------------------------------------------------------------------------

    def kill(self, jid: str) -> None:
        """
        End the process if the job in hand is lost, as ``sys.exit(1)`` in its code would; a supervisor starts another.

        The store is asked first, since a warning comes when a lock expires, and a job that ends within the grace period
        is not lost. A worker that runs in another thread than the main one cannot be interrupted, and goes on.
        """
        job = self._job
        if job is None or job.jid != jid or job.was_given_up or not self._is_lost(jid):
            return
        logger.warning("Lost ownership of %s", jid)
        if self._takes_nudges:
            self._killed = job
            signal.pthread_kill(threading.main_thread().ident or 0, NUDGE)

    def _is_lost(self, jid: str) -> bool:
        match self.client.jobs[jid]:
            case Job(state="running", worker_name=holder):
                return holder != self.client.worker_name
            case _:
                return True

    @contextmanager
    def _killable(self) -> Iterator[None]:
        """Let ``kill``, which another thread calls, interrupt this one whatever it waits for."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(NUDGE, self._fall)
        self._takes_nudges = True
        try:
            yield
        finally:
            self._takes_nudges = False
            signal.signal(NUDGE, before)

    def _fall(self, _signum: int, _frame: FrameType | None) -> None:
        if self._killed is not None and self._killed is self._job:
            sys.exit(1)
