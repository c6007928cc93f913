# SPDX-License-Identifier: MIT
"""
A job stands in exactly the place that its state says, and locks agree with the lists of their holders.

The Lua rules themselves break this by some calls; these are left out, each for its reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Final

import pytest

from pyqless.conformance import Call, Outcome, Target
from tests.property.machines import RulesMachine, explore, moment_of
from tests.property.store import Place, Store
from tests.property.strategies import START

DAY: Final = 86400.0
YEAR: Final = 365 * DAY

#: the set of its queue in which a job in a state stands
KIND: Final = {
    "waiting": "work",
    "scheduled": "scheduled",
    "depends": "depends",
    "running": "locks",
}


@pytest.mark.timeout(3600)  # to make a failure small takes minutes
def test_jobs_stand_where_they_should() -> None:
    with Target("memory://") as core:
        explore(lambda: PlacesMachine(core), share=3)


class PlacesMachine(RulesMachine):
    """All calls but those that are left out."""

    def __init__(self, core: Target) -> None:
        super().__init__(core)
        #: every jid that was ever a recurring job's
        self.recurred: set[str] = set()

    def leaves_out(self, call: Call) -> bool:
        return any(is_one(self, call) for is_one in LEFT_OUT)

    def note(self, call: Call, outcome: Outcome) -> None:
        super().note(call, outcome)
        self.recurred |= self.store.recurring.keys()

    def check(self, call: Call, outcome: Outcome) -> None:
        super().check(call, outcome)
        self.check_lost_locks(call, outcome)
        check_places(self.store)
        check_failed(self.store)
        check_completed(self.store)
        check_holders(self.store)
        check_dependencies(self.store)

    def check_lost_locks(self, call: Call, outcome: Outcome) -> None:
        """A worker is told, once, of each lock that it loses by a call of another."""
        for jid, worker, _ in self.before.running:
            new = self.store.jobs.get(jid, {})
            told = "grace" in self.before.jobs[jid]
            lost = new.get("worker") != worker or "grace" in new
            if lost and not told and worker not in call:
                messages = [
                    data for channel, data in outcome.messages if channel == f"ql:w:{worker}"
                ]
                assert [json.loads(data)["jid"] for data in messages].count(jid) == 1


# -- what holds -----------------------------------------------------------------------------------


def check_places(store: Store) -> None:
    assert store.places == {
        jid: [Place(fields["queue"], KIND[fields["state"]])]
        for jid, fields in store.jobs.items()
        if fields["state"] in KIND
    }


def check_failed(store: Store) -> None:
    listed = [(group, jid) for group, jids in store.groups.items() for jid in jids]
    failed = [jid for jid, fields in store.jobs.items() if fields["state"] == "failed"]
    assert sorted(listed) == sorted((store.failure(jid), jid) for jid in failed)


def check_completed(store: Store) -> None:
    complete = {jid for jid, fields in store.jobs.items() if fields["state"] == "complete"}
    assert store.completed.keys() == complete


def check_holders(store: Store) -> None:
    """
    A worker's list holds its locks and the moments they expire, and nothing else.

    In the grace period, and after it until the job is handed out again, the lock may be missing.
    """
    held = {
        (worker, jid): store.standing[Place(queue, "locks")][jid]
        for jid, worker, queue in store.running
    }
    listed = {(worker, jid): at for worker, jids in store.owned.items() for jid, at in jids.items()}
    told = {(worker, jid) for worker, jid in held if "grace" in store.jobs[jid]}
    assert held.keys() - told <= listed.keys()
    assert listed == {lock: held.get(lock) for lock in listed}


def check_dependencies(store: Store) -> None:
    """Those in state depends wait for others, no one else does, and all others can still complete."""
    states = {jid: fields["state"] for jid, fields in store.jobs.items()}
    assert store.dependencies.keys() == {jid for jid in states if states[jid] == "depends"}
    for others in store.dependencies.values():
        assert {states.get(other, "gone") for other in others}.isdisjoint({"complete", "gone"})


# -- what is left out -----------------------------------------------------------------------------


def retry_into_another_queue(machine: PlacesMachine, call: Call) -> bool:
    """The job waits in the queue named, but its hash goes on to name the other."""
    match call:
        case ("retry", _, jid, queue, *_):
            return machine.store.jobs.get(jid, {}).get("queue") != queue
    return False


def complete_with_next_and_delay(machine: PlacesMachine, call: Call) -> bool:
    """The job is delayed, but its state is ``waiting``."""
    return call[:1] == ("complete",) and "next" in call and "delay" in call


def timeout(machine: PlacesMachine, call: Call) -> bool:
    """The job stays in the list of the worker that lost it."""
    return call[:1] == ("timeout",)


def recurring_job_made_anew(machine: PlacesMachine, call: Call) -> bool:
    """It counts from 0 again, and writes over the jobs that it made before, wherever they stand."""
    match call:
        case ("recur", _, _, jid, *_):
            return jid in machine.recurred - machine.store.recurring.keys()
    return False


def job_under_the_jid_of_a_run_to_come(machine: PlacesMachine, call: Call) -> bool:
    """The recurring job will write over it likewise."""
    match call:
        case ("put", _, _, _, jid, *_):
            return jid not in machine.store.jobs and re.fullmatch(r".*-\d+", jid) is not None
    return False


def pop_without_a_name(machine: PlacesMachine, call: Call) -> bool:
    """Whoever takes a job from a worker does not look for the list of one whose name is empty."""
    match call:
        case ("pop", _, _, "", *_):
            return True
    return False


def retries_that_cannot_be_counted(machine: PlacesMachine, call: Call) -> bool:
    """The core fails on the job when its lock expires; pyqless puts the lock aside, and that alone."""
    given = [value for name, value in pairwise(call) if name == "retries"]
    return any(value in ("1.5", "1e300") for value in given)


def other_max_worker_age(machine: PlacesMachine, call: Call) -> bool:
    """A worker that is not heard of for so long loses its list, though not its locks."""
    match call:
        case ("config.set", _, "max-worker-age", *_):
            return True
    return False


def workers_after_a_day(machine: PlacesMachine, call: Call) -> bool:
    """So it does by the age that is usual."""
    return call[:1] == ("workers",) and (moment_of(call) or 0) > START + DAY


def clock_going_back(machine: PlacesMachine, call: Call) -> bool:
    """A later lock then expires before an earlier one; to jump ahead by ages is to go back afterwards."""
    moment = moment_of(call)
    return moment is not None and not machine.now <= moment <= machine.now + YEAR


LEFT_OUT: Final[tuple[Callable[[PlacesMachine, Call], bool], ...]] = (
    retry_into_another_queue,
    complete_with_next_and_delay,
    timeout,
    recurring_job_made_anew,
    job_under_the_jid_of_a_run_to_come,
    pop_without_a_name,
    retries_that_cannot_be_counted,
    other_max_worker_age,
    workers_after_a_day,
    clock_going_back,
)
