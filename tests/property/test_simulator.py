# SPDX-License-Identifier: MIT
"""Simulated clients, networks and stores: whatever goes wrong, the rules hold; and what would not hold shows."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from typing import Final

import pytest

from pyqless.core import (
    cancelling,
    expiry,
    failures,
    letting_go,
    popping_many,
    queues,
    timing_out,
)
from pyqless.testing.simulator import Attempt, Faults, Link, Run, Scenario, simulate
from tests.property.removals import GUARDS, SAFEGUARDS, NoWait, OldSizes, Presuming, Removal

#: how many runs; each takes some ten milliseconds
RUNS: Final = int(os.environ.get("PYQLESS_RUNS", "1500"))
SOAK: Final = 100_000

#: how many tests they are divided into, so that several processes can share them
PARTS: Final = 8

#: how many runs it takes at most until the lack of a guard shows
ENOUGH: Final = 300


#: many that wait for one, many that are handed out, fail, or go at once; and clients that are killed
CHAINS: Final = Scenario(
    clients=4,
    weights={
        "put": 4,
        "pop q ME 3": 4,
        "turn": 2,
        "complete": 5,
        "fail": 3,
        "unfail": 3,
        "cancel": 3,
        "put ME q a klass {} 0": 2,
        **{f"""put ME q {child} klass {{}} 0 depends '["a"]'""": 1 for child in "cdef"},
    },
    given=(
        ("config.set", "grace-period", "0"),
        ("config.set", "heartbeat", "6"),
        ("config.set", "jobs-history-count", "1"),
        ("put", "ME", "q", "a", "klass", "{}", "0"),
        *(("put", "ME", "q", each, "klass", "{}", "0", "depends", '["a"]') for each in "cdef"),
    ),
    faults=Faults(crash=0.03, lost_reply=0.05, slow=0.02, torn=0.1, cut=0.02),
)


def run_all(seeds: range) -> None:
    for seed in seeds:
        run = simulate(seed)
        if run.faults:
            pytest.fail(str(run), pytrace=False)


@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_is_wrong(part: int) -> None:
    run_all(range(part, RUNS, PARTS))


@pytest.mark.soak
@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_is_wrong_for_long(part: int) -> None:
    run_all(range(RUNS + part, RUNS + SOAK, PARTS))


@pytest.mark.parametrize("removal", [*GUARDS, *SAFEGUARDS], ids=lambda removal: removal.title)
def test_what_is_taken_away_is_missed(removal: Removal) -> None:
    scenario = removal.scenario()
    assert not simulate(0, scenario).faults
    found = (
        simulate(seed, scenario, unguarded=removal.unguarded, link=removal.link).faults
        for seed in range(ENOUGH)
    )
    assert any(found), f"nobody misses it in {ENOUGH} runs"


def test_chains_break_at_any_link(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a transaction deals with one job at a time, little work makes long chains, and clients are killed in them."""
    for module in (letting_go, cancelling, timing_out, failures, popping_many, expiry, queues):
        monkeypatch.setattr(module, "MANY", 1)
    monkeypatch.setattr(expiry, "FEW", 1)
    links: Counter[str] = Counter()
    for seed in range(100):
        run = simulate(seed, CHAINS)
        assert not run.faults, run
        links.update(each.call.name for each in attempts_of(run) if each.link)
    assert links.keys() >= {"pop", "cancel", "complete", "turn"}


def test_a_completed_job_that_is_put_again_in_the_middle_of_a_turn_stays() -> None:
    """Its hash may read as before, and only its place tells that it is completed no more."""
    scenario = Scenario(
        clients=4,
        calls=12,
        weights={"turn": 6, "put": 6, "pop q ME 1": 2},
        given=(
            ("config.set", "grace-period", "0"),
            ("config.set", "heartbeat", "8"),
            ("config.set", "jobs-history-count", "1"),
        ),
    )
    for seed in range(120):
        run = simulate(seed, scenario)
        assert not run.faults, run


def attempts_of(run: Run) -> list[Attempt]:
    return [attempt for call in run.history.calls for attempt in call.attempts]


def test_runs_are_about_something() -> None:
    """Most calls do something, conflicts occur, and so does every fault."""
    runs = [simulate(seed) for seed in range(100)]
    calls = [call for run in runs for call in run.history.calls]
    commits = sum(len(attempt.commits) for run in runs for attempt in attempts_of(run))
    assert commits > len(calls) / 2
    assert sum(len(call.attempts) for call in calls) > len(calls) * 1.1
    assert {type(call.error).__name__ for call in calls} >= {
        "JobLost",
        "NotReplicated",
        "QueueFull",
        "StoreUnavailable",
    }
    assert any(call.end is None for call in calls), "somebody is killed in the middle of a call"


def test_turns_are_taken_and_change_nothing() -> None:
    """Tokens are lost with those who are killed, and with broken connections; jobs are not."""
    faults = Faults(crash=0.02, lost_reply=0.05, cut=0.03, vanishing=0.1)
    weights = {"put": 3, "pop": 6, "work": 3}
    scenario = Scenario(clients=4, weights=weights, faults=faults, takes_turns=True)
    waited = 0
    for seed in range(60):
        run = simulate(seed, scenario)
        assert not run.faults, run
        waited += sum(attempt.first_now != attempt.tx.now for attempt in attempts_of(run))
    assert waited > 60


