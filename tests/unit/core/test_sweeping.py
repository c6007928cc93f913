# SPDX-License-Identifier: MIT
"""Whole queues and groups at once: cancelled, moved, or only counted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pyqless.conformance import Target
from pyqless.core import moving, purging, sweeping
from pyqless.core.keyspace import Keyspace
from pyqless.core.sweeping import Swept
from pyqless.core.transaction import Stale
from tests import stepper

ALL = ("waiting", "scheduled", "depends", "running")


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a transaction deal with so few jobs that each test takes several."""
    monkeypatch.setattr(sweeping, "MANY", 2)


def run(core: Target, transition: Any, *arguments: Any, now: float = 100, **options: Any) -> Any:
    return core._storage.run(lambda tx: transition(tx, *arguments, **options), now)


def put(core: Target, jid: str, *options: str, delay: str = "0", now: str = "50") -> None:
    core.call("put", now, "w", "q", jid, "klass", "{}", delay, *options)


def fail(core: Target, jid: str, group: str, now: str) -> None:
    put(core, jid, "priority", "9")
    core.call("pop", now, "q", "w", "1")
    core.call("fail", now, jid, "w", group, "message")


def jids(core: Target) -> set[str]:
    keys = core.snapshot()
    return {key[5:] for key in keys if key.startswith("ql:j:") and keys[key]["type"] == "hash"}


def test_an_empty_queue_is_swept_at_once(core: Target) -> None:
    assert run(core, purging.purge, "q", ALL) == Swept(0, ())


def test_all_that_stands_in_the_states_named_is_cancelled(core: Target) -> None:
    for number in range(5):
        put(core, f"w{number}", "tags", '["t"]')
    put(core, "s", delay="500")
    put(core, "r", "priority", "1")
    core.call("pop", "60", "q", "w", "1")

    assert run(core, purging.purge, "q", ("waiting", "scheduled")) == Swept(6, ())
    assert jids(core) == {"r"}
    assert run(core, purging.purge, "q", ("running",)) == Swept(1, ())
    assert jids(core) == set()


def test_those_that_wait_for_each_other_go_in_order(core: Target) -> None:
    put(core, "a")
    for before, jid in zip("abcd", "bcde", strict=True):
        put(core, jid, "depends", f'["{before}"]')

    assert run(core, purging.purge, "q", ALL) == Swept(5, ())
    assert core.snapshot().keys() <= {"ql:queues", "ql:py:fence"}


def test_another_round_finds_those_that_were_let_go_late(core: Target) -> None:
    # b waits for e, though it stands behind it, so e is met first
    put(core, "x", now="10")
    put(core, "b", "depends", '["x"]', now="20")
    for jid, now in (("c", "30"), ("d", "31"), ("e", "32")):
        put(core, jid, "depends", '["x"]', now=now)
    core.call("depends", "40", "b", "on", "e")

    assert run(core, purging.purge, "q", ("depends",), dry_run=True) == Swept(4, ())
    assert run(core, purging.purge, "q", ("depends",)) == Swept(4, ())
    assert jids(core) == {"x"}


def test_a_job_that_others_elsewhere_wait_for_is_kept(core: Target) -> None:
    for number in range(4):
        put(core, f"w{number}")
    core.call("put", "50", "w", "other", "o", "klass", "{}", "0", "depends", '["w1"]')

    assert run(core, purging.purge, "q", ALL, dry_run=True) == Swept(3, ("w1",))
    assert run(core, purging.purge, "q", ALL) == Swept(3, ("w1",))
    assert jids(core) == {"w1", "o"}


def test_a_dry_run_tells_the_same_and_changes_nothing(core: Target) -> None:
    for number in range(5):
        put(core, f"w{number}")
    put(core, "d", "depends", '["w0"]')
    core.call("recur", "50", "q", "rec", "klass", "{}", "interval", "60", "0")
    before = core.snapshot()

    assert run(core, purging.purge, "q", ALL, dry_run=True) == Swept(6, ())
    assert run(core, purging.delete, "q", dry_run=True) == Swept(7, ())
    assert run(core, moving.move, "q", "to", ("waiting", "recurring"), dry_run=True) == Swept(6, ())
    assert core.snapshot() == before
    assert run(core, purging.purge, "q", ALL) == Swept(6, ())


