# SPDX-License-Identifier: MIT
"""Writes to a key as fewer commands."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyqless.core.effects import Command
from pyqless.core.keys import Keys
from pyqless.core.keyspace import Keyspace
from pyqless.core.merging import merge
from pyqless.core.transaction import Transaction

TEXTS = st.sampled_from("abc")
SCORES = st.sampled_from([1.0, 2.0, 3.0])


def of_key(key: str, *kinds: st.SearchStrategy[tuple[Any, ...]]) -> st.SearchStrategy[Command]:
    return st.one_of(*kinds, st.just(("DEL",))).map(lambda write: (write[0], key, *write[1:]))


WRITES = {
    "hash": of_key(
        "hash",
        st.tuples(st.just("HSET"), TEXTS, st.sampled_from("12")),
        st.tuples(st.just("HDEL"), TEXTS),
        st.tuples(st.just("HINCRBY"), TEXTS, st.just(1)),
    ),
    "list": of_key(
        "list",
        st.tuples(st.just("RPUSH"), TEXTS),
        st.tuples(st.just("LPUSH"), TEXTS),
        st.tuples(st.just("LTRIM"), st.just(1), st.just(-1)),
    ),
    "set": of_key("set", st.tuples(st.just("SADD"), TEXTS), st.tuples(st.just("SREM"), TEXTS)),
    "zset": of_key(
        "zset",
        st.tuples(st.just("ZADD"), SCORES, TEXTS),
        st.tuples(st.just("ZADD"), st.sampled_from(["NX", "XX"]), SCORES, TEXTS),
        st.tuples(st.just("ZREM"), TEXTS),
    ),
}


def content(writes: list[Command]) -> dict[str, Any]:
    keyspace = Keyspace()
    for write in writes:
        keyspace.write(write)
    return keyspace.dump()


@given(st.sampled_from(sorted(WRITES)).flatmap(lambda kind: st.lists(WRITES[kind], max_size=20)))
def test_merged_writes_do_what_the_writes_do(writes: list[Command]) -> None:
    assert content(merge(writes)) == content(writes)


def test_what_is_put_unless_it_is_there_is_put_once() -> None:
    once, other = ("ZADD", "zset", "NX", 1.0, "a"), ("ZADD", "zset", "NX", 1.0, "b")
    assert merge([once, other, once]) == [once, other]


def test_neighbours_of_one_name_become_one() -> None:
    writes = [
        ("ZREM", "z", "a"),
        ("ZREM", "z", "b"),
        ("ZADD", "z", 1.0, "c"),
        ("ZADD", "z", 2.0, "d"),
        ("ZADD", "z", "NX", 3.0, "e"),
        ("ZADD", "z", "NX", 4.0, "f"),
    ]
    merged = [("ZREM", "z", "a", "b"), ("ZADD", "z", 1.0, "c", 2.0, "d"), *writes[4:]]
    assert merge(writes) == merged


@pytest.mark.parametrize("number", [3, 60])
def test_a_transaction_of_many_writes_has_them_merged(number: int) -> None:
    tx = Transaction(100.0, Keys())
    jids = [f"j{n}" for n in range(number)]
    for jid in jids:
        tx.zrem("ql:q:q-work", jid)
        # the channel has the name of a key
        tx.publish("ql:completed", jid)
        tx.zadd("ql:completed", 100.0, jid)
    messages = [("PUBLISH", "ql:completed", jid) for jid in jids]
    pairs = [each for jid in jids for each in (100.0, jid)]
    assert [write for write in tx.merged if write[0] == "PUBLISH"] == messages
    assert len(tx.merged) == (9 if number == 3 else 62)
    if number == 60:
        assert tx.merged[:2] == [("ZREM", "ql:q:q-work", *jids), ("ZADD", "ql:completed", *pairs)]
    assert tx.blind == tx.merged


@pytest.mark.parametrize("number", [3, 60])
def test_keys_with_an_image_are_left_to_it(number: int) -> None:
    tx = Transaction(100.0, Keys())
    steps = tx.read(("HGETALL", "ql:j:a"))
    next(steps)
    with pytest.raises(StopIteration):
        steps.send([{"state": "running"}])
    for n in range(number):
        tx.hset("ql:j:a", f"f{n}", "1")
        tx.publish("ql:j:a", "text")
    assert tx.blind == [("PUBLISH", "ql:j:a", "text")] * number
    (image,) = tx.changed.values()
    assert len(image) == number + 1
