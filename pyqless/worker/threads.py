# SPDX-License-Identifier: MIT
"""A worker with threads: one that fetches, and some that run jobs."""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import ClassVar, Final

from pyqless.client import Client, Job
from pyqless.errors import QlessError
from pyqless.worker.attempts import Attempt
from pyqless.worker.base import BlockingWorker
from pyqless.worker.settings import MOST_THREADS, ExitCode, Settings, at_once
from pyqless.worker.stopping import StopReason
from pyqless.worker.verdicts import giving_back
from pyqless.worker.waiting import SLICE

__all__ = ["ThreadWorker"]

logger = logging.getLogger("pyqless.worker")

#: seconds for which a job is put off whose last run has not ended here yet
PUT_OFF: Final = 5.0


class ThreadWorker(BlockingWorker):
    """
    Runs several jobs at once, each in a thread of this process.

    No thread can be stopped from outside. A job that is lost is told so, and ends at its next checkpoint; what it gives is
    refused. A job that ignores the end of the worker is left to its lock, since it may still be at work.

    Args:
        threads: how many jobs run at once, 1,000 at most.

    Raises:
        InvalidArgument: an argument is of another type, or there are too many threads, or none.
    """

    kind: ClassVar[str] = "threads"

    def __init__(self, client: Client, settings: Settings, threads: int = 10) -> None:
        at_once("threads", threads, MOST_THREADS)
        super().__init__(client, settings)
        self._work_to_do: SimpleQueue[Job | None] = SimpleQueue()
        self._free = threading.Semaphore(threads)
        self._threads = [
            threading.Thread(
                target=self._execute, args=(number,), name=f"pyqless-{number}", daemon=True
            )
            for number in range(threads)
        ]

    def run(self) -> ExitCode:
        """
        Work until an order or a limit ends it, and the jobs in hand have ended or had their time.

        Raises:
            RequestError: another worker of its name is at work.
        """
        with self._working():
            for thread in self._threads:
                thread.start()
            try:
                while self.control.is_running:
                    self._turn()
            except BaseException:
                self.control.stop()  # the jobs in hand have their locks kept for as long as they have time
                raise
            finally:
                self._see_out()
        return self.exit_code

    def _see_out(self) -> None:
        """Wait for the jobs in hand, for as long as they have time."""
        for _ in self._threads:
            self._work_to_do.put(None)
        while any(thread.is_alive() for thread in self._threads):
            if self.control.is_over:
                self._leave()
                self.exit_code = ExitCode.CUT_OFF
                return
            self._join()

    def _turn(self) -> None:
        if not self._idle():
            self.fetcher.pause(SLICE)
            return
        if (free := self._take_free()) == 0:
            return
        jobs = [job for job in self.fetcher.fetch(free) if self._may_begin(job)]
        for job in jobs:
            self._work_to_do.put(job)
        if free > len(jobs):
            self._free.release(free - len(jobs))
        if not jobs:
            self.fetcher.wait()

    def _take_free(self) -> int:
        """Take all threads that are free, after a moment if there is none; how many there were."""
        if not self._free.acquire(timeout=SLICE):
            return 0
        count = 1
        while self._free.acquire(blocking=False):
            count += 1
        return count

    def _join(self) -> None:
        for thread in self._threads:
            if thread.is_alive():
                thread.join(SLICE)
                return

    # -- a job whose last run is still here ---------------------------------------------------

    def _may_begin(self, job: Job) -> bool:
        """
        Whether a job can begin.

        Its lock may have expired, and it may have come back here, while its last run goes on: the two would hold the lock
        in the same name. So the last run is told that it has lost, and the new one is put off.
        """
        last = self._attempts.get(job.jid)
        if last is None or last.settling:
            return True
        last.stop(StopReason.LOST)
        with suppress(QlessError):  # then its lock expires
            why = "its last run has not ended"
            self.client.storage.run(giving_back(job.jid, self.name, why, PUT_OFF))
        return False

    # -- in the threads -----------------------------------------------------------------------

    def _execute(self, number: int) -> None:
        while (job := self._work_to_do.get()) is not None:
            try:
                self._work(job, f"{self.name}-{number}")
            except KeyboardInterrupt:
                self.control.stop()
            except Exception:  # a fault of ours; the thread must not be lost for it
                fields = Attempt.of(job, self.client.storage.clock()).fields
                logger.exception("job %s is left to its lock", job.jid, extra=fields)
            finally:
                self._free.release()
