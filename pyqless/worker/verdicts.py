# SPDX-License-Identifier: MIT
"""How a run of a job has ended, and the transition that says so to the store."""

from __future__ import annotations

import logging
import re
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

from pyqless.client.requests import jobs as requests
from pyqless.client.views import JobView
from pyqless.core import failures, releasing
from pyqless.core.effects import Factory, Transition
from pyqless.core.transaction import Transaction
from pyqless.core.waking import announced
from pyqless.core.working import Turn
from pyqless.errors import QlessError
from pyqless.worker.attempts import Attempt
from pyqless.worker.stopping import GIVEN_BACK, StopReason

__all__ = [
    "Again",
    "Done",
    "Failed",
    "Left",
    "Stopped",
    "Untold",
    "Verdict",
    "giving_back",
    "group_name",
    "request",
    "turn",
]

logger = logging.getLogger("pyqless.worker")

#: how long the name of a group may be, characters: some bytes each, and the store takes 512
GROUP_LIMIT: Final = 120


class Done(NamedTuple):
    """It came through; ``value`` is what the code returned."""

    value: Any


class Again(NamedTuple):
    """It is to be tried again, at the price of a retry."""

    delay: float = 0.0
    group: str | None = None
    message: str | None = None


class Failed(NamedTuple):
    """It failed."""

    group: str
    message: str


class Stopped(NamedTuple):
    """It was stopped before its end."""

    reason: StopReason


class Left(NamedTuple):
    """There is nothing to say: its code has ended the run by itself, or was to and did not."""


class Untold(NamedTuple):
    """It has ended, and the store does not hear of it: the job is left to its lock."""

    why: str


Verdict: TypeAlias = Done | Again | Failed | Stopped | Left | Untold


def request(
    verdict: Verdict, job: JobView[Any], attempt: Attempt, *, keeps_result: bool = False
) -> Factory[Any] | None:
    """
    The transition that ends a run, or None where the store need not be told.

    Raises:
        InvalidArgument: what the job has returned, or what its data has become, cannot be stored.
    """
    match verdict:
        case Done(value):
            complete = requests.complete(job, None, 0, None)
            return _with_result(job, value, complete) if keeps_result else complete
        case Again(delay, group, message):
            named = None if group is None else group_name(group)
            return requests.retry(job, delay, named, message)
        case Failed(group, message):
            return _fail(job, attempt, group_name(group) or "failed", message)
        case Stopped(reason) if reason in GIVEN_BACK:
            return giving_back(attempt.jid, attempt.worker, reason.value)
        case _:
            return None


def giving_back(jid: str, worker: str, why: str, delay: float = 0.0) -> Factory[None]:
    """The transition that gives back a job at no cost, and wakes whoever waits for one; see ``releasing.release``."""
    return announced(partial(releasing.release, jid=jid, worker=worker, why=why, delay=delay))


def turn(
    done: Done, job: JobView[Any], *, keeps_result: bool = False
) -> Factory[tuple[Turn, dict[str, str]]]:
    """
    The transition that ends a run which came through, and takes the next job of its queue.

    Raises:
        InvalidArgument: as ``request``.
    """
    complete = requests.complete_and_pop(job, None, 0, None, None)
    return _with_result(job, done.value, complete) if keeps_result else complete


def group_name(group: str) -> str:
    """A group's name, made fit to be part of a key."""
    return " ".join(group.replace("\0", " ").split())[:GROUP_LIMIT]


def _fail(job: JobView[Any], attempt: Attempt, group: str, message: str) -> Factory[Any]:
    try:
        return requests.fail(job, group, message)
    except Exception:  # noqa: BLE001 - the data is what is wrong, and must not keep the job from failing
        text = message.encode("utf-8", "backslashreplace").decode()
        jid, worker = attempt.jid, attempt.worker
        return partial(failures.fail, jid=jid, worker=worker, group=group, message=text, data=None)


def _with_result(job: JobView[Any], value: Any, complete: Factory[Any]) -> Factory[Any]:
    """
    Enter the result into the job's history in the same transaction: it lives as long as the job is kept.

    One that cannot be written is left out: what the job has done is done, and would not be undone by a failure.
    """
    try:
        note = requests.log(job, "result", {"value": value})
    except Exception as error:  # noqa: BLE001 - the client's encoder is not ours
        _leave_out(job, error)
        return complete

    def begin(tx: Transaction) -> Transition[Any]:
        yield from note(tx)
        return (yield from complete(tx))

    return begin


def _leave_out(job: JobView[Any], error: Exception) -> None:
    names = {"klass": job.klass_name, "queue": job.queue_name, "worker": job.acting_worker}
    why = re.sub(r"^data(\['value'\])?", "result", str(error))
    logger.error(
        "job %s (%s) is complete, but its result is left out: %s",
        job.jid,
        job.klass_name,
        why,
        exc_info=None if isinstance(error, QlessError) else error,
        extra={"jid": job.jid, **names},
    )
