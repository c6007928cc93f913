# SPDX-License-Identifier: MIT
"""
Damaged data: what others have written past the rules, or what the Lua core itself leaves behind.

Where the core dies, one damaged job among several is left out and reported, and nothing is blocked;
a call about that job alone raises, names what is wrong, and changes nothing.
"""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from pyqless.conformance import Target
from pyqless.errors import CorruptedJob, InvalidSetting, StoreCorrupted
from tests.unit.core.examples import changes, content, damage, run, score

#: so deep that the core can read it, and cannot write it within the list of jobs that pop replies
DEEP = "[" * 999 + "]" * 999

#: fields of a job that the core cannot show: (field, text; None: missing)
BAD_FIELDS = [
    ("tags", None),
    ("tags", "["),
    ("tags", "[inf]"),
    ("tags", "[1e400]"),
    ("tags", DEEP),
    ("failure", "{"),
    ("failure", '{"when":nan}'),
    ("remaining", None),
    ("remaining", ""),
    ("remaining", "many"),
    ("remaining", "inf"),
    ("remaining", "nan"),
    ("priority", "inf"),
    ("retries", "-inf"),
    ("expires", "1e400"),
]
#: entries of a history that the core cannot show
BAD_ENTRIES = ["", "nonsense", "{}", "[]", "[1]", '[1,"put",{"a":inf}]', f'[1,"log",{DEEP[1:-1]}]']

#: a history of the old style that the core cannot move
BAD_OLD = ["{", "5", "[5]", '[{"q":"a"}]', '[{"put":"soon"}]', '[{"put":true}]']

#: keys of a job that may hold something of another type
JOB_KEYS = ["ql:j:J", "ql:j:J-history", "ql:j:J-dependents", "ql:j:J-dependencies"]

#: fields of a recurring job of which it can make nothing
BAD_RECURRING = [
    *((name, None) for name in ("klass", "data", "priority", "tags", "retries", "interval")),
    *(("priority", text) for text in ("", "high", "inf")),
    *(("retries", text) for text in ("", "many", "nan")),
    *(("interval", text) for text in ("", "often", "inf")),
    *(("backlog", text) for text in ("", "some", "nan")),
    *(("count", text) for text in ("", "1.5", "9223372036854775807")),
    *(("tags", text) for text in ("", "null", "5", "[true]", "[[]]", "[inf]")),
]


@pytest.fixture
def reports(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.WARNING, "pyqless")
    return caplog


def put(core: Target, *jids: str, now: int = 100) -> None:
    for number, jid in enumerate(jids, now):
        run(core, f"put {number} me q {jid} klass {{}} 0")


def break_field(core: Target, key: str, field: str, text: str | None) -> None:
    if text is None:
        damage(core, "HDEL", key, field)
    else:
        damage(core, "HSET", key, field, text)


def break_type(core: Target, key: str) -> None:
    """Put a value of another type in the place of a key."""
    is_set = key.endswith(("-dependents", "-dependencies"))
    damage(core, "DEL", key)
    damage(core, *(("HSET", key, "a", "b") if is_set else ("SADD", key, "a")))


def pop(core: Target, now: float, count: int = 1) -> list[str]:
    return [job["jid"] for job in json.loads(run(core, f"pop {now} q worker {count}"))]


def damaged(core: Target) -> int:
    """How many damaged entries the storage has counted."""
    return core._storage.metrics.damaged


def refuse(core: Target, line: str, kind: type[StoreCorrupted] = CorruptedJob) -> StoreCorrupted:
    """Send a call that must fail on damaged data, and change nothing."""
    before = core.snapshot()
    core.record()
    with pytest.raises(core.error) as caught:
        run(core, line)
    assert changes(before, core.snapshot()) == {}
    assert core.recorded() == []
    fault = caught.value.__cause__
    assert isinstance(fault, kind)
    assert fault.lua is None
    return fault


# -- entries without a job ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "moment"),
    [
        ("ql:q:q-work", 5.0),
        ("ql:q:q-locks", 50.0),
        ("ql:q:q-recur", 50.0),
    ],
)
def test_pop_removes_an_entry_without_a_job(
    core: Target, reports: pytest.LogCaptureFixture, key: str, moment: float
) -> None:
    put(core, "J", "K")
    damage(core, "ZADD", key, moment, "ghost")
    assert pop(core, 110, 5) == ["J", "K"]
    assert "ghost" not in (content(core.snapshot(), key) or {})
    assert ["ghost" in text for text in reports.messages] == [True]
    assert damaged(core) == 1
    assert pop(core, 111, 5) == []
    assert damaged(core) == 1


