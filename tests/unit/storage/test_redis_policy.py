# SPDX-License-Identifier: MIT
"""Pauses grow, are random, and come to an end."""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

import pytest

from pyqless.errors import InvalidArgument
from pyqless.storage.redis import AsyncRedisStorage, Policy, RedisStorage
from pyqless.storage.redis.policy import Replication


def test_pauses_double_up_to_the_cap() -> None:
    policy = Policy(attempts=9, base=0.001, cap=0.05, chance=lambda: 1.0)
    pauses = list(policy.pauses(policy.monotonic()))
    assert pauses == [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.05, 0.05]


def test_each_is_a_random_part() -> None:
    chances = iter([0.0, 0.5, 0.25])
    policy = Policy(attempts=4, base=0.008, cap=1, chance=lambda: next(chances))
    assert list(policy.pauses(policy.monotonic())) == [0.0, 0.008, 0.008]


def test_they_differ_from_run_to_run() -> None:
    policy = Policy()
    one, other = (list(policy.pauses(policy.monotonic())) for _ in range(2))
    assert one != other


def test_the_deadline_ends_them() -> None:
    now = 0.0
    policy = Policy(deadline=10, monotonic=lambda: now)
    tries = 1
    now += 4
    for _ in policy.pauses(0.0):
        tries += 1
        now += 4
    assert tries == 3


def test_there_is_one_try_whatever_the_deadline() -> None:
    policy = Policy(deadline=0)
    assert list(policy.pauses(policy.monotonic())) == []


def test_patience_knows_the_deadline_only() -> None:
    now = 0.0
    policy = Policy(attempts=1, deadline=10, monotonic=lambda: now)
    assert list(policy.pauses(0.0)) == []
    assert len(list(islice(policy.patience(0.0), 5000))) == 5000
    pauses = 0
    for _ in policy.patience(0.0):
        pauses += 1
        now += 0.01
    assert 1000 <= pauses <= 1001


@pytest.mark.parametrize("attempts", [0, -1, "5", 1.5, None])
def test_a_policy_without_tries(attempts: Any) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Policy(attempts=attempts)
    assert (caught.value.argument, caught.value.value) == ("attempts", attempts)


@pytest.mark.parametrize("value", ["5", None, -1, math.nan, True, [1]])
@pytest.mark.parametrize("name", ["deadline", "base", "cap", "near"])
def test_what_a_policy_is_made_of_is_checked(name: str, value: Any) -> None:
    with pytest.raises(InvalidArgument, match=rf"^{name} must be a number of seconds") as raised:
        Policy(**{name: value})
    assert raised.value.argument == name


@pytest.mark.parametrize("value", ["5", None, -1, 0, math.nan, True, [1]])
@pytest.mark.parametrize("name", ["replicas", "timeout"])
def test_what_a_replication_is_made_of_is_checked(name: str, value: Any) -> None:
    with pytest.raises(InvalidArgument, match=rf"^{name} must be a number above 0") as raised:
        Replication(**{name: value})
    assert raised.value.argument == name


@pytest.mark.parametrize("storage", [RedisStorage, AsyncRedisStorage])
def test_what_is_no_policy_is_refused(storage: Any) -> None:
    with pytest.raises(InvalidArgument, match="policy must be None or a Policy, not 3") as caught:
        storage("redis://localhost", policy=3)
    assert (caught.value.argument, caught.value.value) == ("policy", 3)