def test_what_is_damaged_is_kept_and_what_is_no_job_is_dropped(core: Target) -> None:
    for jid in ("a", "b", "c"):
        put(core, jid)
    core._storage.run(_write("hset", "ql:j:a", "tags", "nonsense"))
    core._storage.run(_write("delete", "ql:j:b"))
    core._storage.run(_write("hdel", "ql:j:c", "tags"))

    assert run(core, purging.purge, "q", ("waiting",)) == Swept(2, ("a",))
    assert core.snapshot()["ql:q:q-work"]["value"][0][0] == "a"
    assert core.damaged >= 2


def _write(name: str, *arguments: Any) -> Any:
    def transition(tx: Any) -> Any:
        getattr(tx, name)(*arguments)
        return
        yield

    return transition


# -- failed jobs ------------------------------------------------------------------------------


def test_failures_go_by_age(core: Target) -> None:
    for number in range(5):
        fail(core, f"f{number}", "group", str(100 + number))
    fail(core, "other", "else", "100")

    assert run(core, purging.purge_failed, "group", 102, dry_run=True) == Swept(3, ())
    assert run(core, purging.purge_failed, "group", 102) == Swept(3, ())
    assert jids(core) == {"f3", "f4", "other"}
    assert run(core, purging.purge_failed, None, 200) == Swept(3, ())
    assert jids(core) == set()
    assert core.call("failed", "300") == "{}"


def test_a_failed_job_that_is_waited_for_or_damaged_is_kept(core: Target) -> None:
    for jid in ("a", "b", "c"):
        fail(core, jid, "group", "100")
    core.call("put", "110", "w", "q", "d", "klass", "{}", "0", "depends", '["a"]')
    core._storage.run(_write("hset", "ql:j:b", "failure", "{}"))

    swept = run(core, purging.purge_failed, None, 200)
    assert (swept.jobs, set(swept.kept)) == (1, {"a", "b"})


# -- moving -----------------------------------------------------------------------------------


def test_jobs_keep_their_order_and_delays_where_they_are_moved(core: Target) -> None:
    for number in range(5):
        put(core, f"w{number}", now=str(50 + number))
    put(core, "first", "priority", "3")
    put(core, "s", delay="500")
    put(core, "d", "depends", '["s"]')
    core.call("track", "60", "track", "w0")
    core.call("recur", "50", "q", "rec", "klass", "{}", "interval", "60", "70")
    core.record()

    assert run(core, moving.move, "q", "to", moving.places(core._storage.keys, "q")) == Swept(9, ())

    keys = core.snapshot()
    order = [entry[0] for entry in reversed(keys["ql:q:to-work"]["value"])]
    assert order == ["first", "w0", "w1", "w2", "w3", "w4"]
    assert keys["ql:q:to-scheduled"]["value"] == [["s", "550.0"]]
    assert keys["ql:q:to-recur"]["value"] == [["rec", "120.0"]]
    assert keys["ql:q:to-depends"]["value"] == [["d", "50.0"]]
    assert keys["ql:j:w0"]["value"]["queue"] == keys["ql:r:rec"]["value"]["queue"] == "to"
    assert not any(key.startswith("ql:q:q-") for key in keys)
    assert [entry[0] for entry in keys["ql:queues"]["value"]] == ["q", "to"]
    messages = core.recorded()
    assert ("ql:put", "w0") in messages
    put_logs = [json.loads(data) for channel, data in messages if channel == "ql:log"]
    assert {"jid": "w0", "event": "put", "queue": "to"} in put_logs


def test_what_is_damaged_is_not_moved(core: Target) -> None:
    for jid in ("a", "b", "c"):
        put(core, jid)
    for jid in ("r", "s", "t"):
        core.call("recur", "50", "q", jid, "klass", "{}", "interval", "60", "70")
    core._storage.run(_write("delete", "ql:j:a"))
    core._storage.run(_write("delete", "ql:r:s"))

    swept = run(core, moving.move, "q", "to", ("waiting", "recurring"))
    assert swept == Swept(4, ("a", "s"))