def test_what_recurring_jobs_make_is_expected_and_changes_nothing() -> None:
    """Each client remembers for itself what comes next, while others make it, or move its parent."""
    updates = ("recur.update R interval 2", "recur.update S queue other")
    scenario = Scenario(
        clients=4,
        calls=12,
        weights={"pop": 9, "complete": 5, "turn": 2, "put": 2}
        | dict.fromkeys(("peek", "recur", *updates), 1),
        given=(
            ("recur", "q", "R", "klass", "{}", "interval", "2", "0"),
            ("recur", "q", "S", "klass", "{}", "interval", "3", "0"),
            ("config.set", "grace-period", "0"),
        ),
        faults=Faults(crash=0.02, lost_reply=0.05, cut=0.03),
        overwrites=True,
    )
    attempts = []
    for seed in range(30):
        run = simulate(seed, scenario)
        assert not run.faults, run
        attempts += [each for each in attempts_of(run) if each.call.name == "pop" and each.is_over]
    expected = [each for each in attempts if any(":r:" in read[1] for read in each.stale[0][0])]
    right = [each for each in expected if len(each.stale) == 1 and counts_up(each)]
    wrong = [each for each in expected if not counts_up(each)]
    assert min(len(right), len(wrong)) > 30


def counts_up(attempt: Attempt) -> bool:
    """Whether a recurring job makes another."""
    return any(write[0] == "HINCRBY" and ":r:" in write[1] for write in attempt.writes)


def test_the_stores_clock_counts_where_it_is_asked_to() -> None:
    scenario = Scenario(faults=Faults(jump=0.5, cut=0.02, lost_reply=0.05), store_clock=True)
    for seed in range(50):
        run = simulate(seed, scenario)
        assert not run.faults
        attempts = [each for call in run.history.calls for each in call.attempts if each.link == 0]
        assert max(abs(each.tx.now - each.moment) for each in attempts) < 1


def test_a_seed_gives_the_same_run_everywhere() -> None:
    """Also where sets are in another order."""
    outputs = {
        subprocess.run(
            [sys.executable, "-m", "pyqless.testing.simulator", *map(str, range(20))],
            env=os.environ | {"PYTHONHASHSEED": number},
            capture_output=True,
            check=True,
        ).stdout
        for number in ("1", "2")
    }
    assert len(outputs) == 1
    assert b"seed 19: no fault" in outputs.pop()


def test_many_runs_end_in_one_line() -> None:
    command = (sys.executable, "-m", "pyqless.testing.simulator", "3-7")
    found = subprocess.run(command, capture_output=True, check=True)
    assert found.stdout.decode() == "5 runs, 0 with faults\n"


def test_a_fault_says_how_to_see_it_again() -> None:
    removal = SAFEGUARDS[0]
    runs = (simulate(seed, removal.scenario(), link=removal.link) for seed in range(ENOUGH))
    run = next(run for run in runs if run.faults)
    assert str(run).endswith(f"(python -m pyqless.testing.simulator {run.seed})")


@pytest.mark.parametrize(
    ("link", "text"),
    [(Presuming, "jobs waited all the time"), (OldSizes, "there was room all the time")],
)
def test_what_nobody_excuses_is_seen_without_the_rules(link: type[Link], text: str) -> None:
    (removal,) = (each for each in SAFEGUARDS if each.link is link)
    runs = (simulate(seed, removal.scenario(), link=link) for seed in range(ENOUGH))
    assert any(text in fault for run in runs for fault in run.faults)


@pytest.mark.parametrize("vanishing", [0.0, 1.0])
def test_a_watched_key_that_vanishes_voids_the_commit(vanishing: float) -> None:
    """Nobody else is there, so that nothing else could."""
    scenario = Scenario(
        clients=1,
        calls=12,
        weights={"put ME q a klass {} 0": 1, "log a text": 4},
        faults=Faults(vanishing=vanishing, slow=0.2),
    )
    runs = [simulate(seed, scenario) for seed in range(30)]
    assert not any(run.faults for run in runs)
    calls = [call for run in runs for call in run.history.calls]
    assert any(len(call.attempts) > 1 for call in calls) == (vanishing > 0)


def test_the_outcome_is_unknown_where_the_fence_has_vanished() -> None:
    faults = Faults(vanishing=1.0, lost_reply=0.3)
    scenario = Scenario(weights={"put new": 4, "pop": 4, "complete": 4}, faults=faults)
    runs = [simulate(seed, scenario) for seed in range(20)]
    assert not any(run.faults for run in runs)
    errors = {type(call.error).__name__ for run in runs for call in run.history.calls}
    assert "OutcomeUnknown" in errors


def test_acknowledged_calls_outlive_a_restart_with_all_data() -> None:
    scenario = Scenario(clients=3, calls=10, faults=Faults(restart=1.0))
    for seed in range(50):
        run = simulate(seed, scenario)
        assert not run.faults
        acknowledged = [call for call in run.history.calls if call.end is not None]
        kept = {id(commit.attempt.call) for commit in run.history.commits}
        wrote = [call for call in acknowledged if call.error is None and call.attempts[-1].writes]
        assert {id(call) for call in wrote} <= kept


#: masters that others have taken the place of go on, for those who have not noticed
SPLIT: Final = Scenario(
    calls=10, faults=Faults(failover=1.0, lost_reply=0.02), replicas=2, is_durable=True
)


def test_what_only_a_deposed_master_has_is_not_acknowledged() -> None:
    told: Counter[str] = Counter()
    for seed in range(60):
        run = simulate(seed, SPLIT)
        assert not run.faults, run
        for call in run.history.calls:
            if call.end is not None and call.attempts[-1].lost:
                told[type(call.error).__name__] += 1
    assert told["NotReplicated"] > 60
    assert told.keys() <= {"NotReplicated", "StoreUnavailable"}


def test_without_waiting_for_replicas_it_is() -> None:
    runs = (simulate(seed, SPLIT, link=NoWait) for seed in range(ENOUGH))
    text = "acknowledged by a master that was none any more"
    assert any(text in fault for run in runs for fault in run.faults)
