# SPDX-License-Identifier: MIT
"""What all kinds of workers are told."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from pathlib import Path
from typing import Any, Final

from pyqless.client import checks
from pyqless.client.checks import Span
from pyqless.worker.reservers import Reserver
from pyqless.worker.running import Runner

__all__ = ["MOST_TASKS", "MOST_THREADS", "ExitCode", "Limits", "Settings", "at_once"]

logger = logging.getLogger("pyqless.worker")


#: jobs that one worker runs at once at most, where each has a thread or a process; beyond that, more workers do more
MOST_THREADS: Final = 1_000

#: and where each is a coroutine
MOST_TASKS: Final = 10_000


class ExitCode(IntEnum):
    """How a worker ends."""

    #: as it was told to; every job in hand came to its end
    DONE = 0
    #: it could not work, or broke
    BROKEN = 1
    #: as it was told to; jobs were cut off, and given back or left to their locks
    CUT_OFF = 4
    #: it has reached one of its limits, and wants to be started anew
    RECYCLE = 75


@dataclass(frozen=True, kw_only=True)
class Limits:
    """
    When a process has done enough, and is to make room for a fresh one.

    Args:
        jobs: after so many jobs.
        memory: once it has grown beyond this, bytes of resident memory, looked at after each job.

    Raises:
        InvalidArgument: one of them is no whole number above 0.
    """

    jobs: int | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        for name in ("jobs", "memory"):
            if (value := getattr(self, name)) is not None:
                checks.whole(name, value, least=1)

    def are_reached(self, jobs: int) -> bool:
        """Whether it has done enough."""
        if self.jobs is not None and jobs >= self.jobs:
            return True
        return self.memory is not None and resident_memory() > self.memory


class Seconds:
    """A field of a dataclass that takes a span of time, and gives it as seconds."""

    def __init__(self, default: float, check: Callable[[str, Any], float]) -> None:
        self._default = default
        self._check = check

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, settings: object | None, owner: type) -> float:
        # of the class itself, a dataclass asks for the default
        return self._default if settings is None else vars(settings)[self._name]

    def __set__(self, settings: object, value: Span) -> None:
        vars(settings)[self._name] = self._check(self._name, value)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """
    What a worker works on, and how.

    Args:
        queues: names and patterns, see ``reservers.expand``.
        runner: runs the jobs.
        reserver: the order of the queues; as they are named unless given.
        interval: seconds, or a timedelta, between two looks at empty queues, at most.
        grace: seconds, or a timedelta, that jobs are given once the worker is told to stop.
        limits: when the process has done enough.
        sandbox: what the jobs' directories lie in, see ``BlockingJob.sandbox``; without one, jobs have none.
        resume: take back, at the start, what an earlier worker of the same name has left in hand.
        listen: hear of work and of lost locks by message, where the store has any.
        renew: makes a runner of code loaded anew, when the worker is told to reload; unless given, the modules that
            jobs may name are loaded anew.

    Raises:
        InvalidArgument: one of them is no good.
    """

    queues: Sequence[str]
    runner: Runner = field(default_factory=Runner)
    reserver: Reserver | None = None
    interval: Seconds = Seconds(5.0, checks.positive_span)
    grace: Seconds = Seconds(10.0, checks.span)
    limits: Limits = field(default_factory=Limits)
    sandbox: Path | None = None
    resume: bool = False
    listen: bool = True
    renew: Callable[[], Runner] | None = None

    def __post_init__(self) -> None:
        checks.names("queues", checks.instance("queues", self.queues, Sequence), least=1)
        checks.instance("runner", self.runner, Runner)
        checks.instance("limits", self.limits, Limits)
        checks.flag("resume", self.resume)
        checks.flag("listen", self.listen)
        if self.reserver is not None:
            checks.function("reserver.order", getattr(self.reserver, "order", None))
        if self.sandbox is not None:
            # jobs may change the directory that they work in
            object.__setattr__(
                self, "sandbox", checks.instance("sandbox", self.sandbox, Path).absolute()
            )
        if self.renew is not None:
            checks.function("renew", self.renew)

    def renewed(self) -> Settings:
        """The settings with a runner of code loaded anew; with the old one where that cannot be loaded."""
        try:
            if self.renew is not None:
                return replace(self, runner=self.renew())
            self.runner.finder.reload()
        except Exception:
            logger.exception("the code of jobs cannot be loaded anew, and stays as it was")
        return self


def at_once(argument: str, value: Any, most: int) -> int:
    """
    How many jobs are to run at once.

    Raises:
        InvalidArgument: it is no whole number between 1 and ``most``.
    """
    if isinstance(value, int) and not 1 <= value <= most:
        checks.refuse(argument, value, f"must lie between 1 and {most}")
    return checks.whole(argument, value, least=1)


def resident_memory() -> int:
    """The resident memory of this process, bytes; where that is not to be had, the most it ever was."""
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * _page_size()
    import resource  # noqa: PLC0415 - not everywhere

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _page_size() -> int:
    import resource  # noqa: PLC0415 - not everywhere

    return resource.getpagesize()
