# SPDX-License-Identifier: MIT
"""A put of a jid that was made for it reads nothing, and does all that a put does."""

from __future__ import annotations

import copy

from hypothesis import given
from hypothesis import strategies as st

from pyqless.core.putting import JobSpec, put, put_new
from tests.unit.core.remembering import Store

NUMBERS = st.one_of(st.integers(-5, 5).map(float), st.floats(-1e6, 1e6))

SPECS = st.builds(
    JobSpec,
    klass=st.sampled_from(["klass", "a.b.C", ""]),
    data=st.sampled_from(["{}", '{"a": [1, 2]}', "[]"]),
    delay=st.one_of(st.just(0.0), st.floats(-10, 1e6)),
    priority=st.none() | NUMBERS,
    tags=st.none() | st.lists(st.sampled_from(["red", "green", "ä", ""]), max_size=4),
    retries=st.none() | st.integers(0, 9).map(float),
    depends=st.none(),
)

#: what is in the store before
GIVEN = st.lists(
    st.sampled_from(
        [
            "put 1 me q K klass {} 0 tags '[\"red\"]'",
            "put 2 me other K klass {} 0",
            "put 3 me q L klass {} 60",
            "pop 4 q A 1",
            "config.set 5 max-job-history 1",
            "config.set 5 max-job-history 0",
            "track 6 track K",
            "pause 7 q",
        ]
    ),
    unique=True,
)


@given(given=GIVEN, specs=st.lists(SPECS, min_size=1, max_size=3), now=st.floats(0, 2e9))
def test_it_does_what_put_does(given: list[str], specs: list[JobSpec], now: float) -> None:
    stores = Store(), Store()
    for store, rule in zip(stores, (put, put_new), strict=True):
        for words in given:
            if not words.startswith("track") or "ql:j:K" in store.dump():
                store.call(words)
        for number, spec in enumerate(specs):
            jid = f"new{number}"
            mine = copy.deepcopy(spec)
            assert store.run(lambda tx: rule(tx, "me", "q", jid, mine), now) == jid  # noqa: B023
    usual, quick = stores
    assert quick.dump() == usual.dump()
    assert quick.messages == usual.messages


def test_it_reads_nothing() -> None:
    store = Store()
    store.run(lambda tx: put_new(tx, "me", "q", "J", JobSpec("klass", "{}", tags=["red"])), 1.0)
    (batch,) = store.batches
    assert not batch.reads
    assert batch.last
    assert store.call("pop 2 q A 1") == ["J"]
