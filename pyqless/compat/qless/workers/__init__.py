# SPDX-License-Identifier: MIT
"""What the kinds of workers have in common, and programs override."""

from __future__ import annotations

import code
import json
import os
import signal
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from pyqless.compat.qless.client import Client
from pyqless.compat.qless.exceptions import LostLockException
from pyqless.compat.qless.job import Job
from pyqless.compat.qless.listener import Listener
from pyqless.compat.qless.logs import logger
from pyqless.compat.qless.queue import Queue
from pyqless.worker.keeper import LOST_EVENTS
from pyqless.worker.sandboxes import emptied
from pyqless.worker.titles import printable

try:
    from setproctitle import getproctitle, setproctitle
except ImportError:  # an extra

    def getproctitle() -> str:
        """Have no title."""
        return ""

    def setproctitle(title: str) -> None:
        """Show no title."""


__all__ = ["Worker"]

T = TypeVar("T")


class Worker:
    """
    Takes jobs out of queues and runs them; locks are renewed by the jobs' code alone.

    Args:
        queues: names of queues, or queues.
        client: in whose worker's name jobs are popped.
        kwargs: ``interval``: seconds between two looks at empty queues; ``resume``: jobs to begin with, or True for
            all in these queues that the store says the worker has in hand.

    Attributes:
        shutdown: whether it ends after the job in hand.
    """

    def __init__(self, queues: Iterable[str | Queue], client: Client, **kwargs: Any) -> None:
        self.client = client
        self.queues = [
            client.queues[queue] if isinstance(queue, str) else queue for queue in queues
        ]
        self.kwargs = kwargs
        resume = kwargs.get("resume") or []
        self.resume: Sequence[Job] = self.resumable() if resume is True else resume
        self.interval = kwargs.get("interval", 60)
        self.shutdown = False

    # -- help for all kinds -------------------------------------------------------------------

    @classmethod
    def title(cls, message: str | None = None) -> Any:
        """Show a message in lists of processes, or give what is shown."""
        if message is None:
            return getproctitle()
        setproctitle(f"qless-py-worker {printable(message)}")
        logger.info(message)
        return None

    @classmethod
    def divide(cls, jobs: Iterable[T], count: int) -> list[list[T]]:
        """Divide jobs into so many groups of like size."""
        every = list(jobs)
        return [every[index::count] for index in range(count)]

    @classmethod
    def clean(cls, path: str | os.PathLike[str]) -> None:
        """Empty a directory."""
        with cls.sandbox(path):
            pass

    @classmethod
    @contextmanager
    def sandbox(cls, path: str | os.PathLike[str]) -> Iterator[None]:
        """Make a directory, empty it, and empty it again."""
        with emptied(Path(path)):
            yield

    # -- jobs ---------------------------------------------------------------------------------

    def resumable(self) -> list[Job]:
        """Find the jobs in these queues that the store says are in this worker's hand."""
        names = {queue.name for queue in self.queues}
        jids = self.client.workers[self.client.worker_name]["jobs"]
        return [job for job in self.client.jobs.get(*jids) if job.queue_name in names]

    def jobs(self) -> Iterator[Job | None]:
        """Give what is to be resumed, then a job of each queue in turn; None whenever all are empty."""
        for job in self.resume:
            try:
                if job.heartbeat():
                    yield job
            except LostLockException:
                logger.exception("Cannot resume %s", job.jid)
        while True:
            idle = True
            for queue in self.queues:
                if (job := queue.pop()) is not None:
                    idle = False
                    yield job
            if idle:
                yield None

    # -- what the store tells -----------------------------------------------------------------

    def listener(self) -> AbstractContextManager[Listener]:
        """Hear in a thread what becomes of the jobs in hand."""
        storage = self.client.storage
        listener = Listener(storage, [storage.keys.worker_channel(self.client.worker_name)])
        return listener.thread(lambda: self.listen(listener))

    def listen(self, listener: Listener) -> None:
        """Kill what another worker has, or may have, or what is there no more."""
        for message in listener.listen():
            try:
                told = json.loads(message["data"])
                if told["event"] in LOST_EVENTS:
                    self.kill(told["jid"])
            except BaseException:  # noqa: BLE001 - a kill may raise what it likes, and others are still to be heard of
                logger.exception("Pubsub error")

    def kill(self, jid: str) -> None:
        """Stop a job, if it is in hand."""
        raise NotImplementedError('Derived classes must override "kill"')

    # -- orders -------------------------------------------------------------------------------

    def signals(self, signals: Iterable[str] = ("QUIT", "USR1", "USR2")) -> None:
        """Take signals; the main thread only may do so."""
        for name in signals:
            signal.signal(signal.Signals[f"SIG{name}"], self.handler)

    def stop(self) -> None:
        """End after the job in hand."""
        self.shutdown = True

    def handler(self, signum: int, frame: FrameType | None) -> None:
        """Do as a signal says: QUIT stops, USR1 shows the stack, USR2 opens a console in the frame at work."""
        if signum == signal.SIGQUIT:
            self.stop()
            return
        stack = "".join(traceback.format_stack(frame))
        if signum == signal.SIGUSR1:
            # no logger: its lock may be held by what this handler has interrupted
            os.write(2, f"Signaled traceback for {os.getpid()}:\n{stack}".encode())
        elif signum == signal.SIGUSR2 and frame is not None:
            names = {"_frame": frame, **frame.f_globals, **frame.f_locals}
            code.InteractiveConsole(names).interact(f"Traceback:\n{stack}")
