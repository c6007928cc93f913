# SPDX-License-Identifier: MIT
"""
A forked child: a serial worker whose parent keeps its locks, and may kill it at any moment.

It tells the parent what it begins and ends. So the parent can renew locks whatever the child does, even where that
holds the interpreter for minutes, and knows what a child had in hand that is gone.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Final, NamedTuple, NoReturn

from pyqless.client import Client
from pyqless.client.progress import Progress
from pyqless.errors import QlessError
from pyqless.worker.attempts import Attempt
from pyqless.worker.control import Control
from pyqless.worker.lifelines import die_with, lead_group
from pyqless.worker.serial import SerialWorker
from pyqless.worker.settings import ExitCode, Settings
from pyqless.worker.steady import Steady

__all__ = ["ORDERS", "Began", "Changed", "Ended", "Plan", "live"]

logger = logging.getLogger("pyqless.worker")

#: what a parent may send
ORDERS: Final[dict[str, Callable[[Control], None]]] = {
    "finish": Control.finish,
    "stop": Control.stop,
    "pause": Control.pause,
    "resume": Control.resume,
}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """
    What a child is told at its birth; a child that is not forked but started anew is sent it, pickled.

    Args:
        connect: opens a client that works under a name.
        settings: what to work on, and how.
        before: called first of all, for logging and the like.
        parent: the parent's process id.
    """

    connect: Callable[[str], Client]
    settings: Settings
    before: Callable[[], None] | None
    parent: int


class Began(NamedTuple):
    """A child has begun with a job."""

    jid: str
    klass: str
    queue: str
    expires: float
    began: float


class Changed(NamedTuple):
    """There is news of a job in hand."""

    jid: str
    deadline: float | None
    retries_at_limit: bool
    progress: Progress | None
    settling: bool


class Ended(NamedTuple):
    """A job is no longer in hand."""

    jid: str


class _Link:
    """A keeper that passes everything on to the parent."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    def watch(self, attempt: Attempt) -> None:
        """See ``Keeper.watch``."""
        attempt.on_change = self._changed
        self._send(Began(attempt.jid, attempt.klass, attempt.queue, attempt.expires, attempt.began))

    def unwatch(self, attempt: Attempt) -> None:
        """See ``Keeper.unwatch``."""
        self._send(Ended(attempt.jid))

    def _changed(self, attempt: Attempt) -> None:
        self._send(
            Changed(
                attempt.jid,
                attempt.deadline,
                attempt.retries_at_limit,
                attempt.progress,
                attempt.settling,
            )
        )

    def _send(self, message: Any) -> None:
        try:
            with self._lock:
                self._connection.send(message)
        except OSError:  # nobody keeps the locks any more
            os._exit(ExitCode.BROKEN)


def live(
    plan: Plan, name: str, delay: float, connection: Connection, others: Sequence[Connection]
) -> NoReturn:
    """
    Be a child, until an order or a limit ends it.

    Args:
        name: under which jobs are popped.
        delay: seconds to wait first, so that not all begin at once.
        connection: to the parent.
        others: the parent's ends of connections to other children, which a fork has copied.
    """
    code = ExitCode.BROKEN
    try:
        _settle_in(plan, others)
        connection.poll(delay)  # an order ends the wait
        with plan.connect(name) as client:
            worker = SerialWorker(client, plan.settings, _Link(connection))
            _obey(worker, connection)
            code = worker.run()
    except QlessError as error:
        text, fields = "child %s ends: %s", {"worker": name}
        logger.error(text, name, error, extra=fields)  # noqa: TRY400 - no fault of ours
    except Exception:
        logger.exception("child %s broke", name, extra={"worker": name})
    except SystemExit:
        pass
    finally:
        # neither threads that a job has left behind nor exit handlers of the parent's keep it
        logging.shutdown()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def _settle_in(plan: Plan, others: Sequence[Connection]) -> None:
    lead_group()
    die_with(plan.parent)
    for other in others:
        other.close()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGINT, signal.SIGUSR1, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCONT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # until there is a worker to be told
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    faulthandler.register(signal.SIGUSR2, file=sys.__stderr__ or 2, all_threads=True)
    if plan.before is not None:
        plan.before()


def _obey(worker: SerialWorker, connection: Connection) -> None:
    """Take orders: from the parent; and from whoever signals this child alone, to let it finish."""
    for number in (signal.SIGTERM, signal.SIGQUIT):
        signal.signal(number, lambda *_: worker.control.finish())

    def take() -> None:
        try:
            order = ORDERS[connection.recv()]
        except (EOFError, OSError):
            os._exit(ExitCode.BROKEN)  # the parent is gone, and with it the locks
        order(worker.control)
        worker.pass_on_orders()

    def listen() -> None:
        steady = Steady("the hearing of orders")
        while True:
            with steady:
                take()

    while connection.poll():  # what was ordered before there was anybody to hear it
        take()
    threading.Thread(target=listen, name="pyqless-orders", daemon=True).start()