def test_pop_makes_a_stub_of_a_delayed_entry_without_a_job(core: Target) -> None:
    """C8: promotion makes a stub; the core's pop then dies on it."""
    put(core, "J")
    damage(core, "ZADD", "ql:q:q-scheduled", 50.0, "ghost")
    assert pop(core, 110, 5) == ["J"]
    snapshot = core.snapshot()
    assert content(snapshot, "ql:j:ghost") == {"state": "waiting"}
    assert content(snapshot, "ql:q:q-scheduled") is None
    assert content(snapshot, "ql:q:q-work") is None
    assert damaged(core) == 1


@pytest.mark.parametrize("call", ["queues 110 q", "jobs 110 scheduled q"])
def test_a_look_at_the_queue_makes_a_stub_too(core: Target, call: str) -> None:
    """C8; here the core replies."""
    damage(core, "ZADD", "ql:q:q-scheduled", 50.0, "ghost")
    run(core, call)
    snapshot = core.snapshot()
    assert content(snapshot, "ql:j:ghost") == {"state": "waiting"}
    assert content(snapshot, "ql:q:q-work") == {"ghost": score(0, 110)}


@pytest.mark.parametrize(("key", "moment"), [("ql:q:q-work", 5.0), ("ql:q:q-locks", 50.0)])
def test_peek_skips_an_entry_without_a_job(core: Target, key: str, moment: float) -> None:
    """C8; here the core replies, and leaves the entry."""
    put(core, "J")
    damage(core, "ZADD", key, moment, "ghost")
    before = core.snapshot()
    assert [job["jid"] for job in json.loads(run(core, "peek 110 q 5"))] == ["J"]
    assert core.snapshot() == before
    # it counts all the same
    assert run(core, "peek 110 q 1") == "{}"


def test_many_entries_without_a_job_block_nothing(core: Target) -> None:
    put(core, "J")
    for number in range(40):
        damage(core, "ZADD", "ql:q:q-work", 5.0 + number, f"ghost{number}")
    assert pop(core, 110) == ["J"]
    assert content(core.snapshot(), "ql:q:q-work") is None
    assert damaged(core) == 40


# -- jobs that make no sense --------------------------------------------------------------------


def check_left_out(core: Target, *, names: str) -> None:
    """Pop leaves J out and reports it, get names the fault; both go on doing so."""
    fault = refuse(core, "get 105 J", StoreCorrupted)
    assert fault.argument == names
    assert pop(core, 110, 5) == ["K"]
    assert damaged(core) == 1
    put(core, "L", now=111)
    assert pop(core, 112, 1) == ["L"]
    assert damaged(core) == 1
    assert pop(core, 113, 5) == []
    assert pop(core, 114, 1) == []
    assert content(core.snapshot(), "ql:q:q-work") == {"J": float("-inf")}


@pytest.mark.parametrize(("field", "text"), BAD_FIELDS)
def test_pop_leaves_a_damaged_job_out(core: Target, field: str, text: str | None) -> None:
    put(core, "J", "K")
    break_field(core, "ql:j:J", field, text)
    check_left_out(core, names=field)


@pytest.mark.parametrize("entry", BAD_ENTRIES)
def test_pop_leaves_a_job_with_a_damaged_history_out(core: Target, entry: str) -> None:
    put(core, "J", "K")
    damage(core, "RPUSH", "ql:j:J-history", entry)
    check_left_out(core, names="history")


@pytest.mark.parametrize("text", BAD_OLD)
def test_pop_leaves_a_job_with_a_damaged_old_history_out(core: Target, text: str) -> None:
    put(core, "J", "K")
    damage(core, "HSET", "ql:j:J", "history", text)
    check_left_out(core, names="ql:j:J")


@pytest.mark.parametrize("key", JOB_KEYS)
def test_pop_leaves_a_job_out_whose_keys_are_of_another_type(core: Target, key: str) -> None:
    put(core, "J", "K")
    break_type(core, key)
    check_left_out(core, names=key)


def test_a_job_with_a_time_that_is_no_number_cannot_be_handed_out(core: Target) -> None:
    put(core, "J", "K")
    break_field(core, "ql:j:J", "time", "noon")
    assert json.loads(run(core, "get 105 J"))["jid"] == "J"
    assert pop(core, 110, 5) == ["K"]
    assert damaged(core) == 1


def test_a_job_that_is_mended_is_handed_out_when_nothing_else_waits(core: Target) -> None:
    put(core, "J", "K")
    break_field(core, "ql:j:J", "remaining", "many")
    assert pop(core, 110, 5) == ["K"]
    break_field(core, "ql:j:J", "remaining", "5")
    put(core, "L", now=111)
    assert pop(core, 112, 5) == ["L", "J"]
    assert damaged(core) == 1


def test_the_report_says_what_is_wrong(core: Target, reports: pytest.LogCaptureFixture) -> None:
    put(core, "J")
    break_field(core, "ql:j:J", "remaining", "many")
    pop(core, 110)
    (record,) = {(record.name, record.levelname, record.getMessage()) for record in reports.records}
    assert record[:2] == ("pyqless", "WARNING")
    for word in ("J", "remaining", "many"):
        assert repr(word)[1:-1] in record[2]


