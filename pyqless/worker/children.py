# SPDX-License-Identifier: MIT
"""A child as its parent sees it."""

from __future__ import annotations

import logging
import pickle
import time
from collections.abc import Iterator, Sequence
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import Any

from pyqless.client import Job
from pyqless.client.requests.effects import telling_end
from pyqless.core import failures, retrying
from pyqless.core.waking import announced
from pyqless.worker.attempts import Attempt
from pyqless.worker.child import Began, Changed, Ended, Plan, live
from pyqless.worker.custody import Custody
from pyqless.worker.leftovers import Fate
from pyqless.worker.lifelines import is_suspended, kill_group, lead_group
from pyqless.worker.records import Teller
from pyqless.worker.settings import ExitCode
from pyqless.worker.stopping import StopReason
from pyqless.worker.verdicts import Again, Failed, Stopped, giving_back, group_name

__all__ = ["Child"]

logger = logging.getLogger("pyqless.worker")


class Child:
    """
    A child process, and what it has in hand.

    Args:
        context: how it is started.
        others: the links of the other children, which a fork copies.
    """

    def __init__(
        self,
        context: BaseContext,
        plan: Plan,
        name: str,
        delay: float,
        others: Sequence[Connection],
    ) -> None:
        self.name = name
        self.link, theirs = context.Pipe()
        inherited = [*others, self.link] if context.get_start_method() == "fork" else []
        self.process: BaseProcess = context.Process(  # type: ignore[attr-defined]
            target=live, args=(plan, name, delay, theirs, inherited), name=name
        )
        self.process.start()
        self.pid = self.process.pid or 0
        self.exit_code: int | None = None
        theirs.close()
        lead_group(self.pid)
        self.began = time.monotonic()
        #: what it runs, by jid
        self.attempts: dict[str, Attempt] = {}
        #: why it was killed, if it was
        self.killed_for: StopReason | None = None
        #: whether it has come to the end of a job
        self.has_worked = False
        #: whether it was told to take no more jobs
        self.is_leaving = False
        self.teller: Teller | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """What log records that are about it carry: those of the job that it has in hand, if it has one."""
        for attempt in self.attempts.values():
            return attempt.fields
        return {"worker": self.name}

    @property
    def in_hand(self) -> str:
        """What it has in hand, in words."""
        attempts = self.attempts.values()
        return ", ".join(f"{attempt.jid} ({attempt.klass})" for attempt in attempts) or "no job"

    @property
    def is_gone(self) -> bool:
        """Whether it has ended."""
        if self.exit_code is None:
            self.exit_code = self.process.exitcode
        return self.exit_code is not None

    @property
    def is_suspended(self) -> bool:
        """Whether it is stopped: its locks are not renewed then, so that others get what it does not do."""
        return is_suspended(self.pid)

    @property
    def broke(self) -> bool:
        """Whether it has ended, and neither as it was told to nor because it was killed on purpose."""
        ends = (ExitCode.DONE, ExitCode.RECYCLE, ExitCode.CUT_OFF)
        return self.is_gone and self.killed_for is None and self.exit_code not in ends

    def order(self, what: str) -> None:
        """Send an order; a child that is gone needs none."""
        self.is_leaving = self.is_leaving or what in ("finish", "stop")
        try:
            self.link.send(what)
        except OSError:
            logger.debug("child %s does not hear %r", self.name, what, extra=self.fields)

    # -- what it tells ------------------------------------------------------------------------

    def hear(self, custody: Custody) -> None:
        """Hear what it has told since the last time, and let its locks be kept accordingly."""
        for message in self._news():
            match message:
                case Began():
                    self._begin(message, custody)
                case Changed(jid=jid) if jid in self.attempts:
                    self._change(self.attempts[jid], message)
                case Ended(jid=jid) if jid in self.attempts:
                    custody.release(self.attempts.pop(jid))
                    self.has_worked = True

    def _begin(self, message: Began, custody: Custody) -> None:
        attempt = Attempt(
            message.jid,
            message.klass,
            message.queue,
            self.name,
            message.expires,
            began=message.began,
        )
        attempt.on_stop = self._stop
        self.attempts[message.jid] = attempt
        custody.take(attempt, lambda: self.killed_for is not None or self.is_suspended)

    @staticmethod
    def _change(attempt: Attempt, message: Changed) -> None:
        attempt.deadline = message.deadline
        attempt.retries_at_limit = message.retries_at_limit
        attempt.progress = message.progress
        attempt.settling = message.settling

    def _stop(self, reason: StopReason) -> None:
        """A job is to end, and so is its process; one that ends by itself right now is let go."""
        if not any(attempt.settling for attempt in self.attempts.values()):
            self.kill(reason)

    def _news(self) -> Iterator[Any]:
        try:
            while self.link.poll():
                yield self.link.recv()
        except (EOFError, OSError, pickle.UnpicklingError):
            return

    def kill(self, reason: StopReason) -> None:
        """Kill it and all that it has started, at once."""
        if self.killed_for is None and not self.is_gone:
            text = "child %s is killed, with %s in hand: %s"
            logger.warning(text, self.name, self.in_hand, reason, extra=self.fields)
            self.killed_for = reason
            kill_group(self.pid)

    def bury(self) -> None:
        """Take leave of it: whatever of its group is left is killed, too."""
        kill_group(self.pid)
        self.process.join()
        self.exit_code = self.process.exitcode
        self.link.close()
        self.process.close()

    # -- what it leaves behind ----------------------------------------------------------------

    def dealing(self, job: Job) -> Fate:
        """What becomes of a job that it had in hand; it is dead, so nobody works on that any more."""
        attempt = self.attempts.get(job.jid)
        if self.killed_for is StopReason.TIME_LIMIT and attempt is not None:
            message = f"the job ran for longer than {attempt.limit:g} s, and was killed"
            return self._blame(job, "TimeLimitExceeded", message, retry=attempt.retries_at_limit)
        if self.broke:
            return self._blame(job, "ChildDied", f"the process that ran it {self.end}", retry=True)
        why = "its worker ended" if self.killed_for is None else self.killed_for.value
        verdict = Stopped(self.killed_for or StopReason.STOPPING)
        return Fate(giving_back(job.jid, self.name, why), verdict)

    @property
    def end(self) -> str:
        """How it ended, in words."""
        code = self.exit_code
        if code is not None and code < 0:
            return f"was killed by signal {-code}"
        return f"ended with status {code}"

    def _blame(self, job: Job, kind: str, message: str, *, retry: bool) -> Fate:
        group = group_name(f"{job.klass_name}:{kind}")
        if retry:
            again = partial(
                retrying.retry,
                jid=job.jid,
                queue=job.queue_name,
                worker=self.name,
                group=group,
                message=message,
            )
            return Fate(announced(telling_end(job.jid, again)), Again(0.0, group, message))
        fail = partial(
            failures.fail, jid=job.jid, worker=self.name, group=group, message=message, data=None
        )
        return Fate(fail, Failed(group, message))
