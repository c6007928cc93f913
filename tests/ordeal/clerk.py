# SPDX-License-Identifier: MIT
"""Clients that lead jobs through their lives, and keep account of what each call was told."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple

from pyqless import Client, Job
from pyqless.client.options import OnConflict
from pyqless.errors import ConflictError, OutcomeUnknown, RequestError, StoreUnavailable
from pyqless.storage.redis import Policy
from tests.ordeal.book import Entry, Event, SigningStorage, SigningTasks
from tests.ordeal.faults import AWAY, TIMEOUT
from tests.ordeal.gate import PATIENCE

__all__ = ["GROUP", "QUEUES", "RETRIES", "Account", "Call", "Orders", "Told", "live"]

QUEUES: Final = ("left", "right")
GROUP: Final = "group"
RETRIES: Final = 99

#: few tries, so that many calls are reported as not done, and little patience, so that some outcomes stay unknown
_POLICY: Final = Policy(attempts=2, deadline=AWAY / 2, cap=0.01)

#: ``done``: it returned. ``empty``: there was no job. ``refused``: the rules would not.
#: ``undone``: the store was not to be had, or others were faster. ``unknown``: ``OutcomeUnknown``.
Told = Literal["done", "empty", "refused", "undone", "unknown"]


class Call(NamedTuple):
    """What a call was told."""

    number: int
    event: Event
    #: empty where it is not known
    jid: str
    told: Told


class Orders(NamedTuple):
    """What a client is to do."""

    url: str
    client: int
    seed: int
    #: how many transactions it shall be told that are done
    enough: int


class Account(NamedTuple):
    """What a client was told."""

    calls: list[Call]
    recoveries: int


def live(orders: Orders) -> Account:
    """Lead jobs through their lives until enough is done; every fourth client by asyncio."""
    kind = SigningTasks if orders.client % 4 == 3 else SigningStorage
    storage = kind(orders.url, policy=_POLICY, socket_timeout=TIMEOUT)
    with Client("memory://", worker_name=f"w{orders.client}") as client:
        client.storage = storage
        clerk = _Clerk(client, storage, orders)
        while clerk.done < orders.enough:
            clerk.turn()
        return Account(clerk.calls, storage.metrics.recoveries)


class _Clerk:
    """A client that does one thing after the other, each until it is sure of it."""

    def __init__(self, client: Client, storage: SigningStorage, orders: Orders) -> None:
        self._client = client
        self._storage = storage
        self._first = orders.client * 10**6
        self._drawn = random.Random(f"{orders.seed}/{orders.client}")
        self._heard_at = time.monotonic()
        self.done = 0
        self.calls: list[Call] = []

    def turn(self) -> None:
        """Put a job, take one, and do something with it."""
        self._put()
        job = self._take()
        if job is not None:
            for _ in range(self._drawn.randrange(3)):
                self._settle(job, "heartbeat")
            self._settle(job, self._drawn.choice(["complete", "complete", "fail", "retry"]))

    # -- until it is sure of it -------------------------------------------------------------------

    def _put(self) -> None:
        """Put a job under a jid to look for when in doubt; or under none, for which nobody can look."""
        queue = self._client.queues[self._drawn.choice(QUEUES)]
        jid = self._drawn.choice([f"J{self._first + len(self.calls)}", None])
        conflict: OnConflict = "replace" if jid is None else "error"

        def put(number: int) -> str:
            data = {"number": number}
            return queue.put("ordeal", data, jid=jid, retries=RETRIES, on_conflict=conflict)

        while (told := self._call("put", jid or "", put)[0]) not in {"done", "refused"}:
            if told == "unknown" and (jid is None or self._see(jid)):
                return

    def _take(self) -> Job | None:
        """Pop a job; when in doubt, look which one this worker has in hand."""
        queue = self._client.queues[self._drawn.choice(QUEUES)]
        told, popped = self._call("pop", "", lambda _: queue.pop())
        if told == "unknown":
            held = self._look(lambda: self._client.workers[self._client.worker_name].jobs)
            return self._see(held[0]) if held else None
        job: Job | None = popped
        return job

    def _settle(self, job: Job, event: Event) -> None:
        """Do something with a job; when in doubt, look at it, and do it again unless it is done."""
        acts: dict[Event, Callable[[], object]] = {
            "heartbeat": job.heartbeat,
            "complete": job.complete,
            "fail": lambda: job.fail(GROUP, "message"),
            "retry": job.retry,
        }

        def act(number: int) -> object:
            job.data["number"] = number
            return acts[event]()

        while (told := self._call(event, job.jid, act)[0]) not in {"done", "refused"}:
            if told == "unknown" and not self._holds(job.jid):
                return

    def _call(self, event: Event, jid: str, act: Callable[[int], Any]) -> tuple[Told, Any]:
        """Make a call under a number of its own, and write down what it is told."""
        number = self._first + len(self.calls)
        self._storage.signature = Entry(number, event, jid, self._client.worker_name)
        told, value = self._hear(lambda: act(number))
        self._storage.signature = None
        if event == "pop" and told == "done":
            told, jid = ("done", value.jid) if value is not None else ("empty", "")
        elif event == "put" and told == "done":
            jid = value
        self.done += told == "done"
        self.calls.append(Call(number, event, jid, told))
        return told, value

    # -- looking ----------------------------------------------------------------------------------

    def _see(self, jid: str) -> Job | None:
        job: Job | None = self._look(lambda: self._client.jobs.get(jid))
        return job

    def _holds(self, jid: str) -> bool:
        job = self._see(jid)
        holder = self._client.worker_name
        return job is not None and (job.state, job.worker_name) == ("running", holder)

    def _look(self, look: Callable[[], Any]) -> Any:
        """Look until the store answers."""
        while (heard := self._hear(look))[0] != "done":
            pass
        return heard[1]

    def _hear(self, act: Callable[[], Any]) -> tuple[Told, Any]:
        """Make a call; gives what it was told, and what it returned."""
        told, value = _told(act)
        now = time.monotonic()
        if told in {"done", "refused"}:
            self._heard_at = now
        assert now < self._heard_at + PATIENCE, "the store does not come back"
        return told, value


def _told(act: Callable[[], Any]) -> tuple[Told, Any]:
    try:
        return "done", act()
    except OutcomeUnknown:
        return "unknown", None
    except (StoreUnavailable, ConflictError):
        return "undone", None
    except RequestError:
        return "refused", None