@pytest.mark.parametrize("klass", ["klass", "data", "queue", "state", "priority", "expires"])
def test_what_the_core_does_not_miss(core: Target, klass: str) -> None:
    """job.lua: data; a missing field is false or left out."""
    put(core, "J")
    break_field(core, "ql:j:J", klass, None)
    job = json.loads(run(core, "get 105 J"))
    expected = {"priority": None, "expires": 0}.get(klass, False)
    assert job.get(klass) == expected
    assert pop(core, 110) == ["J"]


def test_views_of_several_jobs_leave_a_damaged_one_out(core: Target) -> None:
    put(core, "J", "K")
    for jid in ("J", "K"):
        run(core, f"track 105 track {jid}")
    break_field(core, "ql:j:J", "remaining", "many")
    assert [job["jid"] for job in json.loads(run(core, "multiget 110 J K"))] == ["K"]
    tracked = json.loads(run(core, "track 110"))
    assert [job["jid"] for job in tracked["jobs"]] == ["K"]
    assert tracked["expired"] == {}
    assert damaged(core) == 2


# -- delayed jobs and expired locks -------------------------------------------------------------


@pytest.mark.parametrize("call", ["pop 120 q worker 5", "queues 120 q", "jobs 120 scheduled q"])
@pytest.mark.parametrize("text", ["high", "inf", ""])
def test_a_delayed_job_whose_priority_makes_no_sense(core: Target, call: str, text: str) -> None:
    for jid in ("J", "K"):
        run(core, f"put 100 me q {jid} klass {{}} 10")
    break_field(core, "ql:j:J", "priority", text)
    run(core, call)
    snapshot = core.snapshot()
    assert content(snapshot, "ql:q:q-scheduled") == {"J": 180.0}
    assert content(snapshot, "ql:j:K")["state"] in ("running", "waiting")
    assert damaged(core) == 1
    break_field(core, "ql:j:J", "priority", "0")
    assert "J" in pop(core, 180, 5)


@pytest.mark.parametrize("call", ["pop 120 q worker 5", "queues 120 q", "jobs 120 scheduled q"])
def test_a_delayed_job_whose_hash_is_none(core: Target, call: str) -> None:
    for jid in ("J", "K"):
        run(core, f"put 100 me q {jid} klass {{}} 10")
    break_type(core, "ql:j:J")
    run(core, call)
    assert content(core.snapshot(), "ql:q:q-scheduled") == {"J": 180.0}
    assert damaged(core) == 1


#: fields that the core needs when a lock has expired, without a grace period
BAD_LOCKED = [
    ("worker", None),
    ("remaining", "1.5"),
    ("remaining", "9223372036854775808"),
    ("remaining", "many"),
    ("tags", "["),
]


@pytest.mark.parametrize(("field", "text"), BAD_LOCKED)
def test_an_expired_lock_on_a_damaged_job(core: Target, field: str, text: str | None) -> None:
    run(core, "config.set 90 grace-period 0")
    put(core, "J")
    assert pop(core, 110) == ["J"]
    break_field(core, "ql:j:J", field, text)
    put(core, "K", now=111)
    assert pop(core, 170, 5) == ["K"]
    assert content(core.snapshot(), "ql:q:q-locks") == {"J": 230.0, "K": 230.0}
    assert damaged(core) == 1
    put(core, "L", now=171)
    assert pop(core, 172, 5) == ["L"]
    assert damaged(core) == 1


def test_an_expired_lock_on_a_job_without_a_queue_whose_retries_are_exhausted(
    core: Target,
) -> None:
    run(core, "config.set 90 grace-period 0")
    run(core, "put 100 me q J klass {} 0 retries 0")
    assert pop(core, 110) == ["J"]
    break_field(core, "ql:j:J", "queue", None)
    core.record()
    assert pop(core, 170, 5) == []
    assert core.recorded() == []
    assert content(core.snapshot(), "ql:q:q-locks") == {"J": 230.0}
    assert damaged(core) == 1


def test_an_expired_lock_on_a_job_without_a_state(core: Target) -> None:
    """queue.lua: invalidate_locks does not look at it."""
    put(core, "J")
    assert pop(core, 110) == ["J"]
    break_field(core, "ql:j:J", "state", None)
    assert pop(core, 170) == []
    assert content(core.snapshot(), "ql:j:J")["grace"] == "1"
    assert damaged(core) == 0


def test_a_grace_that_is_no_number_counts_as_none(core: Target) -> None:
    """queue.lua: invalidate_locks compares it with 1."""
    put(core, "J")
    assert pop(core, 110) == ["J"]
    break_field(core, "ql:j:J", "grace", "given")
    assert pop(core, 170) == []
    assert content(core.snapshot(), "ql:j:J")["grace"] == "1"


