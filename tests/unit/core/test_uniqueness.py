# SPDX-License-Identifier: MIT
"""What becomes of a job that is put, or a recurring one, under a jid that is taken."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pyqless.core import locks, popping, recurring
from pyqless.core.completing import complete
from pyqless.core.jobs import get
from pyqless.core.putting import JobSpec
from pyqless.core.recurring import RecurSpec
from pyqless.core.uniqueness import OnConflict, put_unless_taken, recur_unless_taken
from pyqless.errors import JobExists
from pyqless.storage import Storage, open_storage


@pytest.fixture
def storage() -> Iterator[Storage]:
    with open_storage("memory://") as storage:
        yield storage


def _put(storage: Storage, on_conflict: OnConflict, data: str) -> bool:
    spec = JobSpec("klass", data)
    return storage.run(lambda tx: put_unless_taken(tx, "w", "q", "J", spec, on_conflict), 100)


def _data(storage: Storage) -> str | None:
    job = storage.run(lambda tx: get(tx, "J"))
    return None if job is None else job.data


@pytest.mark.parametrize("on_conflict", ["replace", "keep", "error", "replace_if_done"])
def test_a_free_jid_is_taken(storage: Storage, on_conflict: OnConflict) -> None:
    assert _put(storage, on_conflict, "1")
    assert _data(storage) == "1"


@pytest.mark.parametrize(
    ("on_conflict", "is_put"), [("replace", True), ("keep", False), ("replace_if_done", False)]
)
def test_a_waiting_job_is_replaced_only_if_that_is_wanted(
    storage: Storage, on_conflict: OnConflict, *, is_put: bool
) -> None:
    _put(storage, "error", "1")

    assert _put(storage, on_conflict, "2") is is_put
    assert _data(storage) == ("2" if is_put else "1")


def test_a_taken_jid_can_be_an_error(storage: Storage) -> None:
    _put(storage, "error", "1")
    before = storage.dump()

    with pytest.raises(JobExists) as caught:
        _put(storage, "error", "2")
    assert (caught.value.argument, caught.value.value) == ("jid", "J")
    assert storage.dump() == before


@pytest.mark.parametrize(("on_conflict", "is_put"), [("keep", False), ("replace_if_done", True)])
def test_a_complete_job_is_done(storage: Storage, on_conflict: OnConflict, *, is_put: bool) -> None:
    _put(storage, "error", "1")
    storage.run(lambda tx: popping.pop(tx, "q", "w", 1), 101)
    storage.run(lambda tx: complete(tx, "J", "w", "q", "1"), 102)

    assert _put(storage, on_conflict, "2") is is_put


@pytest.mark.parametrize("on_conflict", ["keep", "replace_if_done"])
def test_a_recurring_job_takes_its_jid(storage: Storage, on_conflict: OnConflict) -> None:
    spec = RecurSpec("klass", "{}", 60.0, 0.0, 0.0, [], 0.0, 0.0)
    storage.run(lambda tx: recurring.recur(tx, "q", "J", spec), 100)

    assert not _put(storage, on_conflict, "2")
    assert _data(storage) is None
    with pytest.raises(JobExists):
        _put(storage, "error", "2")


def test_a_job_in_hand_that_is_replaced_is_lost_to_its_worker(storage: Storage) -> None:
    _put(storage, "error", "1")
    storage.run(lambda tx: popping.pop(tx, "q", "other", 1), 101)
    _put(storage, "replace", "2")

    with pytest.raises(Exception, match="not running"):
        storage.run(lambda tx: locks.heartbeat(tx, "J", "other"), 103)


# -- recurring jobs ---------------------------------------------------------------------------


def _recur(storage: Storage, on_conflict: OnConflict, interval: float) -> bool:
    spec = RecurSpec("klass", "{}", interval, 0.0, 0.0, [], 0.0, 0.0)
    return storage.run(lambda tx: recur_unless_taken(tx, "q", "J", spec, on_conflict), 100)


def _interval(storage: Storage) -> float | None:
    job = storage.run(lambda tx: recurring.get(tx, "J"))
    return None if job is None else job.number("interval")


@pytest.mark.parametrize("on_conflict", ["replace", "keep", "error", "replace_if_done"])
def test_a_recurring_job_takes_a_free_jid(storage: Storage, on_conflict: OnConflict) -> None:
    assert _recur(storage, on_conflict, 60)
    assert _interval(storage) == 60


@pytest.mark.parametrize(
    ("on_conflict", "is_made"), [("replace", True), ("keep", False), ("replace_if_done", False)]
)
def test_a_recurring_job_is_never_done(
    storage: Storage, on_conflict: OnConflict, *, is_made: bool
) -> None:
    _recur(storage, "error", 60)

    assert _recur(storage, on_conflict, 90) is is_made
    assert _interval(storage) == (90 if is_made else 60)


@pytest.mark.parametrize(
    ("on_conflict", "is_made"), [("replace", True), ("keep", False), ("replace_if_done", False)]
)
def test_a_job_that_waits_takes_its_jid_from_recurring_ones(
    storage: Storage, on_conflict: OnConflict, *, is_made: bool
) -> None:
    _put(storage, "error", "1")

    assert _recur(storage, on_conflict, 60) is is_made
    assert (_data(storage), _interval(storage)) == ("1", 60 if is_made else None)


@pytest.mark.parametrize(("on_conflict", "is_made"), [("keep", False), ("replace_if_done", True)])
def test_a_job_that_is_done_leaves_its_jid_to_a_recurring_one(
    storage: Storage, on_conflict: OnConflict, *, is_made: bool
) -> None:
    _put(storage, "error", "1")
    storage.run(lambda tx: popping.pop(tx, "q", "w", 1), 101)
    storage.run(lambda tx: complete(tx, "J", "w", "q", "1"), 102)

    assert _recur(storage, on_conflict, 60) is is_made


@pytest.mark.parametrize("what", ["job", "recurring job"])
def test_a_jid_that_is_taken_can_be_an_error_for_a_recurring_job(
    storage: Storage, what: str
) -> None:
    assert _put(storage, "error", "1") if what == "job" else _recur(storage, "error", 60)
    before = storage.dump()

    with pytest.raises(JobExists, match=rf"there is a {what}( \(waiting\))? 'J' already") as caught:
        _recur(storage, "error", 90)
    assert (caught.value.argument, caught.value.value) == ("jid", "J")
    assert storage.dump() == before
