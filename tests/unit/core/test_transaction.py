# SPDX-License-Identifier: MIT
"""The transaction: its guards, and the overlay, through which a rule reads what it has written."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyqless.core.effects import Batch, Command, Replies, raise_first
from pyqless.core.keys import Keys
from pyqless.core.keyspace import Keyspace, WrongType
from pyqless.core.sortedset import SortedSet
from pyqless.core.transaction import Transaction
from pyqless.errors import StoreCorrupted

#: one key of each type, and one that is not there
SETUP: list[Command] = [
    ("HSET", "h", "a", "1", "b", "2"),
    ("RPUSH", "l", "a", "b", "c", "b"),
    ("SADD", "s", "a", "b"),
    ("ZADD", "z", 1.0, "a", 2.0, "b", 3.0, "c"),
]
WRITES: list[Command] = [
    ("HSET", "h", "a", "9", "c", "3"),
    ("HDEL", "h", "a"),
    ("HDEL", "h", "a", "b"),
    ("HINCRBY", "h", "a", 5),
    ("DEL", "h"),
    ("RPUSH", "l", "x"),
    ("LPUSH", "l", "x"),
    ("LPOP", "l"),
    ("LTRIM", "l", 1, 2),
    ("LTRIM", "l", 9, 9),
    ("LREM", "l", 0, "b"),
    ("DEL", "l"),
    ("SADD", "s", "x", "a"),
    ("SREM", "s", "a"),
    ("SREM", "s", "a", "b"),
    ("DEL", "s"),
    ("ZADD", "z", 9.0, "a"),
    ("ZADD", "z", "NX", 9.0, "a"),
    ("ZADD", "z", "XX", 9.0, "x"),
    ("ZINCRBY", "z", 5.0, "a"),
    ("ZREM", "z", "a", "x"),
    ("ZREMRANGEBYSCORE", "z", 0.0, 2.0),
    ("ZREMRANGEBYSCORE", "z", 0.0, 9.0),
    ("DEL", "z"),
]
READS: list[Command] = [
    ("HGET", "h", "a"),
    ("HMGET", "h", "a", "x", "b"),
    ("HGETALL", "h"),
    ("HLEN", "h"),
    ("LINDEX", "l", 0),
    ("LLEN", "l"),
    ("LRANGE", "l", 0, -1),
    ("LRANGE", "l", 1, 2),
    ("SCARD", "s"),
    ("SISMEMBER", "s", "a"),
    ("SMEMBERS", "s"),
    ("ZCARD", "z"),
    ("ZCOUNT", "z", 0.0, 5.0),
    ("ZRANGE", "z", 0, -1),
    ("ZRANGE", "z", 0, -1, "WITHSCORES"),
    ("ZREVRANGE", "z", 0, 1, "WITHSCORES"),
    ("ZRANGEBYSCORE", "z", 0, "+inf", "LIMIT", 0, 2),
    ("ZREVRANGEBYSCORE", "z", "+inf", 2, "LIMIT", 0, 9),
    ("ZSCORE", "z", "a"),
]


@pytest.fixture
def keyspace() -> Keyspace:
    return filled()


@pytest.fixture
def tx() -> Transaction:
    return Transaction(100.0, Keys())


def filled() -> Keyspace:
    keyspace = Keyspace()
    for write in SETUP:
        keyspace.write(write)
    return keyspace


def drive(
    reading: Generator[Batch, Replies, Replies], keyspace: Keyspace
) -> tuple[Replies, list[Batch]]:
    """Give what a read gives, and the batches that went to the store."""
    batches = []
    try:
        batch = next(reading)
        while True:
            batches.append(batch)
            batch = reading.send([lookup(keyspace, read) for read in batch.reads])
    except StopIteration as end:
        return end.value, batches


def lookup(keyspace: Keyspace, read: Command) -> Any:
    try:
        return keyspace.read(read)
    except WrongType as error:
        return StoreCorrupted(str(error), argument=read[1])


def plain(reply: Any) -> Any:
    """A reply as the keyspace gives it."""
    if isinstance(reply, SortedSet):
        return list(reply.items())
    return list(reply) if isinstance(reply, deque) else reply


def read(tx: Transaction, keyspace: Keyspace, *reads: Command) -> list[Any]:
    return [plain(reply) for reply in drive(tx.read(*reads), keyspace)[0]]


# -- staging ------------------------------------------------------------------------------------

STAGED: list[tuple[str, tuple[Any, ...], Command]] = [
    ("hset", ("h", "a", "1"), ("HSET", "h", "a", "1")),
    ("hdel", ("h", "a", "b"), ("HDEL", "h", "a", "b")),
    ("hincrby", ("h", "a", -1), ("HINCRBY", "h", "a", -1)),
    ("delete", ("h",), ("DEL", "h")),
    ("zadd", ("z", 1.5, "a"), ("ZADD", "z", 1.5, "a")),
    ("zadd_new", ("z", 1.5, "a"), ("ZADD", "z", "NX", 1.5, "a")),
    ("zadd_existing", ("z", 1.5, "a"), ("ZADD", "z", "XX", 1.5, "a")),
    ("zincrby", ("z", 1.5, "a"), ("ZINCRBY", "z", 1.5, "a")),
    ("zrem", ("z", "a", "b"), ("ZREM", "z", "a", "b")),
    ("zremrangebyscore", ("z", 0.0, 1.0), ("ZREMRANGEBYSCORE", "z", 0.0, 1.0)),
    ("lpush", ("l", "a"), ("LPUSH", "l", "a")),
    ("rpush", ("l", "a"), ("RPUSH", "l", "a")),
    ("lpop", ("l",), ("LPOP", "l")),
    ("ltrim", ("l", 0, -1), ("LTRIM", "l", 0, -1)),
    ("lrem", ("l", "a"), ("LREM", "l", 0, "a")),
    ("sadd", ("s", "a", "b"), ("SADD", "s", "a", "b")),
    ("srem", ("s", "a", "b"), ("SREM", "s", "a", "b")),
    ("publish", ("channel", "text"), ("PUBLISH", "channel", "text")),
]


@pytest.mark.parametrize(("method", "arguments", "staged"), STAGED)
def test_writes_are_staged(
    tx: Transaction, method: str, arguments: tuple[Any, ...], staged: Command
) -> None:
    getattr(tx, method)(*arguments)
    assert tx.writes == [staged]
    assert tx.blind == [staged]


# -- guards -------------------------------------------------------------------------------------


def test_reads_are_guarded_unless_they_are_free(tx: Transaction, keyspace: Keyspace) -> None:
    reading = tx.read(("HGET", "h", "a"), ("ZSCORE", "z", "a"), free=[("SCARD", "s")], last=True)
    replies, batches = drive(reading, keyspace)
    assert replies == ["1", 1.0, 2]
    (batch,) = batches
    assert batch == Batch((("HGET", "h", "a"), ("ZSCORE", "z", "a"), ("SCARD", "s")), 2, last=True)
    assert batch.guards == ["h", "z"]


def test_a_key_is_guarded_once(tx: Transaction, keyspace: Keyspace) -> None:
    reading = tx.read(("HGET", "h", "a"), ("LLEN", "l"), ("HGET", "h", "b"), ("LINDEX", "l", 0))
    (batch,) = drive(reading, keyspace)[1]
    assert batch.guards == ["h", "l"]


def test_a_snapshot_has_no_guards(tx: Transaction, keyspace: Keyspace) -> None:
    replies, (batch,) = drive(tx.snapshot(("HGET", "h", "a"), ("LLEN", "l")), keyspace)
    assert replies == ["1", 4]
    assert batch.snapshot
    assert batch.guards == []


def test_a_snapshot_looks_past_the_overlay(tx: Transaction, keyspace: Keyspace) -> None:
    tx.hset("h", "a", "9")
    assert drive(tx.snapshot(("HGET", "h", "a")), keyspace)[0] == ["1"]


def test_what_is_known_is_not_read_again(tx: Transaction, keyspace: Keyspace) -> None:
    drive(tx.read(("HGETALL", "h"), ("LRANGE", "l", 0, -1), ("SMEMBERS", "s")), keyspace)
    reading = tx.read(("HGET", "h", "a"), ("LLEN", "l"), ("SISMEMBER", "s", "a"), ("HGETALL", "h"))
    replies, batches = drive(reading, keyspace)
    assert replies == ["1", 4, 1, {"a": "1", "b": "2"}]
    assert batches == []


def test_what_is_not_known_is_guarded_with_the_rest(tx: Transaction, keyspace: Keyspace) -> None:
    drive(tx.read(("HGETALL", "h")), keyspace)
    reading = tx.read(("HGET", "h", "a"), ("LLEN", "l"), free=[("SCARD", "s"), ("HLEN", "h")])
    replies, (batch,) = drive(reading, keyspace)
    assert replies == ["1", 4, 2, 2]
    assert batch.reads == (("LLEN", "l"), ("SCARD", "s"))
    assert batch.guards == ["l"]


# -- the overlay --------------------------------------------------------------------------------


@pytest.mark.parametrize("whole_first", [True, False])
@pytest.mark.parametrize("command", READS, ids=str)
@pytest.mark.parametrize("write", WRITES, ids=str)
def test_what_is_written_is_read(write: Command, command: Command, *, whole_first: bool) -> None:
    keyspace, tx = filled(), Transaction(100.0, Keys())
    if whole_first:
        read(tx, keyspace, ("HGETALL", "h"), ("LRANGE", "l", 0, -1), ("SMEMBERS", "s"))
    tx._stage(write)
    seen = read(tx, keyspace, command)
    committed = filled()
    committed.write(write)
    assert seen == [committed.read(command)]


@pytest.mark.parametrize("command", [*READS, ("EXISTS", "h"), ("EXISTS", "l")], ids=str)
def test_what_is_made_anew_is_read(command: Command) -> None:
    empty, tx = Keyspace(), Transaction(100.0, Keys())
    for write in SETUP:
        tx._stage(write)
    assert read(tx, empty, command) == [filled().read(command)]


NAMES = st.sampled_from("ab")
SCORES = st.sampled_from([0.0, 1.5, -2.0])
RANKS = st.integers(-3, 3)
TEXTS = st.sampled_from("123")

ANY_WRITE = st.one_of(
    st.tuples(st.just("HSET"), st.just("h"), NAMES, TEXTS),
    st.tuples(st.just("HDEL"), st.just("h"), NAMES),
    st.tuples(st.just("HINCRBY"), st.just("h"), NAMES, st.integers(-2, 2)),
    st.tuples(st.sampled_from(["RPUSH", "LPUSH"]), st.just("l"), NAMES),
    st.tuples(st.just("LPOP"), st.just("l")),
    st.tuples(st.just("LTRIM"), st.just("l"), RANKS, RANKS),
    st.tuples(st.just("LREM"), st.just("l"), st.just(0), NAMES),
    st.tuples(st.sampled_from(["SADD", "SREM"]), st.just("s"), NAMES),
    st.tuples(st.just("ZADD"), st.just("z"), SCORES, NAMES),
    st.tuples(st.just("ZADD"), st.just("z"), st.sampled_from(["NX", "XX"]), SCORES, NAMES),
    st.tuples(st.just("ZINCRBY"), st.just("z"), SCORES, NAMES),
    st.tuples(st.just("ZREM"), st.just("z"), NAMES),
    st.tuples(st.just("ZREMRANGEBYSCORE"), st.just("z"), SCORES, SCORES),
    st.tuples(st.just("DEL"), st.sampled_from("hlsz")),
    # a channel that has the name of a key
    st.tuples(st.just("PUBLISH"), st.sampled_from("hlsz"), TEXTS),
)


@given(
    before=st.lists(ANY_WRITE, max_size=6),
    steps=st.lists(st.one_of(ANY_WRITE, st.lists(st.sampled_from(READS), min_size=1)), max_size=12),
)
def test_any_writes_and_reads(before: list[Command], steps: list[Any]) -> None:
    """A transaction sees, and commits, what would be there if each of its writes took place at once."""
    keyspace = Keyspace()
    apply(keyspace, before)
    committed, tx = keyspace.copy(), Transaction(100.0, Keys())
    for step in steps:
        if isinstance(step, list):
            assert read(tx, keyspace, *step) == [committed.read(command) for command in step]
        elif step[0] == "PUBLISH":
            tx.publish(*step[1:])
        else:
            tx._stage(step)
            committed.write(step)
    by_writes, by_images = keyspace.copy(), keyspace.copy()
    apply(by_writes, tx.writes)
    apply(by_images, tx.blind)
    for key, image in tx.changed.items():
        by_images.replace(key, image)
    assert contents(by_writes) == contents(by_images) == contents(committed)


def apply(keyspace: Keyspace, writes: list[Command]) -> None:
    for write in writes:
        if write[0] != "PUBLISH":
            keyspace.write(write)


def contents(keyspace: Keyspace) -> Any:
    return keyspace.dump()


def test_images_are_live(tx: Transaction, keyspace: Keyspace) -> None:
    reading = tx.read(("HGETALL", "h"), ("LRANGE", "l", 0, -1), ("SMEMBERS", "s"))
    fields, entries, members = drive(reading, keyspace)[0]
    tx.hset("h", "c", "3")
    tx.rpush("l", "d")
    tx.srem("s", "a")
    assert fields == {"a": "1", "b": "2", "c": "3"}
    assert list(entries) == ["a", "b", "c", "b", "d"]
    assert members == {"b"}
    tx.delete("h")
    assert fields == {}


def test_an_image_is_live_from_the_first_write_on(tx: Transaction, keyspace: Keyspace) -> None:
    tx.hset("h", "c", "3")
    (fields,) = drive(tx.read(("HGETALL", "h")), keyspace)[0]
    tx.hset("h", "d", "4")
    assert fields == {"a": "1", "b": "2", "c": "3", "d": "4"}
    assert drive(tx.read(("HGETALL", "h")), keyspace) == ([fields], [])


def test_images_are_no_part_of_the_store(tx: Transaction, keyspace: Keyspace) -> None:
    before = keyspace.dump()
    drive(tx.read(("HGETALL", "h"), ("LRANGE", "l", 0, -1), ("SMEMBERS", "s")), keyspace)
    tx.hset("h", "c", "3")
    tx.lpop("l")
    tx.sadd("s", "c")
    assert keyspace.dump() == before


def test_sorted_sets_have_no_image_unless_they_were_written_to(
    tx: Transaction, keyspace: Keyspace
) -> None:
    whole = ("ZRANGE", "z", 0, -1, "WITHSCORES")
    drive(tx.read(("HGETALL", "h"), whole), keyspace)
    assert drive(tx.read(("ZCARD", "z")), keyspace)[1] == [Batch((("ZCARD", "z"),), 1)]
    tx.zincrby("z", 9.0, "x")
    assert drive(tx.read(("ZCARD", "z")), keyspace) == ([4], [Batch((whole,), 1)])
    assert drive(tx.read(("ZSCORE", "z", "x")), keyspace) == ([9.0], [])


def test_a_key_that_was_written_to_is_read_whole_and_once(
    tx: Transaction, keyspace: Keyspace
) -> None:
    tx.hset("h", "c", "3")
    tx.rpush("l", "d")
    tx.delete("s")
    reading = tx.read(
        *(("HLEN", "h"), ("LLEN", "l"), ("SCARD", "s")),
        free=[("HGETALL", "h"), ("ZCARD", "z")],
    )
    replies, (batch,) = drive(reading, keyspace)
    assert replies == [3, 5, 0, {"a": "1", "b": "2", "c": "3"}, 3]
    assert batch == Batch(
        (("HGETALL", "h"), ("LRANGE", "l", 0, -1), ("SMEMBERS", "s"), ("ZCARD", "z")), 3
    )


def test_a_channel_that_has_the_name_of_a_key(tx: Transaction, keyspace: Keyspace) -> None:
    """Such as ``ql:completed``."""
    tx.zadd("z", 9.0, "x")
    tx.publish("z", "text")
    tx.zincrby("z", 1.0, "x")
    assert drive(tx.read(("ZCARD", "z")), keyspace)[0] == [4]
    assert tx.blind == [("PUBLISH", "z", "text")]
    assert tx.writes == [
        ("ZADD", "z", 9.0, "x"),
        ("PUBLISH", "z", "text"),
        ("ZINCRBY", "z", 1.0, "x"),
    ]


# -- what was read for several ------------------------------------------------------------------


def test_what_was_read_at_the_beginning_is_known(tx: Transaction, keyspace: Keyspace) -> None:
    guarded, free = ("HGETALL", "h"), ("ZCARD", "z")
    _, (batch,) = drive(nothing(tx.preload(guarded, free=[free])), keyspace)
    assert batch == Batch((guarded, free), 1, last=True)
    assert [tx.known(read, "?") for read in (guarded, free, ("SCARD", "s"))] == [
        {"a": "1", "b": "2"},
        3,
        "?",
    ]
    assert drive(tx.read(guarded, free=[free]), keyspace) == ([{"a": "1", "b": "2"}, 3], [])


def test_what_was_read_without_a_guard_is_read_again_with_one(
    tx: Transaction, keyspace: Keyspace
) -> None:
    drive(nothing(tx.preload(("HGETALL", "h"), free=[("ZCARD", "z")])), keyspace)
    replies, (batch,) = drive(tx.read(("ZCARD", "z"), free=[("HGETALL", "h")]), keyspace)
    assert replies == [3, {"a": "1", "b": "2"}]
    assert batch == Batch((("ZCARD", "z"),), 1)


def nothing(preloading: Generator[Batch, Replies, None]) -> Generator[Batch, Replies, Replies]:
    yield from preloading
    return []


# -- taking back --------------------------------------------------------------------------------


@given(
    kept=st.lists(ANY_WRITE, max_size=6),
    undone=st.lists(ANY_WRITE, max_size=6),
    later=st.lists(ANY_WRITE, max_size=3),
    reads=st.lists(st.sampled_from(READS), min_size=1, max_size=4),
    known=st.booleans(),
)
def test_what_is_taken_back_was_never_there(
    kept: list[Command],
    undone: list[Command],
    later: list[Command],
    reads: list[Command],
    *,
    known: bool,
) -> None:
    keyspace, tx = filled(), Transaction(100.0, Keys())
    if known:
        drive(nothing(tx.preload(*reads)), keyspace)
    stage(tx, kept)
    read(tx, keyspace, *reads)
    number = len(tx.writes)
    stage(tx, undone)
    read(tx, keyspace, *reads)
    tx.rewind(number)
    committed = filled()
    apply(committed, kept)
    assert tx.writes == kept
    stage(tx, later)
    apply(committed, later)
    assert read(tx, keyspace, *reads) == [committed.read(command) for command in reads]
    by_images = filled()
    apply(by_images, tx.blind)
    for key, image in tx.changed.items():
        by_images.replace(key, image)
    assert contents(by_images) == contents(committed)


def stage(tx: Transaction, writes: list[Command]) -> None:
    for write in writes:
        if write[0] == "PUBLISH":
            tx.publish(*write[1:])
        else:
            tx._stage(write)


# -- keys of another type -----------------------------------------------------------------------


def test_a_read_of_another_type_raises(tx: Transaction, keyspace: Keyspace) -> None:
    with pytest.raises(StoreCorrupted) as caught:
        drive(tx.read(("HGET", "h", "a"), ("HGETALL", "l")), keyspace)
    assert caught.value.argument == "l"


def test_a_tolerant_read_leaves_the_fault_in_its_place(tx: Transaction, keyspace: Keyspace) -> None:
    reading = tx.read(("HGETALL", "l"), ("HGETALL", "h"), tolerant=True)
    fault, fields = drive(reading, keyspace)[0]
    assert isinstance(fault, StoreCorrupted)
    assert fault.argument == "l"
    assert fields == {"a": "1", "b": "2"}


@pytest.mark.parametrize("staged", [True, False])
def test_an_image_of_another_type(tx: Transaction, keyspace: Keyspace, *, staged: bool) -> None:
    if staged:
        tx.hset("h", "c", "3")
    drive(tx.read(("HGETALL", "h")), keyspace)
    (fault,) = drive(tx.read(("LLEN", "h"), tolerant=True), keyspace)[0]
    assert isinstance(fault, StoreCorrupted)
    assert fault.argument == "h"
    with pytest.raises(StoreCorrupted):
        drive(tx.read(("ZSCORE", "h", "a")), keyspace)


def test_the_image_of_a_hash(tx: Transaction, keyspace: Keyspace) -> None:
    assert tx.image("h") is None
    (fields, _) = drive(tx.read(("HGETALL", "h"), ("LRANGE", "l", 0, -1)), keyspace)[0]
    assert tx.image("h") is fields
    assert tx.image("l") is None


def test_an_image_is_not_taken_for_one_of_another_type(tx: Transaction, keyspace: Keyspace) -> None:
    """Such as that of a history, for the job whose jid is that of another with ``-history``."""
    drive(tx.read(("LRANGE", "l", 0, -1)), keyspace)
    (fault,) = drive(tx.read(("HGETALL", "l"), tolerant=True), keyspace)[0]
    assert isinstance(fault, StoreCorrupted)


def test_a_key_that_is_not_there_is_of_any_type(tx: Transaction, keyspace: Keyspace) -> None:
    drive(tx.read(("LRANGE", "x", 0, -1)), keyspace)
    (fields,) = drive(tx.read(("HGETALL", "x")), keyspace)[0]
    tx.hset("x", "a", "1")
    assert fields == {"a": "1"}
    entries, fault = drive(
        tx.read(("LRANGE", "y", 0, -1), ("HGETALL", "y"), tolerant=True), keyspace
    )[0]
    assert (list(entries), fault) == ([], {})


def test_a_blind_write_to_a_key_of_another_type(tx: Transaction, keyspace: Keyspace) -> None:
    tx.zadd("h", 1.0, "x")
    (fault,) = drive(tx.read(("ZSCORE", "h", "x"), tolerant=True), keyspace)[0]
    assert isinstance(fault, StoreCorrupted)


def test_the_first_fault_is_raised() -> None:
    raise_first(["a", None, 1.0])
    first, second = StoreCorrupted("first"), StoreCorrupted("second")
    with pytest.raises(StoreCorrupted) as caught:
        raise_first(["a", first, second])
    assert caught.value is first