# -- recurring jobs -----------------------------------------------------------------------------


@pytest.mark.parametrize(("field", "text"), BAD_RECURRING)
def test_pop_leaves_a_damaged_recurring_job_out(core: Target, field: str, text: str | None) -> None:
    put(core, "J")
    for jid in ("R", "S"):
        run(core, f"recur 100 q {jid} klass {{}} interval 1000 0")
    break_field(core, "ql:r:R", field, text)
    assert pop(core, 110, 5) == ["S-1", "J"]
    snapshot = core.snapshot()
    assert content(snapshot, "ql:q:q-recur") == {"R": 170.0, "S": 1100.0}
    assert "ql:j:R-1" not in snapshot
    assert damaged(core) == 1
    assert pop(core, 111, 5) == []
    assert damaged(core) == 1


def test_a_recurring_job_that_is_mended_goes_on(core: Target) -> None:
    run(core, "recur 100 q R klass {} interval 10 0")
    break_field(core, "ql:r:R", "priority", "high")
    assert pop(core, 110, 5) == []
    break_field(core, "ql:r:R", "priority", "0")
    assert pop(core, 170, 5) == ["R-1"]


def test_a_recurring_job_whose_hash_is_none(core: Target) -> None:
    run(core, "recur 100 q R klass {} interval 10 0")
    break_type(core, "ql:r:R")
    put(core, "J")
    assert pop(core, 110, 5) == ["J"]
    assert damaged(core) == 1
    assert refuse(core, "recur.get 110 R", StoreCorrupted).argument == "ql:r:R"


@pytest.mark.parametrize("key", ["ql:j:R-1", "ql:j:R-1-history"])
def test_a_child_whose_place_is_taken_by_something_else(core: Target, key: str) -> None:
    put(core, "J")
    run(core, "recur 100 q R klass {} interval 10 0")
    break_type(core, key)
    before = content(core.snapshot(), key)
    assert pop(core, 105, 5) == ["J"]
    snapshot = core.snapshot()
    assert content(snapshot, key) == before
    assert content(snapshot, "ql:q:q-recur") == {"R": 110.0}
    assert damaged(core) > 0
    assert pop(core, 110, 5) == ["R-2"]


@pytest.mark.parametrize("text", BAD_OLD)
def test_a_child_over_a_job_with_a_damaged_old_history(core: Target, text: str) -> None:
    put(core, "J")
    run(core, "recur 100 q R klass {} interval 10 0")
    run(core, "put 100 me p R-1 klass {} 0")
    damage(core, "HSET", "ql:j:R-1", "history", text)
    before = content(core.snapshot(), "ql:j:R-1")
    assert pop(core, 105, 5) == ["J"]
    snapshot = core.snapshot()
    assert content(snapshot, "ql:j:R-1") == before
    assert content(snapshot, "ql:q:q-recur") == {"R": 110.0}
    assert damaged(core) > 0
    assert pop(core, 110, 5) == ["R-2"]


def test_a_child_over_a_job_with_an_old_history(core: Target) -> None:
    run(core, "recur 100 q R klass {} interval 10 0")
    damage(core, "HSET", "ql:j:R-1", "history", '[{"put": 20, "q": "p"}]')
    assert pop(core, 105) == ["R-1"]
    entries = content(core.snapshot(), "ql:j:R-1-history")
    assert [json.loads(entry)[:2] for entry in entries] == [
        [20, "put"],
        [100, "put"],
        [105, "popped"],
    ]


def test_a_damaged_recurring_job_that_is_not_reached_stays_as_it_is(core: Target) -> None:
    """queue.lua: check_recurring looks at the tags of those alone that it makes jobs of."""
    run(core, "recur 90 q R klass {} interval 10 0")
    run(core, "recur 95 q S klass {} interval 10 0 tags 17")
    assert pop(core, 100, 2) == ["R-1", "R-2"]
    assert content(core.snapshot(), "ql:q:q-recur") == {"S": 95.0, "R": 110.0}
    assert damaged(core) == 0


def test_a_damaged_recurring_job_that_makes_none_stays_as_it_is(core: Target) -> None:
    """queue.lua: check_recurring, with a backlog below zero."""
    run(core, "recur 95 q S klass {} interval 10 0 tags 17 backlog -1")
    assert pop(core, 100, 2) == []
    assert content(core.snapshot(), "ql:q:q-recur") == {"S": 95.0}
    assert damaged(core) == 0


def test_an_interval_of_0_with_a_backlog_makes_nothing(core: Target) -> None:
    """queue.lua: check_recurring divides by it; the next run is then no number and never due."""
    run(core, "recur 100 q R klass {} interval 10 0 backlog 1")
    run(core, "recur.update 101 R interval 0")
    assert pop(core, 110, 5) == []
    assert damaged(core) == 0


