# SPDX-License-Identifier: MIT
"""A worker with child processes, each of which runs one job at a time and may be killed at any moment."""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.connection import wait
from multiprocessing.context import BaseContext
from typing import ClassVar, Final, Literal

from pyqless.client import Client, checks
from pyqless.core.cleaning import known_queues
from pyqless.errors import InvalidArgument, QlessError
from pyqless.worker.attempts import Attempt
from pyqless.worker.child import Plan
from pyqless.worker.children import Child
from pyqless.worker.control import Control
from pyqless.worker.courier import Courier
from pyqless.worker.custody import Custody
from pyqless.worker.ends import log_stopped
from pyqless.worker.estates import Estates
from pyqless.worker.hurrying import within
from pyqless.worker.leftovers import resume
from pyqless.worker.lookout import Lookout
from pyqless.worker.namesakes import require_gone
from pyqless.worker.records import FAREWELL, Teller, quietly
from pyqless.worker.sandboxes import remove
from pyqless.worker.settings import MOST_THREADS, ExitCode, Limits, Settings, at_once
from pyqless.worker.steady import Steady
from pyqless.worker.stopping import StopReason
from pyqless.worker.titles import set_title
from pyqless.worker.waiting import SLICE, Backoff

__all__ = ["ForkingWorker"]

logger = logging.getLogger("pyqless.worker")

#: a child that has lived for so long, seconds, did not die of its birth, even if it had no job
GROWN_UP: Final = 10.0

#: seconds for which the parent tries, at its end, to give back what its children had in hand
LAST_WORDS: Final = 2.0


@dataclass
class _Slot:
    """The place of one child after another."""

    number: int
    child: Child | None = None
    births: int = 0
    not_before: float = float("-inf")

    def __post_init__(self) -> None:
        self.backoff = Backoff(base=0.2, cap=30.0)


