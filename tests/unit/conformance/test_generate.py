# SPDX-License-Identifier: MIT
"""Generated calls are the same for the same seed, and of every kind."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import Final

import pytest

from pyqless.conformance import Target
from pyqless.conformance.calls import SETTINGS
from pyqless.conformance.generate import Generator, generate
from pyqless.conformance.protocol import Call
from pyqless.core.commands import COMMANDS
from pyqless.core.lua import to_number

SEEDS: Final = 60


@pytest.fixture(scope="module")
def calls() -> list[Call]:
    return [call for seed in range(SEEDS) for call in generate(seed, 150)]


def test_a_seed_names_a_sequence() -> None:
    assert list(generate(3, 300)) == list(generate(3, 300))
    assert list(generate(3, 300)) != list(generate(4, 300))
    assert list(generate(3, 100)) == list(generate(3, 300))[:100]


def test_every_command_comes_up(calls: list[Call]) -> None:
    drawn = Counter(call[0] for call in calls if call)
    assert COMMANDS.keys() <= drawn.keys()
    assert min(drawn[name] for name in COMMANDS) > 10
    assert drawn["nosuch"]


def test_there_are_calls_without_all_that_they_need(calls: list[Call]) -> None:
    assert {0, 1, 2} <= {len(call) for call in calls}


def test_every_command_succeeds_and_is_refused() -> None:
    succeeded: set[str] = set()
    refused: set[str] = set()
    for seed in range(SEEDS):
        generator = Generator(seed)
        with Target("memory://") as target:
            for _ in range(150):
                call = generator.next()
                try:
                    generator.learn(call, target.call(*call))
                    succeeded.add(call[0])
                except target.error:
                    refused.update(call[:1])
    assert succeeded == COMMANDS.keys()
    needing_nothing = {"config.get", "pause", "unpause", "queue.forget", "worker.deregister"}
    assert refused >= COMMANDS.keys() - needing_nothing


def test_what_a_pop_gave_out_is_completed() -> None:
    """job.lua: complete wants the job's own worker and queue."""
    completed = 0
    for seed in range(10):
        generator = Generator(seed)
        with Target("memory://") as target:
            for _ in range(150):
                call = generator.next()
                try:
                    generator.learn(call, reply := target.call(*call))
                except target.error:
                    continue
                completed += call[0] == "complete" and reply is not None
    assert completed > 20


def test_the_clock_runs_on_stands_and_goes_back(calls: list[Call]) -> None:
    moments = [to_number(call[1]) for call in calls if len(call) > 1]
    steps = [
        after - before
        for before, after in pairwise(moments)
        if before is not None and after is not None
    ]
    assert any(step == 0 for step in steps)
    assert any(-60 < step < 0 for step in steps)
    assert any(0 < step < 1 for step in steps)
    assert any(86400 < step < 1e6 for step in steps)
    assert any(moment and moment % 1 for moment in moments)


def test_no_number_is_infinite(calls: list[Call]) -> None:
    """These rules refuse what is not finite, everywhere, and the Lua core does not."""
    numbers = [to_number(word) for call in calls for word in call]
    assert all(math.isfinite(number) for number in numbers if number is not None)


def test_no_jid_lies_on_a_key_of_another_job(calls: list[Call]) -> None:
    """These rules refuse such a jid, and the Lua core does not."""
    ends = ("-history", "-dependents", "-dependencies")
    words = {word for call in calls for word in call} - SETTINGS.keys()
    assert not any(word.endswith(ends) for word in words)