def test_a_recurring_job_that_does_not_stand_in_its_queue(core: Target) -> None:
    run(core, "recur 100 q R klass {} interval 10 0")
    damage(core, "ZREM", "ql:q:q-recur", "R")
    assert refuse(core, "recur.update 110 R queue p").argument == "ql:q:q-recur"
    assert run(core, "recur.update 110 R interval 20") == 1


@pytest.mark.parametrize(
    ("field", "text"),
    [("tags", "["), ("tags", None), ("priority", "inf"), ("interval", "1e400")],
)
def test_a_damaged_recurring_job_cannot_be_shown(
    core: Target, field: str, text: str | None
) -> None:
    run(core, "recur 100 q R klass {} interval 10 0")
    break_field(core, "ql:r:R", field, text)
    refuse(core, "recur.get 110 R", StoreCorrupted)


# -- calls about one job ------------------------------------------------------------------------

#: jobs for the calls below: J waits, L runs, F has failed, C waits for J, R is recurring
JOBS = (
    "put 90 me q J klass {} 0 tags '[\"a\"]'",
    "put 91 me p F klass {} 0",
    "pop 92 p worker 1",
    "fail 93 F worker group message",
    "put 94 me p L klass {} 0",
    "pop 95 p worker 1",
    """put 96 me q C klass {} 0 depends '["J"]'""",
    "recur 97 q R klass {} interval 10 1000",
)

#: what is damaged, (key, field, text), the call that finds it, and the name in the error
ONE_JOB = [
    (("ql:j:J", "tags", "["), "put 100 me q J klass {} 0", "tags"),
    (("ql:j:J", "tags", "null"), "put 100 me q J klass {} 0", "tags"),
    (("ql:j:J", "tags", "[inf]"), "put 100 me q J klass {} 0", "tags"),
    (("ql:j:J", "tags", "[true]"), "put 100 me q J klass {} 0 tags []", "tags"),
    (("ql:j:J", "priority", "high"), "put 100 me q J klass {} 0", "priority"),
    (("ql:j:J", "priority", "inf"), "put 100 me q J klass {} 0", "priority"),
    (("ql:j:J", "retries", ""), "put 100 me q J klass {} 0", "retries"),
    (("ql:j:F", "failure", "{"), "put 100 me q F klass {} 0", "failure"),
    (("ql:j:F", "failure", None), "put 100 me q F klass {} 0", "failure"),
    (("ql:j:F", "failure", "[]"), "put 100 me q F klass {} 0", "failure"),
    (("ql:j:F", "failure", '{"when":1}'), "put 100 me q F klass {} 0", "failure"),
    (("ql:j:F", "failure", '{"group":"g"}'), "cancel 100 F", "failure"),
    (("ql:j:F", "failure", '{"group":"g","when":"x"}'), "cancel 100 F", "failure"),
    (("ql:j:J", "tags", "["), "cancel 100 J C", "tags"),
    (("ql:j:J", "tags", "["), "tag 100 add J a", "tags"),
    (("ql:j:J", "tags", "null"), "tag 100 remove J a", "tags"),
    (("ql:j:L", "state", None), "complete 100 L worker p {}", "state"),
    (("ql:j:L", "queue", None), "complete 100 L worker p {}", "queue"),
    (("ql:j:L", "retries", None), "complete 100 L worker p {}", "retries"),
    (("ql:j:L", "retries", "x"), "complete 100 L worker p {} next q", "retries"),
    (("ql:j:L", "time", "x"), "complete 100 L worker p {}", "time"),
    (("ql:j:L", "priority", "x"), "complete 100 L worker p {} next q", "priority"),
    (("ql:j:L", "worker", None), "fail 100 L worker group message", "worker"),
    (("ql:j:L", "queue", None), "fail 100 L worker group message", "queue"),
    (("ql:j:L", "history", "{"), "fail 100 L worker group message", "ql:j:L"),
    (("ql:j:L", "state", None), "retry 100 L q worker", "state"),
    (("ql:j:L", "queue", None), "retry 100 L q worker", "queue"),
    (("ql:j:L", "remaining", "1.5"), "retry 100 L q worker", "remaining"),
    (("ql:j:L", "priority", "x"), "retry 100 L q worker", "priority"),
    (("ql:j:L", "state", None), "heartbeat 100 L worker", "state"),
    (("ql:j:L", "queue", None), "heartbeat 100 L worker", "queue"),
    (("ql:j:L", "worker", None), "timeout 100 L", "worker"),
    (("ql:j:C", "priority", "x"), "depends 100 C off J", "priority"),
    (("ql:j:J", "history", "{"), "log 100 J message", "ql:j:J"),
    (("ql:r:R", "tags", "["), "recur.tag 100 R a", "tags"),
    (("ql:r:R", "tags", "null"), "recur.untag 100 R a", "tags"),
    (("ql:r:R", "queue", None), "recur.update 100 R queue p", "queue"),
    (("ql:r:R", "queue", None), "recur.update 100 R interval 5", "queue"),
    (("ql:r:R", "interval", "x"), "recur.update 100 R interval 5", "interval"),
]


