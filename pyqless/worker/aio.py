# SPDX-License-Identifier: MIT
"""A worker for asyncio: many jobs at once in one loop; functions that are no coroutines run in threads."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, ClassVar

from pyqless.client import AsyncClient, AsyncJob, checks
from pyqless.worker.attempts import Attempt
from pyqless.worker.control import Control
from pyqless.worker.ends import log_left
from pyqless.worker.fetching import AsyncFetcher
from pyqless.worker.leftovers import resume_async
from pyqless.worker.lookout import Lookout
from pyqless.worker.namesakes import require_gone_async
from pyqless.worker.pulse import Pulse, end
from pyqless.worker.records import FAREWELL, Teller, quietly
from pyqless.worker.refusals import Refusals, trial
from pyqless.worker.sandboxes import sandboxed_async
from pyqless.worker.sentries import name_of
from pyqless.worker.settings import MOST_TASKS, ExitCode, Settings, at_once
from pyqless.worker.settling import settle_async
from pyqless.worker.stopping import StopReason
from pyqless.worker.titles import set_title
from pyqless.worker.verdicts import Left, Stopped, Verdict, giving_back
from pyqless.worker.waiting import SLICE

__all__ = ["AsyncWorker"]

logger = logging.getLogger("pyqless.worker")

#: seconds that a coroutine is given to end once it is cancelled for good
LAST_WORDS = 1.0

#: seconds for which a job is put off whose last run has not ended here yet
PUT_OFF = 5.0


class AsyncWorker:
    """
    Runs jobs in the loop that calls ``run``.

    A coroutine that is lost is cancelled, at the place where it waits. A function in a thread is told, and ends at its next
    checkpoint; what it gives is refused. A coroutine that never waits holds the loop, and with it all heartbeats.

    Args:
        client: whose worker name the jobs are popped under.
        settings: what it works on, and how.
        concurrency: how many jobs run at once, 10,000 at most.

    Attributes:
        control: takes orders, from any thread.

    Raises:
        InvalidArgument: an argument is of another type, or there are too many jobs at once, or none.
    """

    kind: ClassVar[str] = "asyncio"

    def __init__(self, client: AsyncClient, settings: Settings, concurrency: int = 100) -> None:
        at_once("concurrency", concurrency, MOST_TASKS)
        self.client = checks.instance("client", client, AsyncClient)
        self.settings = checks.instance("settings", settings, Settings)
        self.control = Control(settings.grace)
        self.name = client.worker_name
        self.jobs_done = 0
        self.exit_code = ExitCode.DONE
        self._concurrency = concurrency
        self._tasks: set[asyncio.Task[Any]] = set()
        self._attempts: dict[str, Attempt] = {}
        #: numbers for sandboxes, of which each job in hand has one
        self._free = list(reversed(range(concurrency)))
        self._lookout = Lookout(settings.queues, settings.reserver)
        self._fetcher = AsyncFetcher(
            client,
            self._lookout,
            self.control,
            interval=settings.interval,
            listen=settings.listen,
        )
        self._pulse = Pulse(client, self._tick, listen=settings.listen)
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

    def interrupt(self) -> None:
        """See ``signals.Commanded``; orders are looked for a few times a second."""

    # -- the run ------------------------------------------------------------------------------

    async def run(self) -> ExitCode:
        """
        Work until an order or a limit ends it, and the jobs in hand have ended or had their time.

        Raises:
            RequestError: another worker of its name is at work.
        """
        async with self._working():
            try:
                while self.control.is_running:
                    await self._turn()
                while self._tasks and not self.control.is_over:
                    await asyncio.wait(self._tasks, timeout=SLICE)
            finally:
                if self._tasks:
                    await self._cut_off()
        return self.exit_code

    @asynccontextmanager
    async def _working(self) -> AsyncIterator[None]:
        logger.info("worker %s begins: %s", self.name, self._lookout)
        set_title(f"{self._lookout}")
        await require_gone_async(self.client, self.name)
        await self._tell(at_first=True)
        if self.settings.resume:
            with quietly():
                await resume_async(self.client, self.name)
        heart = asyncio.create_task(self._pulse.run(), name="pyqless-heart")
        try:
            yield
        finally:
            await end(heart)
            await self._fetcher.close()
            with quietly(), suppress(TimeoutError):
                async with asyncio.timeout(FAREWELL):
                    await self.client.storage.run(self._teller.last_word())
            logger.info("worker %s ends, jobs run: %d", self.name, self.jobs_done)

    async def _turn(self) -> None:
        if self.control.reloads > self._reloads:
            self._reloads = self.control.reloads
            self.settings = self.settings.renewed()
        if not (self.control.takes_jobs and await self._can_end_jobs()):
            await asyncio.sleep(SLICE)
            return
        if len(self._tasks) >= self._concurrency:
            await asyncio.wait(self._tasks, timeout=SLICE, return_when=asyncio.FIRST_COMPLETED)
            return
        jobs = await self._fetcher.fetch(self._concurrency - len(self._tasks))
        for job in jobs:
            self._begin(job)
        if not jobs:
            await self._fetcher.wait()

    async def _can_end_jobs(self) -> bool:
        """As ``BlockingWorker._can_end_jobs``."""
        if self._refusals.is_trial_due:
            with self._refusals.trying():
                await self.client.storage.run(trial(self.name))
        return self._refusals.are_over

    def _begin(self, job: AsyncJob) -> None:
        last = self._attempts.get(job.jid)
        put_off = last is not None and not last.settling
        if last is not None and put_off:
            last.stop(StopReason.LOST)
        task = asyncio.create_task(self._put_off(job) if put_off else self._work(job))
        self._tasks.add(task)
        task.add_done_callback(partial(self._ended, job))

    def _ended(self, job: AsyncJob, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:  # a fault of ours
            fields = Attempt.of(job, self.client.storage.clock()).fields
            logger.error("job %s is left to its lock", job.jid, exc_info=error, extra=fields)

    async def _cut_off(self) -> None:
        """Cancel what is left; what does not end even so is left to its lock."""
        for attempt in list(self._attempts.values()):
            attempt.stop(StopReason.STOPPING)  # it may not have been told yet
            if attempt.on_stop is not None:
                attempt.on_stop(StopReason.DROPPED)
        self.exit_code = ExitCode.CUT_OFF
        await asyncio.wait(self._tasks, timeout=LAST_WORDS)
        for attempt in list(self._attempts.values()):
            attempt.left = True
            log_left(attempt, self.client.storage.clock())
        for task in self._tasks:
            task.cancel()

    # -- one job ------------------------------------------------------------------------------

    async def _work(self, job: AsyncJob) -> Verdict:
        attempt = Attempt.of(job, float(self.client.storage.clock()))
        self._attempts[job.jid] = attempt
        self._pulse.watch(attempt)
        try:
            verdict = await self._run(job, attempt)
            if verdict == Stopped(StopReason.STOPPING):
                self.exit_code = ExitCode.CUT_OFF
            if attempt.left:
                return Left()
            return await settle_async(
                self.client.storage,
                self.settings.runner,
                verdict,
                job,
                attempt,
                self._refusals.heard,
            )
        finally:
            self._pulse.unwatch(attempt)
            if self._attempts.get(job.jid) is attempt:
                del self._attempts[job.jid]
            self.jobs_done += not attempt.left
            if self.settings.limits.are_reached(self.jobs_done) and self.control.is_running:
                self.exit_code = ExitCode.RECYCLE
                self.control.finish()

    async def _run(self, job: AsyncJob, attempt: Attempt) -> Verdict:
        """Run a job's code in a task of its own, so that its end can be told even if it is cancelled."""
        runner, root = self.settings.runner, self.settings.sandbox
        number = self._free.pop()
        try:
            async with sandboxed_async(root, f"{self.name}-{number}", _in_thread) as sandbox:
                running = runner.run_async(job, attempt, _in_thread, sandbox)
                task = asyncio.create_task(running, name=name_of(job.jid))
                attempt.on_stop = partial(_cancel, task)
                return await task
        except OSError as error:  # no sandbox
            return runner.judge(job, attempt, error)
        finally:
            self._free.append(number)

    async def _put_off(self, job: AsyncJob) -> None:
        """See ``ThreadWorker``: the job's last run has not ended here."""
        with quietly():
            why = "its last run has not ended"
            await self.client.storage.run(giving_back(job.jid, self.name, why, PUT_OFF))

    # -- orders -------------------------------------------------------------------------------

    async def _tick(self) -> None:
        """Pass orders on to the jobs in hand, and tell of this worker; called a few times a second."""
        if self.control.is_stopping:
            for attempt in list(self._attempts.values()):
                attempt.stop(StopReason.STOPPING)
        if self.control.drops > self._drops:
            self._drops = self.control.drops
            for attempt in list(self._attempts.values()):
                attempt.stop(StopReason.DROPPED)
        await self._tell()

    async def _tell(self, *, at_first: bool = False) -> None:
        if (word := self._teller.word()) is not None:
            with quietly(at_first=at_first):
                await self.client.storage.run(word)


def _cancel(task: asyncio.Task[Any], reason: StopReason) -> None:
    """Cancel a job, unless it is to be given the grace time first."""
    if reason is not StopReason.STOPPING:
        task.cancel()


async def _in_thread(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function in a thread that does not keep the process from ending."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def settle(set_: Callable[[Any], None], value: Any) -> None:
        if not future.done():
            set_(value)

    def call() -> None:
        try:
            value = context.run(function, *args)
        except StopIteration as error:  # a future does not take it
            wrapped = RuntimeError("a job raised StopIteration")
            wrapped.__cause__ = error
            loop.call_soon_threadsafe(settle, future.set_exception, wrapped)
        except BaseException as error:  # noqa: BLE001 - handed on to whoever waits
            loop.call_soon_threadsafe(settle, future.set_exception, error)
        else:
            loop.call_soon_threadsafe(settle, future.set_result, value)

    threading.Thread(target=call, name="pyqless-job", daemon=True).start()
    return await future
