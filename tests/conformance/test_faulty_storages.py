# SPDX-License-Identifier: MIT
"""The suite of storages catches the faults that it is there for."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any, Final

import pytest

from pyqless.core import keyspace, sortedset
from pyqless.core.effects import Factory, FollowedBy, Transition
from pyqless.core.transaction import Transaction
from pyqless.errors import QlessError, StoreCorrupted
from pyqless.storage.described import Described
from pyqless.storage.memory import MemoryStorage, contents, database, driver
from pyqless.testing import CHECKS, Store, check_storage

Patch = pytest.MonkeyPatch
BY_NAME: Final = {check.name: check for check in CHECKS}
RUN: Final = MemoryStorage.run


@pytest.fixture
def store() -> Store:
    return Store.at(f"memory://{uuid.uuid4().hex}")


# -- faults -----------------------------------------------------------------------------------


def forgets_its_guards(patch: Patch) -> None:
    """Lets others write in the middle of a transition, and does not look."""
    idle = property(lambda _: False, lambda *_: None)
    patch.setattr(database.Database, "_driving", idle, raising=False)


def keeps_what_a_failed_transition_has_staged(patch: Patch) -> None:
    def run(self: MemoryStorage, transition: Factory[Any], now: float | None = None) -> Any:
        def half(tx: Transaction) -> Transition[Any]:
            try:
                return (yield from transition(tx))
            except QlessError as error:
                return error

        value = RUN(self, half, now)
        if isinstance(value, QlessError):
            raise value
        return value

    patch.setattr(MemoryStorage, "run", run)


def reads_the_clock_once(patch: Patch) -> None:
    def run(self: MemoryStorage, transition: Factory[Any], now: float | None = None) -> Any:
        return RUN(self, transition, self.clock() if now is None else now)

    patch.setattr(MemoryStorage, "run", run)


def reads_the_clock_for_each_link(patch: Patch) -> None:
    until_done = driver._until_done

    def forgetful(storage: Any, *arguments: Any) -> tuple[Any, Any]:
        value, _ = until_done(storage, *arguments)
        return value, storage.clock()

    patch.setattr(driver, "_until_done", forgetful)


def orders_ties_by_code_points(patch: Patch) -> None:
    patch.setattr(sortedset, "_order_key", lambda member: member)


def keeps_scores_as_text_of_15_digits(patch: Patch) -> None:
    patch.setattr(keyspace.sortedsets, "score", lambda value: float(f"{float(value):.15g}"))


def keeps_empty_keys(patch: Patch) -> None:
    patch.setitem(keyspace.READS, "EXISTS", lambda _: 1)
    patch.setattr(keyspace.database, "_EMPTY", {})


def tidies_numbers_in_texts(patch: Patch) -> None:
    def tidy(value: Any, *pairs: str) -> Any:
        return hset(value, *(str(int(text)) if text.isdecimal() else text for text in pairs))

    hset = keyspace.WRITES["HSET"]
    patch.setitem(keyspace.WRITES, "HSET", tidy)


def raises_what_follows_raises(patch: Patch) -> None:
    def run(self: MemoryStorage, transition: Factory[Any], now: float | None = None) -> Any:
        def strict(tx: Transaction) -> Transition[Any]:
            end = yield from transition(tx)
            return end._replace(rest=_failing) if isinstance(end, FollowedBy) else end

        return RUN(self, strict, now)

    patch.setattr(MemoryStorage, "run", run)


def _failing(_: Transaction) -> Transition[None]:
    raise ZeroDivisionError
    yield


def hands_out_what_it_stores(patch: Patch) -> None:
    patch.setitem(keyspace.READS, "HGETALL", lambda value: {} if value is None else value)


def publishes_to_all(patch: Patch) -> None:
    patch.setattr(database, "fnmatchcase", lambda *_: True)


def publishes_the_last_message_first(patch: Patch) -> None:
    apply = database.Database.apply

    def backwards(self: Any, tx: Transaction) -> None:
        tx.writes.reverse()
        apply(self, tx)

    patch.setattr(database.Database, "apply", backwards)


def counts_and_logs_nothing(patch: Patch) -> None:
    patch.setattr(Described, "committed", lambda *_: None)


def shows_keys_in_any_order(patch: Patch) -> None:
    patch.setattr(contents, "in_bytes", lambda text: text[::-1])


def clears_and_shows_everything(patch: Patch) -> None:
    patch.setattr(contents, "_names", lambda database, _: database.keyspace.keys())


def takes_in_all_but_strings(patch: Patch) -> None:
    def replace(self: keyspace.Keyspace, key: str, value: keyspace.Value | None) -> None:
        if not isinstance(value, str):
            put(self, key, value)

    put = keyspace.Keyspace.replace
    patch.setattr(keyspace.Keyspace, "replace", replace)


def goes_on_after_its_close(patch: Patch) -> None:
    patch.setattr(MemoryStorage, "close", lambda *_: None)


def looks_after_its_close(patch: Patch) -> None:
    patch.setattr(Described, "require_open", lambda *_: None)


FAULTS: Final[list[tuple[Callable[[Patch], None], list[str]]]] = [
    (
        forgets_its_guards,
        [name for name in BY_NAME if name.startswith("conflicts.")][:-1],
    ),
    (keeps_what_a_failed_transition_has_staged, ["committing.failed_transitions"]),
    (reads_the_clock_once, ["attempts.moments"]),
    (reads_the_clock_for_each_link, ["chains.continued"]),
    (orders_ties_by_code_points, ["reading.replies"]),
    (keeps_scores_as_text_of_15_digits, ["reading.replies"]),
    (keeps_empty_keys, ["reading.missing_keys", "writing.effects"]),
    (tidies_numbers_in_texts, ["reading.odd_texts"]),
    (raises_what_follows_raises, ["chains.followed"]),
    (hands_out_what_it_stores, ["reading.replies_are_copies"]),
    (publishes_to_all, ["messages.channels"]),
    (publishes_the_last_message_first, ["messages.order", "writing.order"]),
    (shows_keys_in_any_order, ["moving.order"]),
    (clears_and_shows_everything, ["moving.others_left_alone"]),
    (takes_in_all_but_strings, ["moving.taken_in"]),
    (goes_on_after_its_close, ["keeping.closing"]),
    (looks_after_its_close, ["keeping.closing"]),
    (counts_and_logs_nothing, ["attempts.metrics", "attempts.reports"]),
]


CAUGHT: Final = [
    pytest.param(fault, name, id=f"{fault.__name__}-{name}")
    for fault, names in FAULTS
    for name in names
]


@pytest.mark.parametrize(("fault", "name"), CAUGHT)
def test_a_fault_is_caught(
    store: Store, monkeypatch: Patch, fault: Callable[[Patch], None], name: str
) -> None:
    BY_NAME[name].run(store, blocking=True)
    fault(monkeypatch)
    with pytest.raises((AssertionError, ZeroDivisionError, StoreCorrupted)):
        BY_NAME[name].run(store, blocking=True)


# -- the suite as a whole ---------------------------------------------------------------------


def test_names_are_unique() -> None:
    assert len(BY_NAME) == len(CHECKS)


def test_a_good_storage_passes(store: Store) -> None:
    check_storage(store)


def test_all_faults_are_told_together(store: Store, monkeypatch: Patch) -> None:
    orders_ties_by_code_points(monkeypatch)
    with pytest.raises(ExceptionGroup) as told:
        check_storage(store)
    notes = {note for error in told.value.exceptions for note in error.__notes__}
    assert {"reading.replies, blocking", "reading.replies, asyncio"} <= notes