@pytest.mark.parametrize(("broken", "line", "name"), ONE_JOB)
def test_a_call_about_a_damaged_job(
    core: Target, broken: tuple[str, str, str | None], line: str, name: str
) -> None:
    for call in JOBS:
        run(core, call)
    break_field(core, *broken)
    fault = refuse(core, line)
    assert fault.argument == name
    assert name.rpartition(":")[2] in str(fault)


#: what the core takes, damaged as it is: (key, field, text), and the call
TAKEN = [
    (("ql:j:J", "tags", None), "put 100 me q J klass {} 0"),
    (("ql:j:J", "tags", None), "cancel 100 J C"),
    (("ql:j:J", "priority", "high"), "put 100 me q J klass {} 0 priority 1"),
    (("ql:j:J", "retries", "x"), "put 100 me q J klass {} 0 retries 1"),
    (("ql:j:J", "queue", None), "put 100 me q J klass {} 0"),
    (("ql:j:F", "failure", '{"group":5,"when":1}'), "put 100 me q F klass {} 0"),
    (("ql:j:L", "time", None), "complete 100 L worker p {}"),
    (("ql:j:L", "priority", "x"), "complete 100 L worker p {}"),
    (("ql:j:C", "queue", None), "depends 100 C off J"),
    (("ql:j:C", "queue", None), "cancel 100 C"),
    (("ql:r:R", "queue", None), "recur 100 q R klass {} interval 1 0"),
    (("ql:r:R", "count", None), "recur 100 q R klass {} interval 1 0"),
    (("ql:r:R", "tags", "["), "unrecur 100 R"),
    (("ql:r:R", "queue", None), "unrecur 100 R"),
    (("ql:r:R", "queue", None), "recur.update 100 R priority 5"),
]


@pytest.mark.parametrize(("broken", "line"), TAKEN)
def test_damage_that_does_no_harm(
    core: Target, broken: tuple[str, str, str | None], line: str
) -> None:
    for call in JOBS:
        run(core, call)
    break_field(core, *broken)
    assert run(core, line) is not None
    assert damaged(core) == 0


#: (the key that is of another type, the call that finds it)
WRONG_TYPES = [
    *(
        ("ql:j:J", f"{name} 100 J{rest}")
        for name, rest in [
            *(
                ("get", ""),
                ("cancel", ""),
                ("priority", " 1"),
                ("log", " message"),
                ("depends", " on K"),
            ),
            *(("timeout", ""), ("complete", " worker q {}"), ("complete", " worker q {} next p")),
            *(("fail", " worker group message"), ("retry", " q worker"), ("heartbeat", " worker")),
        ]
    ),
    ("ql:j:J", "put 100 me q J klass {} 0"),
    ("ql:j:J", "requeue 100 me q J klass {} 0"),
    ("ql:j:J", "tag 100 add J a"),
    ("ql:j:J", """put 100 me q K klass {} 0 depends '["J"]'"""),
    ("ql:j:J-history", "put 100 me q J klass {} 0"),
    ("ql:j:J-dependencies", "put 100 me q J klass {} 0"),
    ("ql:j:J-dependents", "cancel 100 J"),
    ("ql:j:J-dependencies", "cancel 100 J"),
    ("ql:r:R", "recur 100 q R klass {} interval 1 0"),
    ("ql:r:R", "recur.update 100 R priority 1"),
    ("ql:r:R", "recur.tag 100 R a"),
    ("ql:r:R", "unrecur 100 R"),
    *((f"ql:q:q-{name}", "pop 100 q worker 1") for name in ("work", "locks", "scheduled", "recur")),
    *((f"ql:q:q-{name}", "peek 100 q 1") for name in ("work", "locks", "scheduled", "recur")),
    *(
        (f"ql:q:q-{name}", "queues 100 q")
        for name in ("work", "locks", "scheduled", "recur", "depends")
    ),
    ("ql:q:q-work", "length 100 q"),
    ("ql:q:q-locks", "jobs 100 running q"),
    ("ql:q:q-scheduled", "jobs 100 scheduled q"),
    ("ql:q:q-depends", "jobs 100 depends q"),
    ("ql:q:q-recur", "jobs 100 recurring q"),
    ("ql:completed", "jobs 100 complete"),
    ("ql:config", "pop 100 q worker 1"),
    ("ql:config", "config.get 100"),
    ("ql:config", "config.get 100 heartbeat"),
    ("ql:paused_queues", "pop 100 q worker 1"),
    ("ql:queues", "queues 100"),
    ("ql:workers", "workers 100"),
    ("ql:w:worker:jobs", "workers 100 worker"),
    ("ql:tracked", "track 100"),
    ("ql:tracked", "put 100 me q J klass {} 0"),
    ("ql:tags", "tag 100 top"),
    ("ql:t:a", "tag 100 get a"),
    ("ql:failures", "failed 100"),
    ("ql:f:group", "failed 100 group"),
    ("ql:f:group", "unfail 100 q group"),
    ("ql:s:stats:0:q", "stats 100 q 100"),
    ("ql:s:run:0:q", "stats 100 q 100"),
]


