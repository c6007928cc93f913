# SPDX-License-Identifier: MIT
"""The plainest worker: one job after another, in the thread that calls."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import ClassVar, Final

from pyqless.client import Job
from pyqless.worker.attempts import Attempt
from pyqless.worker.base import BlockingWorker
from pyqless.worker.settings import ExitCode
from pyqless.worker.signals import NUDGE
from pyqless.worker.stopping import JobStopped, StopReason
from pyqless.worker.titles import set_title
from pyqless.worker.verdicts import Verdict
from pyqless.worker.waiting import SLICE

__all__ = ["SerialWorker"]

#: seconds that a job has at least to end when it was interrupted: where others want the processor, that is not done at once
LAST_STEPS: Final = 5.0


class SerialWorker(BlockingWorker):
    """
    Runs jobs one after another in the thread that calls ``run``.

    It forks nothing and takes no signals; ``signals.taking`` takes them for it. A job that is lost is told so, and
    ends at its next checkpoint; what it gives is refused.
    """

    kind: ClassVar[str] = "serial"

    #: whether the main thread, if that runs the jobs, is in the code of one
    _is_in_code = False
    _takes_signals = False
    _interrupted_at: float | None = None

    def run(self) -> ExitCode:
        """
        Work until an order or a limit ends it.

        Raises:
            RequestError: another worker of its name is at work.
        """
        with self._working():
            while self.control.is_running:
                if not self._idle():
                    self.fetcher.pause(SLICE)
                elif (job := self._next()) is not None:
                    self._work_on(job)
                else:
                    set_title(f"waiting for {self.lookout}")
                    self.fetcher.wait()
        return self.exit_code

    def run_one(self) -> Verdict | None:
        """Run one job if there is one, without waiting for any; for tests, and for loops of one's own."""
        job = self._next()
        return None if job is None else self.work(job)

    def drain(self) -> int:
        """
        Run jobs until the queues give none.

        Returns:
            int: how many.
        """
        before = self.jobs_done
        while self.control.is_running and self.run_one() is not None:
            pass
        return self.jobs_done - before

    def _next(self) -> Job | None:
        return next(iter(self.fetcher.fetch()), None)

    def work(self, job: Job) -> Verdict:
        """Run a job that was popped; see ``verdicts`` for how it may end."""
        return self._work(job, self.name).verdict

    def _work_on(self, job: Job | None) -> None:
        """Run a job that was popped, and those that come with the end of the one before."""
        while job is not None:
            job = self._work(job, self.name, goes_on=True).following

    def _run(self, job: Job, attempt: Attempt, slot: str) -> Verdict:
        self._is_in_code = True
        try:
            return super()._run(job, attempt, slot)
        finally:
            self._is_in_code = False

    # -- orders -------------------------------------------------------------------------------

    def interrupt(self) -> None:
        """See ``signals.Commanded``."""
        self._takes_signals = True
        if not self._is_in_code:
            return
        if self.control.is_over:
            self._interrupted_at = time.monotonic()
            raise JobStopped(StopReason.STOPPING)
        if self.control.drops > self._drops:
            self._drops = self.control.drops
            raise JobStopped(StopReason.DROPPED)

    def _tick(self) -> None:
        super()._tick()
        if self._takes_signals and self._is_in_code and self.control.is_stopping:
            self._insist()

    def _insist(self) -> None:
        """Let the job be interrupted once its time is over; one that does not end even so ends with its process."""
        if self._interrupted_at is None:
            # a signal that came just before a long call waits for its end, unless another one interrupts that
            signal.pthread_kill(threading.main_thread().ident or 0, NUDGE)
        elif time.monotonic() - self._interrupted_at > max(self.settings.grace, LAST_STEPS):
            self._leave()
            os._exit(ExitCode.CUT_OFF)

    def close(self) -> None:
        """Let go of what ``run_one`` and ``drain`` have begun; ``run`` does so by itself."""
        self.fetcher.close()
        if self._own_keeper is not None:
            self._own_keeper.close()
            self._withdraw()