# -- the queue itself -------------------------------------------------------------------------


def test_a_queue_that_is_deleted_is_forgotten_with_its_settings(core: Target) -> None:
    put(core, "a")
    put(core, "b")
    core.call("pop", "60", "q", "w", "1")
    for jid in ("r", "s", "t"):
        core.call("recur", "50", "q", jid, "klass", "{}", "interval", "60", "70")
    core.call("config.set", "60", "q-heartbeat", "5")
    core.call("pause", "60", "q")
    core.record()

    assert run(core, purging.delete, "q") == Swept(5, ())
    assert core.snapshot().keys() == {"ql:workers"} | {
        key for key in core.snapshot() if key.startswith("ql:s:")
    }
    assert any("config_unset" in data for _, data in core.recorded())


def test_a_queue_in_which_a_job_is_kept_stays_known(core: Target) -> None:
    put(core, "a")
    core.call("put", "50", "w", "other", "o", "klass", "{}", "0", "depends", '["a"]')

    assert run(core, purging.delete, "q") == Swept(0, ("a",))
    assert [entry[0] for entry in core.snapshot()["ql:queues"]["value"]] == ["other", "q"]


def test_an_entry_that_moves_in_between_is_looked_for_anew() -> None:
    with pytest.raises(Stale):
        sweeping.require_standing([1.0, None])


# -- others act in between --------------------------------------------------------------------

_PUT = "put 100 me q J klass {} 0"


def _finish(running: stepper.Running) -> Any:
    """Go on to the end; gives the value of a transition that is no command."""
    try:
        while True:
            next(running._attempts)
    except StopIteration as end:
        return end.value


@pytest.mark.parametrize(
    ("sweep", "meanwhile", "expected"),
    [
        (lambda tx: purging.purge(tx, "q", ("waiting",)), "pop 110 q other 1", Swept(0, ())),
        (lambda tx: purging.purge(tx, "q", ("waiting",)), "cancel 110 J", Swept(0, ())),
        (lambda tx: purging.purge(tx, "q", ("waiting",)), "put 110 me p J k {} 0", Swept(0, ())),
        (
            lambda tx: purging.purge(tx, "q", ("waiting",)),
            """put 110 me p D k {} 0 depends '["J"]'""",
            Swept(0, ("J",)),
        ),
        (
            lambda tx: moving.move(tx, "q", "to", ("waiting",)),
            "pop 110 q other 1",
            Swept(0, ()),
        ),
        (lambda tx: moving.move(tx, "q", "to", ("waiting",)), "cancel 110 J", Swept(0, ())),
    ],
)
@pytest.mark.parametrize("after", [1, 2])
def test_others_act_in_between(sweep: Any, meanwhile: str, expected: Swept, after: int) -> None:
    keyspace = Keyspace()
    stepper.run(keyspace, _PUT)
    running = stepper.begin(keyspace, "length 120 q")
    running._attempts = running._until_committed(sweep)
    running.step(after)
    stepper.run(keyspace, meanwhile)
    acted = keyspace.dump()
    # whoever came first counts, and nothing of what they did is undone
    assert _finish(running) == expected
    assert keyspace.dump() == acted
    assert running.conflicts == 1 or after == 1


def test_a_failed_job_that_comes_back_in_between_is_kept() -> None:
    keyspace = Keyspace()
    for words in (_PUT, "pop 101 q w 1", "fail 102 J w group message"):
        stepper.run(keyspace, words)
    running = stepper.begin(keyspace, "length 120 q")
    running._attempts = running._until_committed(
        lambda tx: purging.purge_failed(tx, "group", 110.0)
    )
    running.step(2)
    stepper.run(keyspace, "unfail 111 q group")
    acted = keyspace.dump()
    assert _finish(running) == Swept(0, ())
    assert keyspace.dump() == acted
