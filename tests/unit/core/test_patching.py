# SPDX-License-Identifier: MIT
"""Reads of keys that were written to: what is read instead, and what is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyqless.core.effects import Command
from pyqless.core.keys import Keys
from pyqless.core.keyspace import Keyspace
from pyqless.core.patching import patch, widened
from pyqless.core.transaction import Transaction
from pyqless.errors import StoreCorrupted
from tests.property import strategies
from tests.unit.core.test_transaction import drive, nothing

BOTH = ("WITHSCORES",)
LIMIT = (*BOTH, "LIMIT", 0)


@given(
    before=strategies.writes(),
    staged=strategies.writes(),
    reads=st.lists(strategies.bounded_reads(), min_size=1, max_size=3),
    known=st.booleans(),
)
def test_a_read_sees_what_was_staged(
    before: list[Command], staged: list[Command], reads: list[Command], *, known: bool
) -> None:
    keyspace, tx = filled(before), Transaction(100.0, Keys())
    if known:
        drive(nothing(tx.preload(*reads)), keyspace)
    for write in staged:
        tx._stage(write)
    replies, _ = drive(tx.read(*reads), keyspace)
    committed = filled([*before, *staged])
    assert replies == [committed.read(read) for read in reads]


def filled(writes: Sequence[Command]) -> Keyspace:
    keyspace = Keyspace()
    for write in writes:
        keyspace.write(write)
    return keyspace


READ_INSTEAD: list[tuple[Command, list[Command], tuple[Command, ...]]] = [
    # as many more as may be struck off, or stand before those that are wanted
    (
        ("ZRANGE", "z", 0, 1, *BOTH),
        [("ZREM", "z", "a", "b"), ("ZADD", "z", 1.0, "c")],
        (("ZRANGE", "z", 0, 4, *BOTH),),
    ),
    (("ZREVRANGE", "z", 0, 0, *BOTH), [("ZREM", "z", "a")], (("ZREVRANGE", "z", 0, 1, *BOTH),)),
    (("ZRANGE", "z", 0, -1, *BOTH), [("ZREM", "z", "a")], (("ZRANGE", "z", 0, -1, *BOTH),)),
    (
        ("ZRANGEBYSCORE", "z", 0, "+inf", *LIMIT, 2),
        [("ZREM", "z", "a")],
        (("ZRANGEBYSCORE", "z", 0, "+inf", *LIMIT, 3),),
    ),
    (
        ("ZRANGEBYSCORE", "z", 0, "+inf", *LIMIT, -1),
        [("ZREM", "z", "a")],
        (("ZRANGEBYSCORE", "z", 0, "+inf", *LIMIT, -1),),
    ),
    (
        ("ZRANGEBYSCORE", "z", 0, "+inf", *BOTH),
        [("ZREM", "z", "a")],
        (("ZRANGEBYSCORE", "z", 0, "+inf", *BOTH),),
    ),
    # what is known of a member is not asked for, but the type of the key is
    (("ZSCORE", "z", "a"), [("ZADD", "z", 1.0, "a")], (("ZSCORE", "z", "a"),)),
    (("HMGET", "h", "a", "b"), [("HSET", "h", "a", "1")], (("HMGET", "h", "a", "b"),)),
    (("HGET", "h", "a"), [("HINCRBY", "h", "b", 1)], (("HGET", "h", "a"),)),
    # who of them was counted already
    (
        ("ZCARD", "z"),
        [("ZADD", "z", 1.0, "a"), ("ZREM", "z", "b")],
        (("ZCARD", "z"), ("ZSCORE", "z", "a"), ("ZSCORE", "z", "b")),
    ),
]


@pytest.mark.parametrize(("read", "writes", "expected"), READ_INSTEAD)
def test_little_is_read(
    read: Command, writes: list[Command], expected: tuple[Command, ...]
) -> None:
    found = patch(read, writes)
    assert found is not None
    assert found.reads == expected
    assert not found.whole


READ_WHOLE: list[tuple[Command, Command]] = [
    (("HGET", "h", "a"), ("HINCRBY", "h", "a", 1)),
    (("HMGET", "h", "b", "a"), ("HINCRBY", "h", "a", 1)),
    (("HMGET", "h", "a"), ("DEL", "h")),
    (("HLEN", "h"), ("HSET", "h", "a", "1")),
    (("ZSCORE", "z", "a"), ("ZADD", "z", "NX", 1.0, "b")),
    (("ZSCORE", "z", "a"), ("ZINCRBY", "z", 1.0, "b")),
    (("ZSCORE", "z", "a"), ("DEL", "z")),
    (("ZRANGE", "z", 1, 2, *BOTH), ("ZREM", "z", "a")),
    (("ZRANGE", "z", 0, -2, *BOTH), ("ZREM", "z", "a")),
    (("ZRANGE", "z", 0, 2), ("ZREM", "z", "a")),
    (("ZRANGEBYSCORE", "z", 0, 9, *BOTH), ("ZREM", "z", "a")),
    (("ZRANGEBYSCORE", "z", 0, "+inf"), ("ZREM", "z", "a")),
    (("ZRANGEBYSCORE", "z", 0, "+inf", *BOTH, "LIMIT", 1, 2), ("ZREM", "z", "a")),
    (("LINDEX", "l", 0), ("RPUSH", "l", "a")),
]


@pytest.mark.parametrize(("read", "write"), READ_WHOLE)
def test_the_rest_is_read_whole(read: Command, write: Command) -> None:
    assert patch(read, [write]) is None


def test_what_stands_before_the_last_word_on_a_field_does_not_count() -> None:
    read = ("HMGET", "h", "a", "b")
    writes = [("DEL", "h"), ("HINCRBY", "h", "a", 1), ("HSET", "h", "a", "5"), ("HDEL", "h", "b")]
    found = patch(read, writes)
    assert found is not None
    assert found.answer([["1", "2"]]) == ["5", None]


def test_a_key_of_another_type_shows() -> None:
    keyspace, tx = filled([("SADD", "z", "a")]), Transaction(100.0, Keys())
    tx.zadd("z", 1.0, "a")
    replies, _ = drive(tx.read(("ZSCORE", "z", "a"), tolerant=True), keyspace)
    assert [type(reply) for reply in replies] == [StoreCorrupted]


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        (("ZRANGE", "z", 0, 0, *BOTH), ("ZRANGE", "z", 0, 5, *BOTH)),
        (("ZREVRANGE", "z", 0, -1), ("ZREVRANGE", "z", 0, -1)),
        (("ZRANGEBYSCORE", "z", 0, 9, *LIMIT, 1), ("ZRANGEBYSCORE", "z", 0, 9, *LIMIT, 6)),
        (("ZRANGEBYSCORE", "z", 0, 9, *LIMIT, -1), ("ZRANGEBYSCORE", "z", 0, 9, *LIMIT, -1)),
        (("ZRANGEBYSCORE", "z", 0, 9, *BOTH), ("ZRANGEBYSCORE", "z", 0, 9, *BOTH)),
    ],
)
def test_a_head_is_widened(read: Any, expected: Any) -> None:
    assert widened(read, 5) == expected