@pytest.mark.parametrize(("key", "line"), WRONG_TYPES)
def test_a_key_of_another_type(core: Target, key: str, line: str) -> None:
    is_hash = key.startswith(("ql:j:J-depend", "ql:paused", "ql:failures"))
    damage(core, *(("HSET", key, "a", "b") if is_hash else ("SADD", key, "a")))
    fault = refuse(core, line, StoreCorrupted)
    assert type(fault) is StoreCorrupted
    assert fault.argument == key
    assert key in str(fault)


# -- what goes along with a call on another job -------------------------------------------------


@pytest.mark.parametrize(
    ("field", "text"), [("priority", "high"), ("priority", "inf"), ("scheduled", "soon")]
)
def test_complete_leaves_a_damaged_job_waiting(core: Target, field: str, text: str) -> None:
    put(core, "J")
    for jid in ("K", "L"):
        run(core, f"""put 105 me q {jid} klass {{}} 0 depends '["J"]'""")
    assert pop(core, 110) == ["J"]
    break_field(core, "ql:j:K", field, text)
    assert run(core, "complete 120 J worker q {}") == "complete"
    snapshot = core.snapshot()
    assert content(snapshot, "ql:j:K")["state"] == "depends"
    assert content(snapshot, "ql:j:L")["state"] == "waiting"
    assert damaged(core) == 1


@pytest.mark.parametrize("key", ["ql:j:K", "ql:j:K-dependencies"])
def test_complete_passes_over_a_job_whose_keys_are_of_another_type(core: Target, key: str) -> None:
    put(core, "J")
    run(core, """put 105 me q K klass {} 0 depends '["J"]'""")
    assert pop(core, 110) == ["J"]
    break_type(core, key)
    assert run(core, "complete 120 J worker q {}") == "complete"
    assert damaged(core) == 1


def test_complete_passes_over_a_job_that_waits_and_is_not_there(core: Target) -> None:
    """job.lua: complete; without a queue nothing is let go."""
    put(core, "J")
    damage(core, "SADD", "ql:j:J-dependents", "ghost")
    damage(core, "SADD", "ql:j:ghost-dependencies", "J")
    assert pop(core, 110) == ["J"]
    assert run(core, "complete 120 J worker q {}") == "complete"
    snapshot = core.snapshot()
    assert "ql:j:ghost-dependencies" not in snapshot
    assert "ql:j:ghost" not in snapshot
    assert damaged(core) == 0


@pytest.mark.parametrize("text", ["[", "null", "[true]"])
def test_a_completed_job_whose_tags_make_no_sense_goes_all_the_same(
    core: Target, text: str
) -> None:
    run(core, "config.set 90 jobs-history-count 1")
    for jid in ("J", "K"):
        put(core, jid)
        assert pop(core, 110) == [jid]
        run(core, f"complete 120 {jid} worker q {{}}")
        break_field(core, f"ql:j:{jid}", "tags", text)
    assert "ql:j:J" not in core.snapshot()
    assert damaged(core) == 1


def test_a_completed_entry_without_a_job_goes(core: Target) -> None:
    """job.lua: complete."""
    run(core, "config.set 90 jobs-history-count 1")
    damage(core, "ZADD", "ql:completed", 50.0, "ghost")
    put(core, "J")
    pop(core, 110)
    run(core, "complete 120 J worker q {}")
    assert content(core.snapshot(), "ql:completed") == {"J": 120.0}
    assert damaged(core) == 0


@pytest.mark.parametrize(
    "broken",
    [
        ("HSET", "ql:j:J", "priority", "high"),
        ("HSET", "ql:j:J", "retries", "inf"),
        ("HSET", "ql:j:J", "history", "{"),
        ("HDEL", "ql:j:J", "priority"),
    ],
)
def test_unfail_keeps_a_damaged_job(core: Target, broken: tuple[Any, ...]) -> None:
    put(core, "J", "K")
    pop(core, 110, 2)
    for now, jid in enumerate(("J", "K"), 120):
        run(core, f"fail {now} {jid} worker group message")
    damage(core, *broken)
    assert run(core, "unfail 200 q group") == 1
    snapshot = core.snapshot()
    assert content(snapshot, "ql:f:group") == ["J"]
    assert content(snapshot, "ql:failures") == ["group"]
    assert content(snapshot, "ql:q:q-work") == {"K": score(0, 200)}
    assert damaged(core) == 1


