# SPDX-License-Identifier: MIT
"""What the kinds of workers that block have in common."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import ClassVar

from pyqless.client import Client, Job, checks
from pyqless.errors import QlessError
from pyqless.worker.attempts import Attempt
from pyqless.worker.control import Control
from pyqless.worker.ends import log_left
from pyqless.worker.fetching import Fetcher
from pyqless.worker.hurrying import within
from pyqless.worker.keeper import Keeper, ThreadKeeper
from pyqless.worker.leftovers import resume
from pyqless.worker.lookout import Lookout
from pyqless.worker.namesakes import require_gone
from pyqless.worker.records import FAREWELL, Teller, quietly
from pyqless.worker.refusals import Refusals, trial
from pyqless.worker.sandboxes import sandboxed
from pyqless.worker.settings import ExitCode, Settings
from pyqless.worker.settling import Settled, settle
from pyqless.worker.steady import Steady
from pyqless.worker.stopping import JobStopped, StopReason
from pyqless.worker.titles import set_title
from pyqless.worker.verdicts import Stopped, Untold, Verdict
from pyqless.worker.waiting import SLICE

__all__ = ["BlockingWorker"]

logger = logging.getLogger("pyqless.worker")


class BlockingWorker:
    """
    A worker in this process.

    Args:
        client: whose worker name the jobs are popped under.
        settings: what it works on, and how.
        keeper: renews locks; a thread of this worker's unless given.

    Attributes:
        control: takes orders, from any thread.

    Raises:
        InvalidArgument: an argument is of another type.
    """

    kind: ClassVar[str]

    def __init__(self, client: Client, settings: Settings, keeper: Keeper | None = None) -> None:
        self.client = checks.instance("client", client, Client)
        self.settings = checks.instance("settings", settings, Settings)
        self.control = Control(settings.grace)
        self.name = client.worker_name
        self.jobs_done = 0
        self.exit_code = ExitCode.DONE
        self.lookout = Lookout(settings.queues, settings.reserver)
        self.fetcher = Fetcher(
            client,
            self.lookout,
            self.control,
            interval=settings.interval,
            listen=settings.listen,
        )
        self._attempts: dict[str, Attempt] = {}
        self._own_keeper = None
        if keeper is None:
            keeper = self._own_keeper = ThreadKeeper(
                client, listen=settings.listen, on_tick=self._tick
            )
        self._keeper = keeper
        self._teller = Teller(
            client.storage,
            self.name,
            self.kind,
            settings.queues,
            lambda: list(self._attempts.values()),
            lambda: self.control.is_paused,
        )
        self._refusals = Refusals()
        self._drops = self._reloads = 0
        self._steady = Steady("what this worker tells of itself")

    # -- the frame of a run -------------------------------------------------------------------

    @contextmanager
    def _working(self) -> Iterator[None]:
        logger.info("worker %s begins: %s", self.name, self.lookout)
        if self._own_keeper is not None:  # else somebody else answers for its name
            require_gone(self.client, self.name)
        try:
            self._tell(at_first=True)
            if self.settings.resume:
                with suppress(QlessError):  # the store may be away; then the locks expire
                    resume(self.client, self.name)
            yield
        finally:
            self.fetcher.close()
            if self._own_keeper is not None:
                self._own_keeper.close()
                self._withdraw()
            logger.info("worker %s ends, jobs run: %d", self.name, self.jobs_done)

    def _idle(self) -> bool:
        """Do what is due between jobs, and tell whether there are jobs to be taken."""
        with self._steady:
            self._tell()
        if self.control.reloads > self._reloads:
            self._reloads = self.control.reloads
            self.settings = self.settings.renewed()
        return self.control.takes_jobs and self._can_end_jobs()

    def _can_end_jobs(self) -> bool:
        """Whether the store takes the ends of jobs, as far as is known; one that has refused any is tried now and then."""
        if self._refusals.is_trial_due:
            with self._refusals.trying():
                self.client.storage.run(trial(self.name))
        return self._refusals.are_over

    def _tell(self, *, at_first: bool = False) -> None:
        if self._own_keeper is None:
            return  # whoever keeps the locks tells of this worker, too
        if (word := self._teller.word()) is not None:
            with quietly(at_first=at_first):
                self.client.storage.run(word)

    def _withdraw(self) -> None:
        with quietly():
            within(FAREWELL, partial(self.client.storage.run, self._teller.last_word()))

    # -- one job ------------------------------------------------------------------------------

    def _work(self, job: Job, slot: str, *, goes_on: bool = False) -> Settled[Job]:
        """
        Run a job from its pop to its end.

        Args:
            goes_on: take the next job with the end of this one, if nothing is to be done in between.
        """
        attempt = Attempt.of(job, float(self.client.storage.clock()))
        self._attempts[job.jid] = attempt
        self._keeper.watch(attempt)
        self.pass_on_orders()  # one may have come since the job was asked for
        try:
            verdict = self._run(job, attempt, slot)
            if verdict == Stopped(StopReason.STOPPING):
                self.exit_code = ExitCode.CUT_OFF
            self._count()
            takes_next = goes_on and self._may_go_on(job.queue_name)
            return self._settle(verdict, job, attempt, takes_next=takes_next)
        except KeyboardInterrupt:
            self._settle(Stopped(StopReason.STOPPING), job, attempt)
            raise
        finally:
            self._keeper.unwatch(attempt)
            if self._attempts.get(job.jid) is attempt:
                del self._attempts[job.jid]

    def _run(self, job: Job, attempt: Attempt, slot: str) -> Verdict:
        set_title(f"{job.jid} ({job.klass_name}) from {job.queue_name}")
        try:
            with sandboxed(self.settings.sandbox, slot) as sandbox:
                return self.settings.runner.run(job, attempt, sandbox)
        except JobStopped as stopped:  # it came when the job's code had ended already
            return Stopped(stopped.reason)
        except OSError as error:  # no sandbox
            return self.settings.runner.judge(job, attempt, error)

    def _settle(
        self, verdict: Verdict, job: Job, attempt: Attempt, *, takes_next: bool = False
    ) -> Settled[Job]:
        """Tell the end, for as long as the worker has time for that."""
        settled = settle(
            self.client.storage,
            self.settings.runner,
            verdict,
            job,
            attempt,
            self._pause,
            takes_next=takes_next,
            gives_up=lambda: self.control.is_over,
            on_answer=self._refusals.heard,
        )
        if isinstance(settled.verdict, Untold) and self.control.is_stopping:
            self.exit_code = ExitCode.CUT_OFF
        return settled

    def _pause(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not self.control.is_over and (left := end - time.monotonic()) > 0:
            time.sleep(min(SLICE, left))

    def _count(self) -> None:
        """Take note of the end of a job; the last one, if a limit is reached."""
        self.jobs_done += 1
        if self.settings.limits.are_reached(self.jobs_done):
            self.exit_code = ExitCode.RECYCLE
            self.control.finish()

    def _may_go_on(self, queue: str) -> bool:
        """Whether the worker would look for a job in a queue next, and do nothing before."""
        # asked each time, since the order that was begun last time is over with the job that it gave
        is_next = self.fetcher.tries_next(queue)
        return is_next and self.control.takes_jobs and self.control.reloads == self._reloads

    # -- orders -------------------------------------------------------------------------------

    def _tick(self) -> None:
        """Do what is due a few times a second while there are jobs in hand."""
        self.pass_on_orders()
        self._tell()

    def pass_on_orders(self) -> None:
        """Tell the jobs in hand what the worker has been told."""
        attempts = list(self._attempts.values())
        if self.control.is_stopping:
            for attempt in attempts:
                attempt.stop(StopReason.STOPPING)
        if self.control.drops > self._drops:
            self._drops = self.control.drops
            for attempt in attempts:
                attempt.stop(StopReason.DROPPED)

    def _leave(self) -> None:
        """Leave what is in hand to its locks, since it may still be at work when the process ends."""
        for attempt in list(self._attempts.values()):
            log_left(attempt, self.client.storage.clock())

    def interrupt(self) -> None:
        """See ``signals.Commanded``; jobs in other threads cannot be interrupted."""
