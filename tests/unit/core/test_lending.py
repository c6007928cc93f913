# SPDX-License-Identifier: MIT
"""Which transactions only lend, so that a power cut may undo them: hand-outs and heartbeats, and no others."""

from __future__ import annotations

import shlex

import pytest

from pyqless.core.commands import call
from pyqless.core.effects import Transition
from pyqless.core.keys import Keys
from pyqless.core.lending import only_lends
from pyqless.core.transaction import Transaction
from pyqless.storage import Storage, open_storage

PUT = "put 10 w q jid klass {} 0"
LAST = f"{PUT} retries 0"
POP = "pop 20 q w 1"
AGAIN = "pop 100 q other 1"
AT_ONCE = "config.set 1 grace-period 0"


def carry_out(storage: Storage, words: str) -> bool:
    """Carry a call out; tell whether it only lent."""
    wanted = call(shlex.split(words))
    lends = []

    def transition(tx: Transaction) -> Transition[object]:
        value = yield from wanted.transition(tx)
        lends.append(only_lends(tx))
        return value

    storage.run(transition, wanted.now)
    return lends[-1]


def lends(*calls: str) -> bool:
    with open_storage("memory://") as storage:
        return [carry_out(storage, words) for words in calls][-1]


@pytest.mark.parametrize(
    "calls",
    [
        (POP,),
        (PUT, POP),
        (PUT, "put 11 w q other klass {} 0", "pop 20 q w 2"),
        (PUT, "track 11 track jid", POP),
        ("put 10 w q jid klass {} 5", POP),
        (PUT, POP, "heartbeat 30 jid w"),
        (AT_ONCE, f"{PUT} retries 2", POP, AGAIN),
    ],
    ids=["nothing", "one", "two", "tracked", "delayed", "heartbeat", "expired"],
)
def test_a_loan(calls: tuple[str, ...]) -> None:
    assert lends(*calls)


@pytest.mark.parametrize(
    "words",
    [
        "put 30 w q other klass {} 0",
        "requeue 30 w q jid klass {} 0",
        "complete 30 jid w q {}",
        "complete 30 jid w q {} next p",
        "fail 30 jid w group message",
        "retry 30 jid q w",
        "timeout 30 jid",
        "cancel 30 jid",
        "log 30 jid message",
        "priority 30 jid 5",
        "tag 30 add jid tag",
        "track 30 track jid",
        "pause 30 q",
        "worker.deregister 30 w",
        "config.set 30 heartbeat 10",
    ],
)
def test_work(words: str) -> None:
    assert not lends(PUT, POP, words)


def test_the_last_run_of_a_job_is_no_loan() -> None:
    assert not lends(LAST, POP)
    assert not lends(LAST, POP, "heartbeat 30 jid w")
    assert not lends(AT_ONCE, f"{PUT} retries 1", POP, AGAIN)
    assert not lends(PUT, "put 11 w q other klass {} 0 retries 0", "pop 20 q w 2")


def test_new_data_is_no_loan() -> None:
    assert not lends(PUT, POP, "heartbeat 30 jid w '{\"done\": 1}'")


def test_what_a_pop_does_beside_lending_is_no_loan() -> None:
    assert not lends("recur 10 q jid klass {} interval 60 0", POP)
    assert not lends(PUT, POP, AGAIN)  # the worker is told, and the retry counted


@pytest.mark.parametrize(
    "write",
    [
        ("ZADD", "ql:q:q-work", 1.0, "jid"),
        ("HSET", "ql:s:wait:86400:q", "total", "1"),
        ("RPUSH", "ql:j:jid-history", "[]"),
        ("ZADD", "ql:workers", 0.5, "w"),
    ],
)
def test_what_goes_along_with_a_loan_is_none_by_itself(write: tuple[object, ...]) -> None:
    tx = Transaction(1.0, Keys())
    tx.writes.append(write)
    assert not only_lends(tx)


def test_a_job_of_which_nothing_is_known_is_no_loan() -> None:
    tx = Transaction(1.0, Keys())
    tx.zadd("ql:w:w:jobs", 60.0, "jid")
    assert not only_lends(tx)


@pytest.mark.parametrize(
    ("state", "remaining", "expected"),
    [
        ("running", "1", True),
        ("running", "0", False),
        ("running", "-1", False),
        ("running", "nonsense", False),
        ("running", None, False),
        ("waiting", "1", False),
    ],
)
def test_a_job_is_lent_that_runs_and_may_run_again(
    state: str, remaining: str | None, *, expected: bool
) -> None:
    tx = Transaction(1.0, Keys())
    reading = tx.read(("HGETALL", "ql:j:jid"))
    next(reading)
    with pytest.raises(StopIteration):
        reading.send([{} if remaining is None else {"remaining": remaining}])
    tx.hset("ql:j:jid", "state", state)
    tx.zadd("ql:w:w:jobs", 60.0, "jid")
    assert only_lends(tx) == expected