def test_unfail_drops_an_entry_without_a_job(core: Target) -> None:
    put(core, "J")
    pop(core, 110)
    run(core, "fail 120 J worker group message")
    damage(core, "LPUSH", "ql:f:group", "ghost")
    assert run(core, "unfail 200 q group") == 1
    snapshot = core.snapshot()
    assert "ql:f:group" not in snapshot
    assert "ql:j:ghost" not in snapshot
    assert damaged(core) == 1


@pytest.mark.parametrize("key", ["ql:j:J", "ql:j:J-history"])
def test_unfail_keeps_a_job_whose_keys_are_of_another_type(core: Target, key: str) -> None:
    put(core, "J", "K")
    pop(core, 110, 2)
    for now, jid in enumerate(("J", "K"), 120):
        run(core, f"fail {now} {jid} worker group message")
    break_type(core, key)
    assert run(core, "unfail 200 q group") == 1
    assert content(core.snapshot(), "ql:f:group") == ["J"]
    assert damaged(core) == 1


@pytest.mark.parametrize("retries", [None, "many", ""])
def test_unfail_gives_5_retries_where_there_is_no_number(core: Target, retries: str | None) -> None:
    """queue.lua: unfail."""
    put(core, "J")
    pop(core, 110)
    run(core, "fail 120 J worker group message")
    break_field(core, "ql:j:J", "retries", retries)
    assert run(core, "unfail 200 q group") == 1
    assert content(core.snapshot(), "ql:j:J")["remaining"] == "5"


def test_a_failed_job_without_a_queue_can_be_cancelled(core: Target) -> None:
    """The core dies on it; there is no day's count to take it from."""
    put(core, "J")
    pop(core, 110)
    run(core, "fail 120 J worker group message")
    break_field(core, "ql:j:J", "queue", None)
    assert run(core, "cancel 200 J") == ["J"]
    snapshot = core.snapshot()
    assert "ql:j:J" not in snapshot
    assert "ql:f:group" not in snapshot


@pytest.mark.parametrize(
    ("field", "text"), [("total", "some"), ("total", "-1"), ("mean", "some"), ("vk", None)]
)
def test_statistics_that_make_no_sense_take_no_sample(
    core: Target, field: str, text: str | None
) -> None:
    put(core, "J", "K")
    pop(core, 110)
    break_field(core, "ql:s:wait:0:q", field, text)
    before = content(core.snapshot(), "ql:s:wait:0:q")
    assert pop(core, 111) == ["K"]
    assert content(core.snapshot(), "ql:s:wait:0:q") == before
    assert damaged(core) == 1


def test_statistics_of_another_type_take_no_sample(core: Target) -> None:
    put(core, "J")
    damage(core, "SADD", "ql:s:wait:0:q", "a")
    assert pop(core, 110) == ["J"]
    assert content(core.snapshot(), "ql:s:wait:0:q") == ["a"]
    assert damaged(core) == 1


def test_a_time_beyond_all_numbers_is_no_sample(core: Target) -> None:
    run(core, "put -1.7e308 me q J klass {} 0")
    assert pop(core, 1.7e308) == ["J"]
    assert damaged(core) == 1


def test_statistics_that_make_no_sense_are_shown_as_none(core: Target) -> None:
    """queue.lua: stats takes what is no number for 0."""
    put(core, "J")
    pop(core, 110)
    for field in ("total", "mean", "s10"):
        break_field(core, "ql:s:wait:0:q", field, "some")
    shown = json.loads(run(core, "stats 110 q 110"))["wait"]
    assert (shown["count"], shown["mean"], sum(shown["histogram"])) == (0, 0, 0)


def test_a_setting_found_bad_behind_a_dangling_entry_is_told_by_the_next_call(
    core: Target,
) -> None:
    """The first link of the chain has removed the entry, and an error would say that nothing changed."""
    core.call("put", "0", "w", "alpha", "J", "klass", "{}", "0")
    core.call("put", "0", "w", "beta", "K", "klass", "{}", "0")
    core.call("pop", "0", "alpha", "w", "1")
    core.call("pop", "0", "beta", "w", "1")
    core.call("retry", "0", "K", "alpha", "w")
    core.call("config.set", "0", "alpha-max-concurrency", "1.5")
    core.call("cancel", "0", "K")
    assert core.call("pop", "1400000000", "alpha", "w", "1") == "{}"
    with pytest.raises(core.error) as told:
        core.call("pop", "1400000001", "alpha", "w", "1")
    assert isinstance(told.value.__cause__, InvalidSetting)
