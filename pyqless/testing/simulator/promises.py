# SPDX-License-Identifier: MIT
"""What is promised of locks, of workers, and of the order of jobs, beyond what one call after the other would do."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pyqless.testing.simulator.history import Attempt, Commit, History
from pyqless.testing.simulator.model import Model

__all__ = ["Order", "forgotten_rightly", "taken_rightly"]


def _handed_out(attempt: Attempt) -> list[str]:
    """The jids that a pop gives to its worker."""
    return [
        write[1].removeprefix("ql:j:")
        for write in attempt.writes
        if write[0] == "HSET" and "expires" in write[2:] and "running" in write[2:]
    ]


def taken_rightly(model: Model, commit: Commit) -> Iterator[str]:
    """No job is handed out while another worker's lock on it is valid."""
    attempt = commit.attempt
    if attempt.call.name not in ("pop", "turn"):
        return
    for jid in _handed_out(attempt):
        (found,) = model.read(("HMGET", f"ql:j:{jid}", "state", "expires"))
        state, expires = found
        if state == "running" and float(expires) > attempt.tx.now:
            yield f"job {jid} is handed out while its lock is valid: {attempt.call}"


def forgotten_rightly(history: History, commit: Commit) -> Iterator[str]:
    """No list of a worker goes with a job in it that it was given meanwhile, when it was not too old."""
    if commit.attempt.call.name != "workers":
        return
    gone = {write[1] for write in commit.writes if write[0] == "DEL"}
    oldest = max(float(write[3]) for write in commit.writes if write[0] == "ZREMRANGEBYSCORE")
    for event in history.events[commit.attempt.begin : commit.number]:
        if isinstance(event, Commit) and event.attempt.tx.now > oldest:
            for write in event.writes:
                if write[0] == "ZADD" and write[1] in gone:
                    yield f"{write[1]} is deleted with {write[3]} in it: {commit.attempt.call}"


class Order:
    """Whether a pop passes over a job of higher priority that was ready before it began."""

    def __init__(self, commit: Commit) -> None:
        self._commit = commit
        self._call = commit.attempt.call
        self._ready: dict[str, float] | None = None

    @classmethod
    def of(cls, history: History) -> list[Order]:
        """One for each pop that was committed."""
        commits = [event for event in history.events if isinstance(event, Commit)]
        return [cls(commit) for commit in commits if commit.attempt.call.name == "pop"]

    def look(self, model: Model, number: int) -> Iterator[str]:
        """Look at the queue before the event of a number."""
        if not self._call.begin <= number <= self._commit.number:
            return
        (pairs,) = model.read(
            ("ZREVRANGE", f"ql:q:{self._call.words[2]}-work", 0, -1, "WITHSCORES")
        )
        work = dict(pairs)
        ready = work if self._ready is None else self._ready
        self._ready = {jid: score for jid, score in ready.items() if work.get(jid) == score}
        if number == self._commit.number:
            yield from self._judge(work, self._ready)

    def _judge(self, work: dict[str, float], ready: dict[str, float]) -> Iterator[str]:
        handed = _handed_out(self._commit.attempt)
        lowest = min((_priority(work[jid]) for jid in handed if jid in work), default=math.inf)
        for jid, score in ready.items():
            if jid not in handed and _priority(score) > lowest:
                yield f"job {jid} of a higher priority is passed over: {self._call}"


def _priority(score: float) -> float:
    """The whole priority that a score among the waiting was made of."""
    return math.ceil(score) if math.isfinite(score) else score
