# SPDX-License-Identifier: MIT
"""What workers tell of themselves."""

from __future__ import annotations

from functools import partial

from pyqless.conformance import Target
from pyqless.core import presence
from pyqless.core.effects import Transition
from pyqless.core.presence import Presence
from pyqless.core.transaction import Transaction


def tell(core: Target, now: float, worker: str, **fields: str) -> None:
    core._storage.run(partial(presence.announce, worker=worker, fields=fields), now)


def told(core: Target) -> list[Presence]:
    return core._storage.run(presence.present)


def test_the_last_word_comes_first(core: Target) -> None:
    assert told(core) == []
    tell(core, 100.0, "a", pid="1")
    tell(core, 101.0, "b", pid="2")
    assert told(core) == [Presence("b", 101.0, {"pid": "2"}), Presence("a", 100.0, {"pid": "1"})]


def test_a_word_replaces_the_last_one(core: Target) -> None:
    tell(core, 100.0, "a", pid="1", old="x")
    tell(core, 105.0, "a", pid="1", new="y")
    assert told(core) == [Presence("a", 105.0, {"pid": "1", "new": "y"})]


def test_a_worker_can_take_all_back(core: Target) -> None:
    core.call("pop", "100", "q", "a", "1")
    tell(core, 100.0, "a", pid="1")
    core._storage.run(partial(presence.withdraw, worker="a"), 101.0)
    assert told(core) == []
    assert core.call("workers", "102") == "{}"


def test_a_name_without_a_word_is_passed_over(core: Target) -> None:
    tell(core, 100.0, "a", pid="1")
    core._storage.run(partial(presence.announce, worker="b", fields={"pid": "2"}), 101.0)

    def forget(tx: Transaction) -> Transition[None]:
        tx.delete(presence.record_key(tx.keys, "b"))
        return
        yield

    core._storage.run(forget)
    assert [word.name for word in told(core)] == ["a"]


def word_of(core: Target, worker: str) -> Presence | None:
    return core._storage.run(partial(presence.word_of, worker=worker))


def word_on(core: Target, jid: str) -> Presence | None:
    return core._storage.run(partial(presence.word_on, jid=jid))


def test_one_can_be_asked_for(core: Target) -> None:
    tell(core, 100.0, "a", pid="1")
    tell(core, 101.0, "b", pid="2")
    assert word_of(core, "a") == Presence("a", 100.0, {"pid": "1"})
    assert word_of(core, "c") is None
    core._storage.run(partial(presence.withdraw, worker="a"), 102.0)
    assert word_of(core, "a") is None


def test_that_of_who_has_a_job_can_be_asked_for(core: Target) -> None:
    tell(core, 100.0, "a", pid="1")
    core.call("put", "100", "a", "q", "J", "k", "{}", "0")
    assert word_on(core, "J") is None
    core.call("pop", "101", "q", "a", "1")
    assert word_on(core, "J") == Presence("a", 100.0, {"pid": "1"})
    core.call("complete", "102", "J", "a", "q", "{}")
    assert (word_on(core, "J"), word_on(core, "none")) == (None, None)


def test_lua_clients_and_dumps_see_nothing_of_it(core: Target) -> None:
    tell(core, 100.0, "a", pid="1")
    assert core.snapshot() == {}
