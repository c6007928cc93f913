# SPDX-License-Identifier: MIT
"""The doctor finds damaged data, and leaves it as it is."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator

import pytest

from pyqless.core.commands import call
from pyqless.core.transaction import Transaction
from pyqless.doctor import Check, Verdict, probe
from pyqless.doctor.data import survey
from pyqless.storage import Storage, open_storage
from pyqless.storage.memory import MemoryStorage


@pytest.fixture
def storage() -> Iterator[MemoryStorage]:
    with open_storage(f"memory://{os.urandom(8).hex()}") as storage:
        assert isinstance(storage, MemoryStorage)
        yield storage
        storage.flush()


def do(storage: Storage, *lines: str) -> None:
    for line in lines:
        wanted = call(shlex.split(line))
        storage.run(wanted.transition, wanted.now)


def write(storage: MemoryStorage, *command: str) -> None:
    storage._database.keyspace.write(command)


def look(storage: Storage) -> Check:
    before = storage.dump()
    report = probe(storage.url)
    assert storage.dump() == before
    assert report.usable
    (check,) = (check for check in report.checks if check.name == "data")
    return check


#: Jobs in all places: running, waiting, delayed, depending, failed, and a recurring one.
SOUND = (
    "put 0 me q A klass {} 0 priority 9",
    "put 0 me q B klass {} 0 priority 8",
    "put 0 me q C klass {} 0",
    "put 0 me q D klass {} 100",
    """put 0 me q E klass {} 0 depends '["C"]'""",
    "recur 0 q R klass {} interval 100 50",
    "pop 1 q w 2",
    "fail 2 B w group message",
)


def test_sound_data(storage: MemoryStorage) -> None:
    do(storage, *SOUND)
    check = look(storage)
    assert check.verdict is Verdict.OK
    assert check.seen == "6 entries looked at, none of them damaged"


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("ZADD ql:q:q-work 1 gone", "a queue names job 'gone', which is not there"),
        ("ZADD ql:q:q-locks 1 gone", "a queue names job 'gone', which is not there"),
        ("ZADD ql:q:q-scheduled 1 gone", "a queue names job 'gone', which is not there"),
        ("ZADD ql:q:q-depends 1 gone", "a queue names job 'gone', which is not there"),
        ("ZADD ql:q:q-recur 1 gone", "a queue names recurring job 'gone', which is not there"),
        ("LPUSH ql:f:group gone", "a queue names job 'gone', which is not there"),
        ("HSET ql:j:A tags {", "job A: the field 'tags' makes no sense: '{'"),
        ("HSET ql:j:D remaining many", "job D: the field 'remaining' makes no sense: 'many'"),
        ("HSET ql:j:B failure no", "job B: the field 'failure' makes no sense: 'no'"),
        ("RPUSH ql:j:C-history no", "job C: the history makes no sense"),
        ("HDEL ql:r:R interval", "job R: the field 'interval' is missing"),
        ("HSET ql:r:R count half", "job R: the field 'count' makes no sense: 'half'"),
        ("HDEL ql:r:R klass", "job R: the field 'klass' is missing"),
    ],
)
def test_damage(storage: MemoryStorage, command: str, fault: str) -> None:
    do(storage, *SOUND)
    write(storage, *shlex.split(command))
    check = look(storage)
    assert check.verdict is Verdict.WARNING
    assert f"damaged: {fault}" in check.seen
    assert check.advice


@pytest.mark.parametrize(
    "key", ["ql:queues", "ql:failures", "ql:q:q-work", "ql:j:A", "ql:j:A-dependents", "ql:r:R"]
)
def test_a_key_of_another_type(storage: MemoryStorage, key: str) -> None:
    do(storage, *SOUND)
    write(storage, "DEL", key)
    write(storage, "RPUSH", key, "text")
    check = look(storage)
    assert check.verdict is Verdict.WARNING
    assert key in check.seen


def test_much_damage_is_told_in_part(storage: MemoryStorage) -> None:
    do(storage, *SOUND)
    for number in range(5):
        write(storage, "ZADD", "ql:q:q-scheduled", "1", f"gone{number}")
    check = look(storage)
    assert check.seen.count("which is not there") == 3
    assert check.seen.endswith("; and 2 more")


def test_the_look_is_bounded(storage: MemoryStorage) -> None:
    do(storage, *(f"put 0 me q{number} J{number} klass {{}} 0" for number in range(9)))

    found = storage.run(lambda tx: survey(tx, 4))
    assert found.cut
    assert 4 <= found.entries < 9


def test_an_entry_that_leaves_meanwhile_is_no_damage(storage: MemoryStorage) -> None:
    do(storage, "put 0 me q A klass {} 0")
    tx = Transaction(1.0, storage.keys)
    steps = survey(tx, 10)
    batch = next(steps)
    seen = []
    try:
        while True:
            replies = [storage._database.keyspace.read(read) for read in batch.reads]
            seen.append(replies)
            if replies == [["A"], ["A"]]:
                do(storage, "cancel 1 A")
            batch = steps.send(replies)
    except StopIteration as end:
        found = end.value
    assert [["A"], ["A"]] in seen
    assert (found.entries, found.faults) == (1, [])