class ForkingWorker:
    """
    Supervises children: starts them, keeps their locks, replaces them, and kills them where that is needed.

    A job that is lost, cancelled or over its time limit ends at once, whatever it is doing: its process is killed, with all
    that it has started. The parent itself runs no job and has no threads.

    Args:
        connect: opens a client that works under a name, such as ``lambda name: Client(url, worker_name=name)``; called in the
            parent and in each child.
        settings: what to work on, and how; its limits are those of each child.
        name: the parent's; a child is called ``NAME/SLOT.BIRTH``.
        processes: how many children, 1,000 at most; as many as this machine has cores unless given.
        start_method: ``fork``, or ``spawn`` where a fork is unsafe: the children are then started anew, and ``connect``,
            ``settings`` and ``before`` have to be such as can be pickled, which functions of modules can and a lambda
            cannot. ``fork`` on Linux, ``spawn`` elsewhere, unless given.
        fork_per_job: a fresh child for each job.
        stagger: the first children begin within so many seconds, and not all at once.
        before: called in each child first of all.

    Attributes:
        control: takes orders, from any thread.

    Raises:
        InvalidArgument: an argument is no good, or children could not share the store.
    """

    kind: ClassVar[str] = "forking"

    def __init__(
        self,
        connect: Callable[[str], Client],
        settings: Settings,
        *,
        name: str,
        processes: int | None = None,
        start_method: Literal["fork", "spawn"] | None = None,
        fork_per_job: bool = False,
        stagger: float = 1.0,
        before: Callable[[], None] | None = None,
    ) -> None:
        count = (os.cpu_count() or 1) if processes is None else processes
        at_once("processes", count, MOST_THREADS)
        checks.instance("settings", settings, Settings)
        if checks.flag("fork_per_job", fork_per_job):
            settings = replace(settings, limits=Limits(jobs=1, memory=settings.limits.memory))
        self.settings = settings
        self.control = Control(settings.grace)
        self.exit_code = ExitCode.DONE
        self.name = checks.name("name", name)
        self._plan = Plan(
            connect=checks.function("connect", connect),
            settings=settings,
            before=checks.optional(checks.function, "before", before),
            parent=os.getpid(),
        )
        self._context = _context(start_method, self._plan)
        self._stagger = checks.number("stagger", stagger, least=0)
        self.client = _opened(connect, name)
        self._slots = [_Slot(number + 1) for number in range(count)]
        self._custody = Custody(self.client, listen=settings.listen)
        self._estates = Estates(self.client)
        self._teller = self._teller_of(name, self.kind, list, os.getpid())
        self._courier = Courier(self.control, self._reload)
        self._steady = Steady("the parent of children")

    def interrupt(self) -> None:
        """See ``signals.Commanded``; the loop looks for orders a few times a second."""

    @property
    def children(self) -> list[Child]:
        """The children that there are."""
        return [slot.child for slot in self._slots if slot.child is not None]

    # -- the run ------------------------------------------------------------------------------

    def run(self) -> ExitCode:
        """
        Supervise until an order ends it, and the children have ended.

        Raises:
            RequestError: another worker of its name is at work.
        """
        logger.info("worker %s begins with %d children", self.name, len(self._slots))
        self._require_name()
        set_title(f"{self.name}, {len(self._slots)} children")
        try:
            self._greet()
            if self.settings.resume:
                with quietly():
                    resume(self.client, self.name)
            while self._goes_on:
                self._turn()
            self._estates.settle_within(LAST_WORDS)
        finally:
            for child in self.children:
                child.kill(StopReason.STOPPING)
                child.bury()
            self._custody.close()
            with quietly():
                within(FAREWELL, partial(self.client.storage.run, self._teller.last_word()))
            self.client.close()
            logger.info("worker %s ends", self.name)
        return self.exit_code

    @property
    def _goes_on(self) -> bool:
        return self.control.is_running or bool(self.children)

    def _require_name(self) -> None:
        try:
            require_gone(self.client, self.name)
        except QlessError:
            self.client.close()
            raise

    def _turn(self) -> None:
        steps = (
            self._fill_all,
            self._wait,
            self._hear,
            partial(self._custody.keep, self._hear),
            self._bury_all,
            self._estates.settle,
            self._tell,
        )
        for step in steps:
            if not self._goes_on:
                return
            with self._steady:  # the children's locks are to be kept whatever else breaks
                # before each, since any may wait for a store that does not answer
                self._courier.deliver(self.children)
                step()

    def _greet(self) -> None:
        """Ask the store for some of what children will need: one that refuses it now would refuse it to all of them."""
        self._tell(at_first=True)
        lookout = Lookout(self.settings.queues, None)
        now = float(self.client.storage.clock())
        with quietly(at_first=True):
            if lookout.needs_known(now):
                lookout.know(self.client.storage.run(known_queues), now)
            for name in lookout.queues[:1]:
                self.client.queues[name].peek()
            for _, look in lookout.looks(at_first=True):
                self.client.storage.run(look)

    def _reload(self) -> None:
        """Let the children that are yet to come have new code."""
        self.settings = self.settings.renewed()
        self._plan = replace(self._plan, settings=self.settings)

    def _wait(self) -> None:
        things: list[object] = [child.link for child in self.children]
        things += [child.process.sentinel for child in self.children]
        seconds = min(SLICE, self._custody.wait())
        if things:
            wait(things, timeout=seconds)  # type: ignore[arg-type]
        else:
            time.sleep(seconds)

    # -- children -----------------------------------------------------------------------------

    def _fill_all(self) -> None:
        for slot in self._slots:
            self._fill(slot)

    def _bury_all(self) -> None:
        for slot in self._slots:
            if slot.child is not None and slot.child.is_gone:
                self._bury(slot, slot.child)

    def _fill(self, slot: _Slot) -> None:
        if slot.child is not None or not self.control.is_running:
            return
        if time.monotonic() < slot.not_before:
            return
        delay = self._stagger * random.random() if slot.births == 0 else 0.0  # noqa: S311 - no secret
        slot.births += 1
        name = f"{self.name}/{slot.number}.{slot.births}"
        others = [child.link for child in self.children]
        try:
            slot.child = child = Child(self._context, self._plan, name, delay, others)
        except OSError as error:  # there is no more room for processes, or for files
            text, fields = "child %s does not begin: %s", {"worker": name}
            logger.error(text, name, error, extra=fields)  # noqa: TRY400 - no fault of ours
            slot.not_before = time.monotonic() + slot.backoff.next()
            return
        child.teller = self._teller_of(
            name, "child", lambda: list(child.attempts.values()), child.pid
        )
        if self.control.is_paused:
            child.order("pause")
        logger.info("child %s begins as process %d", name, child.pid, extra=child.fields)

    def _bury(self, slot: _Slot, child: Child) -> None:
        child.hear(self._custody)
        log = logger.error if child.broke else logger.info
        text = "child %s %s, with %s in hand"
        log(text, child.name, child.end, child.in_hand, extra=child.fields)
        if self.control.is_stopping and (child.attempts or child.exit_code == ExitCode.CUT_OFF):
            self.exit_code = ExitCode.CUT_OFF
        if child.has_worked or not child.broke or time.monotonic() - child.began > GROWN_UP:
            slot.backoff.reset()  # it did not die of its birth
        slot.not_before = time.monotonic() + slot.backoff.next() if child.broke else float("-inf")
        for attempt in child.attempts.values():
            self._custody.release(attempt)
            if child.killed_for in (StopReason.LOST, StopReason.CANCELED):
                log_stopped(child.killed_for, attempt, self.client.storage.clock())
        child.bury()
        remove(self.settings.sandbox, child.name)
        slot.child = None
        self._estates.add(child.name, child.dealing, list(child.attempts.values()))

    def _hear(self) -> None:
        for child in self.children:
            child.hear(self._custody)

    # -- what is told -------------------------------------------------------------------------

    def _teller_of(
        self, name: str, kind: str, attempts: Callable[[], list[Attempt]], pid: int
    ) -> Teller:
        return Teller(
            self.client.storage,
            name,
            kind,
            self.settings.queues,
            attempts,
            lambda: self.control.is_paused,
            pid=pid,
        )

    def _tell(self, *, at_first: bool = False) -> None:
        tellers = [self._teller, *(child.teller for child in self.children if child.teller)]
        with quietly(
            at_first=at_first
        ):  # once for all: a store that is away takes its time for each
            for teller in tellers:
                if (word := teller.word()) is not None:
                    self.client.storage.run(word)


def _context(start_method: str | None, plan: Plan) -> BaseContext:
    method = start_method or ("fork" if sys.platform == "linux" else "spawn")
    checks.choice("start_method", [method], ("fork", "spawn"))
    if method == "spawn":
        for argument in ("connect", "settings", "before"):
            _require_portable(argument, getattr(plan, argument))
    return multiprocessing.get_context(method)


def _require_portable(argument: str, value: object) -> None:
    """Let no worker begin whose children never would."""
    try:
        pickle.dumps(value)
    except Exception as error:  # what is pickled may raise anything
        text = f"{argument} cannot be sent to a process that is started anew: {error}"
        raise InvalidArgument(text, argument=argument, value=value) from error


def _opened(connect: Callable[[str], Client], name: str) -> Client:
    client = connect(name)
    if not isinstance(client, Client):
        fault = f"must open a pyqless.Client, not give {type(client).__name__}"
        checks.refuse("connect", connect, fault)
    _require_shared(client)
    return client


def _require_shared(client: Client) -> None:
    scheme = client.storage.url.partition(":")[0]
    if scheme in ("memory", "fakeredis"):
        text = f"children cannot share {client.storage.url}, which lies in one process"
        raise InvalidArgument(text, argument="connect", value=client.storage.url)
