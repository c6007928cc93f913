# SPDX-License-Identifier: MIT
"""Running means and deviations are those of exact arithmetic, up to rounding."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import partial
from itertools import chain
from statistics import stdev

import pytest
from hypothesis import given

from pyqless.core.effects import Transition
from pyqless.core.statistics import BINS, Sampler, Times, day_of, fold, stats
from pyqless.core.transaction import Transaction
from pyqless.storage import Storage, open_storage
from tests.property.strategies import START, runs_of_times, times_taken

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def sampled(storage: Storage, *runs: Iterable[float]) -> Times:
    """The times of a queue after some samples, each run of them in a transaction of its own."""
    for run in runs:
        storage.run(partial(add, times=run), START)
    return storage.run(lambda tx: stats(tx, "q", START), START).wait


def add(tx: Transaction, times: Iterable[float], *, defers: bool = False) -> Transition[None]:
    key = tx.keys.statistics("wait", day_of(tx.now), "q")
    sampler = Sampler(tx, key, defers=defers)
    sampler.take((yield from tx.read(*sampler.guarded(), free=sampler.free())))
    for seconds in times:
        sampler.add(seconds)


@given(times=times_taken())
def test_mean_and_deviation_are_those_of_exact_arithmetic(times: list[float]) -> None:
    with open_storage("memory://") as storage:
        found = sampled(storage, times)

    exact = [Fraction(seconds) for seconds in times]
    size = max(1.0, *map(abs, times))
    assert found.count == len(times)
    assert found.mean == pytest.approx(float(sum(exact) / len(exact)), rel=1e-12, abs=1e-12 * size)
    if len(times) > 1:
        assert found.std == pytest.approx(stdev(exact), rel=1e-6, abs=1e-6 * size)


@given(times=times_taken())
def test_each_time_is_in_the_bin_that_spans_it(times: list[float]) -> None:
    with open_storage("memory://") as storage:
        found = sampled(storage, times)

    expected = dict.fromkeys(BINS, 0)
    for seconds in times:
        spans = [name for name in BINS if _starts(name) <= seconds]
        if spans and seconds < 7 * 86400:  # what is below 0, or longer than six days, is not shown
            expected[spans[-1]] += 1
    assert found.histogram == list(expected.values())


def _starts(name: str) -> int:
    return int(name[1:]) * SECONDS[name[0]]


@given(runs=runs_of_times())
def test_transactions_go_on_where_others_ended(runs: list[list[float]]) -> None:
    with open_storage("memory://") as one, open_storage("memory://") as many:
        assert sampled(many, *runs) == sampled(one, chain(*runs))
        assert many.dump() == one.dump()


@given(runs=runs_of_times())
def test_deferred_samples_are_counted_at_once_and_entered_later(runs: list[list[float]]) -> None:
    with open_storage("memory://") as one, open_storage("memory://") as other:
        expected = sampled(one, chain(*runs))
        for run in runs:
            other.run(partial(add, times=run, defers=True), START)
        assert other.dump() == {}
        assert sampled(other) == expected
        other.run(fold, START)
        assert other.dump() == one.dump()


@given(runs=runs_of_times())
def test_a_quiet_transaction_enters_what_was_deferred(runs: list[list[float]]) -> None:
    with open_storage("memory://") as one, open_storage("memory://") as other:
        other.run(partial(add, times=chain(*runs), defers=True), START)
        while other.run(pending, START):
            other.run(partial(add, times=[1.0]), START)
            one.run(partial(add, times=[1.0]), START)
        total = sampled(other).count
        assert total == sampled(one).count + sum(map(len, runs))
        assert sampled(other).histogram[1] == sampled(one, chain(*runs)).histogram[1]


def pending(tx: Transaction) -> Transition[int]:
    key = tx.keys.pending(tx.keys.statistics("wait", day_of(tx.now), "q"))
    (length,) = yield from tx.snapshot(("LLEN", key))
    return int(length)
