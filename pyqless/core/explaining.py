# SPDX-License-Identifier: MIT
"""Why a job is not running: what it waits for, and until when."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from pyqless.core.circles import find_circle
from pyqless.core.effects import Transition
from pyqless.core.fields import Fields
from pyqless.core.settings import Settings
from pyqless.core.transaction import Transaction
from pyqless.core.wording import counted, day_time, distance, listed
from pyqless.errors import JobNotFound

__all__ = ["Explanation", "Reason", "explain", "summary_of"]

#: a frame of a traceback; in that of a group of exceptions, lines begin with a bar
_FRAME: Final = re.compile(r'(  \| )?  File "')

#: what keeps a job from running
Reason = Literal[
    "running",
    "stalled",
    "scheduled",
    "depends",
    "paused",
    "limit",
    "waiting",
    "failed",
    "complete",
]


class Explanation(NamedTuple):
    """Why a job is not running."""

    reason: Reason
    #: a sentence for people
    text: str
    #: Unix time at which that ends by itself, seconds, if it does
    until: float | None = None
    #: the jids that it waits for
    depends: tuple[str, ...] = ()
    #: how many jobs of its queue go before it, if it waits
    ahead: int | None = None
    #: jids that wait for each other in a circle, and so for ever, each for the next: it is one of them, or waits for one
    circle: tuple[str, ...] = ()


def explain(tx: Transaction, jid: str) -> Transition[Explanation]:
    """
    Say why a job is not running, as of one instant.

    Raises:
        JobNotFound: there is no such job.
    """
    keys = tx.keys
    (fields,) = yield from tx.snapshot(("HGETALL", keys.job(jid)))
    if not fields:
        raise JobNotFound(f"there is no job {jid!r}", argument="jid", value=jid)
    job = Fields.of(jid, fields)
    queue = fields.get("queue", "")
    limit_name = f"{queue}-max-concurrency"
    texts, paused, running, due, dependencies, score = yield from tx.snapshot(
        Settings.read(keys, [limit_name]),
        ("SISMEMBER", keys.paused, queue),
        ("ZCOUNT", keys.locks(queue), tx.now, "+inf"),
        ("ZSCORE", keys.scheduled(queue), jid),
        ("SMEMBERS", keys.dependencies(jid)),
        ("ZSCORE", keys.work(queue), jid),
    )
    ahead = 0
    if score is not None:
        (at_least,) = yield from tx.snapshot(("ZCOUNT", keys.work(queue), score, "+inf"))
        ahead = max(0, at_least - 1)
    if job.text("state") == "depends":
        return _depends(dependencies, (yield from find_circle(tx, jid, dependencies)))
    settled = _by_state(job, tx.now)
    if settled is not None:
        return settled
    if paused:
        return Explanation("paused", f"queue {queue!r} is paused", ahead=ahead)
    if due is not None and due > tx.now:
        return Explanation("scheduled", f"it is scheduled for {_told(due, tx.now)}", until=due)
    limit = Settings([limit_name], texts).number(limit_name, 0.0)
    if 0 < limit <= running:
        runs = counted(running, "job", "jobs")
        text = f"queue {queue!r} runs {runs}, and may not run more than {limit:g}"
        return Explanation("limit", text, ahead=ahead)
    turn = counted(ahead, "job goes", "jobs go") if ahead else "no job goes"
    return Explanation("waiting", f"it waits for a worker; {turn} before it", ahead=ahead)


def _told(moment: float, now: float) -> str:
    return f"{day_time(moment)}, {distance(moment, now)}"


def _depends(dependencies: set[str], circle: tuple[str, ...]) -> Explanation:
    waits = tuple(sorted(dependencies))
    text = f"it waits for {listed(waits)}"
    if circle:
        each = f"{listed(circle)} wait for each other in a circle"
        text = f"{text}, for ever: {each if circle[1:] else f'{circle[0]} waits for itself'}"
    return Explanation("depends", text, depends=waits, circle=circle)


def _by_state(job: Fields, now: float) -> Explanation | None:
    match job.text("state"):
        case "running":
            return _running(job, now)
        case "failed":
            return _failed(job)
        case "complete":
            return Explanation("complete", "it is complete")
        case _:
            return None


def _running(job: Fields, now: float) -> Explanation:
    worker, expires = job.text("worker"), job.number("expires")
    if expires > now:
        text = f"it is running: locked by {worker!r} until {_told(expires, now)}"
        return Explanation("running", text, until=expires)
    text = f"its lock by {worker!r} expired at {_told(expires, now)}; the next pop deals with it"
    return Explanation("stalled", text)


def _failed(job: Fields) -> Explanation:
    group, message = job.members("failure", "group", "message")
    return Explanation("failed", f"it failed as {group!r}: {summary_of(message)}")


def summary_of(message: str) -> str:
    """Of a traceback the line with the exception, which stands behind the last frame; of other messages the first one."""
    lines = [line for line in message.splitlines() if line.strip()] or [""]
    frames = [
        (at, found[1] or "") for at, line in enumerate(lines) if (found := _FRAME.match(line))
    ]
    if not frames:
        return lines[0].strip()
    last, bar = frames[-1]
    behind = (line.removeprefix(bar) for line in lines[last + 1 :] if line.startswith(bar))
    return next((line for line in behind if line[:1].strip()), lines[0].strip())
