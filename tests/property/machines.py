# SPDX-License-Identifier: MIT
"""
A machine that sends calls to cores side by side and looks at the store after each.

The cores must agree, the invariants of the rules must hold, and so must what one call alone may do.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, cast

import pytest
from hypothesis import settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

from pyqless.conformance import Call, Core, Outcome, observe
from pyqless.errors import StoreCorrupted
from tests.property import strategies
from tests.property.invariants import INVARIANTS, Past
from tests.property.store import Place, Store, text_of

__all__ = ["RulesMachine", "explore", "moment_of"]

#: Hypothesis remembers every example of a round, which takes some 0.3 MB each
ROUND: Final = 1000

#: those that look and change nothing, whatever their arguments
LOOKS: Final = frozenset(
    ("get", "multiget", "recur.get", "length", "stats", "failed", "config.get")
)
#: those that come upon jobs that they do not name, damaged ones among them
MEETINGS: Final = frozenset(("pop", "peek", "queues", "jobs", "multiget", "track", "unfail"))

#: what is published when a tracked job comes into a state
EVENTS: Final = {"running": "popped", "complete": "completed", "failed": "failed"}


def explore(machine: Callable[[], RulesMachine], *, steps: int = 40, share: float = 1) -> None:
    """
    Run machines with the settings of the profile.

    Args:
        steps: how many calls one of them makes at most.
        share: of the profile's number of examples.
    """
    left = max(round(settings().max_examples * share), 1)
    while left > 0:
        run_state_machine_as_test(
            cast("type[RulesMachine]", machine),
            settings=settings(
                max_examples=min(left, ROUND), stateful_step_count=steps, report_multiple_bugs=False
            ),
        )
        left -= ROUND


def moment_of(call: Call) -> float | None:
    """The moment of a call, Unix time in seconds, or None."""
    for read in (float, float.fromhex):
        try:
            moment = read(call[1])
        except (IndexError, ValueError):
            continue
        return moment if math.isfinite(moment) else None
    return None


class RulesMachine(RuleBasedStateMachine):
    """
    Any calls at all.

    Args:
        cores: the first is looked at, the others must do the same.
    """

    repertoire: tuple[str, ...] = ()

    def __init__(self, *cores: Core) -> None:
        super().__init__()
        self.cores = cores
        for core in cores:
            core.flush()
            core.record()
        self.now = strategies.START
        self.before = self.store = Store({})
        self.past = Past()

    @initialize(repertoire=strategies.repertoires(), settings=strategies.first_settings())
    def begin(self, repertoire: tuple[str, ...], settings: dict[str, str]) -> None:
        self.repertoire = repertoire
        for name, value in settings.items():
            self.carry_out(("config.set", f"{self.now:.0f}", name, value))

    @rule(call=strategies.calls())
    def call(self, call: Call | None) -> None:
        if call is not None:
            self.carry_out(call)

    def carry_out(self, call: Call) -> None:
        """Send a call unless it is none of this machine's, and look at what it has done."""
        if self.leaves_out(call):
            return
        outcome = self.send(call)
        if outcome is None:
            return
        self.before, self.store = self.store, Store(outcome.state)
        self.note(call, outcome)
        self.check(call, outcome)

    # -- for machines that do less, or compare otherwise ------------------------------------------

    def leaves_out(self, call: Call) -> bool:
        """Whether a call is none of this machine's."""
        return False

    def send(self, call: Call) -> Outcome | None:
        """Let the cores carry out a call, and make sure that they agree; None: it does not count."""
        outcome, *others = [observe(core, call) for core in self.cores]
        for core, other in zip(self.cores[1:], others, strict=True):
            if other.error != outcome.error:
                self.check_words(core, call)
            assert other.reply == outcome.reply
            assert other.messages == outcome.messages
            assert other.state == outcome.state
        return outcome

    def note(self, call: Call, outcome: Outcome) -> None:
        """Keep what later checks have to know."""
        moment = moment_of(call)
        if moment is not None and abs(moment - self.now) < strategies.START / 2:
            self.now = moment  # one of another age is one client's fault
        self._note_overwritten()
        if call[:1] == ("tag",) and outcome.error is None:
            self._note_miscounted(*call[2:])

    def _note_overwritten(self) -> None:
        for jid, fields in self.store.recurring.items():
            first = int(self.before.recurring.get(jid, {"count": "0"})["count"]) + 1
            made = {f"{jid}-{number}" for number in range(first, int(fields["count"]) + 1)}
            for child in made & self.before.jobs.keys():
                self.past.overwritten.add(child)
                self.past.miscounted |= set(map(text_of, self.before.tags(child)))

    def _note_miscounted(self, verb: str = "", jid: str = "", *tags: str) -> None:
        """``add`` counts a tag that is there, ``remove`` one that is not, and one named twice twice."""
        if verb in ("add", "remove"):
            borne, named = Counter(self.before.tags(jid)), Counter(tags)
            fair = int(verb == "remove")
            self.past.miscounted |= {tag for tag in tags if (borne[tag], named[tag]) != (fair, 1)}

    # -- what must hold ---------------------------------------------------------------------------

    def check(self, call: Call, outcome: Outcome) -> None:
        """What holds of the store, and of one call by what was there before and is there after it."""
        for invariant in INVARIANTS:
            invariant(self.store, self.past)
        if outcome.error is not None or call[0] in LOOKS:
            assert outcome.state == self.before.snapshot
            assert outcome.messages == []
        if outcome.error is None:
            self.check_events(outcome)
            if call[0] == "pop":
                self.check_order(call[2], json.loads(str(outcome.reply)))
        elif call and call[0] in MEETINGS:
            self.check_fault(call)

    def check_events(self, outcome: Outcome) -> None:
        """Who tracks a job is told what becomes of it."""
        for jid in self.before.tracked.keys() & self.before.jobs.keys():
            event = self._event(self.before.jobs[jid], self.store.jobs.get(jid))
            if event is not None:
                assert any((f"ql:{name}", jid) in outcome.messages for name in event.split())

    def _event(self, old: dict[str, str], new: dict[str, str] | None) -> str | None:
        if new is None:
            # deleted as too old, or as soon as it was complete; the core says nothing of the former
            return None if old["state"] == "complete" else "canceled completed"
        changed = (old["state"], old["worker"]) != (new["state"], new["worker"])
        return EVENTS.get(new["state"]) if changed else None

    def check_order(self, queue: str, popped: Any) -> None:
        """Jobs are handed out from the top; of equal scores the greater jid goes first."""
        work, locks = Place(queue, "work"), Place(queue, "locks")
        before, after = (store.standing.get(work, {}) for store in (self.before, self.store))
        stood = before.keys() - after.keys() - self.before.standing.get(locks, {}).keys()
        taken = [
            (before[job["jid"]], job["jid"].encode()) for job in popped or () if job["jid"] in stood
        ]
        left = [(score, jid.encode()) for jid, score in after.items() if before.get(jid) == score]
        assert taken == sorted(taken, reverse=True)
        assert not taken or not left or taken[-1] > max(left)

    def check_fault(self, call: Call) -> None:
        """A damaged job stops nobody who comes upon it."""
        assert not isinstance(fault_of(self.cores[0], call), StoreCorrupted)

    def check_words(self, core: Core, call: Call) -> None:
        """A store may tell in words of its own what is wrong with a key, and nothing else."""
        fault, other = (fault_of(each, call) for each in (self.cores[0], core))
        assert isinstance(fault, StoreCorrupted)
        assert isinstance(other, StoreCorrupted)
        assert (other.argument, other.value) == (fault.argument, fault.value)


def fault_of(core: Core, call: Call) -> BaseException | None:
    """Why a call fails; it has changed nothing, so it can be sent again to see."""
    with pytest.raises(core.error) as caught:
        core.call(*call)
    return caught.value.__cause__
