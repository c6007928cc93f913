# SPDX-License-Identifier: MIT
"""
The small command set and the keyspace, by tables.

``tests/integration/test_keyspace_redis.py`` holds the same against real servers.
"""

from __future__ import annotations

import json
import math
from collections import deque
from typing import Any

import pytest

from pyqless.core.images import image_of
from pyqless.core.keyspace import READS, WRITES, Keyspace, NotAnInteger, WrongType
from pyqless.core.sortedset import SortedSet

#: One key of each type that a write can make.
SETUP = [
    ("HSET", "hash", "a", "1", "b", "2", "text", "x"),
    ("RPUSH", "list", "a", "b", "c", "b", "d"),
    ("SADD", "set", "a", "b", "c"),
    ("ZADD", "zset", 1.0, "a", 2.0, "b", 3.0, "c"),
]

#: A well-formed call of each command on a key; EXISTS and DEL are for keys of any type.
READ_CALLS = {
    "HGET": ("a",),
    "HGETALL": (),
    "HLEN": (),
    "HMGET": ("a", "b"),
    "LINDEX": (0,),
    "LLEN": (),
    "LRANGE": (0, -1),
    "SCARD": (),
    "SISMEMBER": ("a",),
    "SMEMBERS": (),
    "ZCARD": (),
    "ZCOUNT": (0.0, 9.0),
    "ZRANGE": (0, -1),
    "ZRANGEBYSCORE": (0.0, 9.0),
    "ZREVRANGE": (0, -1),
    "ZREVRANGEBYSCORE": (9.0, 0.0),
    "ZSCORE": ("a",),
}
WRITE_CALLS = {
    "HDEL": ("a",),
    "HINCRBY": ("a", 1),
    "HSET": ("a", "1"),
    "LPOP": (),
    "LPUSH": ("a",),
    "LREM": (0, "a"),
    "LTRIM": (0, 0),
    "RPUSH": ("a",),
    "SADD": ("a",),
    "SREM": ("a",),
    "ZADD": (1.0, "a"),
    "ZINCRBY": (1.0, "a"),
    "ZREM": ("a",),
    "ZREMRANGEBYSCORE": (0.0, 9.0),
}
FAMILIES = {"H": "hash", "L": "list", "R": "list", "S": "set", "Z": "zset"}

#: Commands that make a key which is missing.
MAKERS = {"HINCRBY", "HSET", "LPUSH", "RPUSH", "SADD", "ZADD", "ZINCRBY"}

ARABIC_ONE = "\N{ARABIC-INDIC DIGIT ONE}"
NO_INTEGERS = ["", "x", "1.5", " 1", "1 ", "+1", "01", "-0", "1_0", "1e3", "0x10", ARABIC_ONE]
NO_INTEGERS += ["9" * 19, "1" * 20]
NO_SCORES = ["", " 1", "1 ", "x", "1_0", "1e", "nan", "-nan", "1e400", "-1e400", "1e-400", "0x10"]
NO_SCORES += [ARABIC_ONE, "\N{LATIN SMALL LETTER DOTLESS I}nf"]


@pytest.fixture
def keyspace() -> Keyspace:
    keyspace = Keyspace()
    for command in SETUP:
        keyspace.write(command)
    return keyspace


def content(keyspace: Keyspace, key: str) -> Any:
    return keyspace.dump().get(key, {}).get("value")


def test_the_calls_below_cover_all_commands() -> None:
    assert {"EXISTS", *READ_CALLS} == set(READS)
    assert {"DEL", *WRITE_CALLS} == set(WRITES)


# -- reads -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "reply"),
    [
        (("EXISTS", "hash"), 1),
        (("EXISTS", "zset"), 1),
        (("HGET", "hash", "a"), "1"),
        (("HGET", "hash", "z"), None),
        (("HGETALL", "hash"), {"a": "1", "b": "2", "text": "x"}),
        (("HLEN", "hash"), 3),
        (("HMGET", "hash", "b", "z", "a"), ["2", None, "1"]),
        (("LINDEX", "list", 0), "a"),
        (("LINDEX", "list", "-1"), "d"),
        (("LINDEX", "list", 4), "d"),
        (("LINDEX", "list", 5), None),
        (("LINDEX", "list", -5), "a"),
        (("LINDEX", "list", -6), None),
        (("LLEN", "list"), 5),
        (("LRANGE", "list", 0, -1), ["a", "b", "c", "b", "d"]),
        (("LRANGE", "list", 0, 1), ["a", "b"]),
        (("LRANGE", "list", "-2", "-1"), ["b", "d"]),
        (("LRANGE", "list", 1, 3), ["b", "c", "b"]),
        (("LRANGE", "list", -99, 99), ["a", "b", "c", "b", "d"]),
        (("LRANGE", "list", 3, 2), []),
        (("LRANGE", "list", 5, 9), []),
        (("SCARD", "set"), 3),
        (("SISMEMBER", "set", "a"), 1),
        (("SISMEMBER", "set", "z"), 0),
        (("SMEMBERS", "set"), {"a", "b", "c"}),
        (("ZCARD", "zset"), 3),
        (("ZCOUNT", "zset", 2.0, 3.0), 2),
        (("ZCOUNT", "zset", "-inf", "+inf"), 3),
        (("ZRANGE", "zset", 0, -2), ["a", "b"]),
        (("ZRANGE", "zset", "1", "1", "WITHSCORES"), [("b", 2.0)]),
        (("ZREVRANGE", "zset", 0, -2), ["c", "b"]),
        (("ZREVRANGE", "zset", 0, 0, "WITHSCORES"), [("c", 3.0)]),
        (("ZRANGEBYSCORE", "zset", "-inf", 2), ["a", "b"]),
        (("ZRANGEBYSCORE", "zset", 2.0, "inf", "WITHSCORES"), [("b", 2.0), ("c", 3.0)]),
        (("ZRANGEBYSCORE", "zset", 0, 9, "LIMIT", 1, 1), ["b"]),
        (("ZRANGEBYSCORE", "zset", 0, 9, "LIMIT", "1", "-1"), ["b", "c"]),
        (("ZRANGEBYSCORE", "zset", 0, 9, "LIMIT", -1, 5), []),
        (("ZRANGEBYSCORE", "zset", 0, 9, "WITHSCORES", "LIMIT", 0, 1), [("a", 1.0)]),
        (("ZREVRANGEBYSCORE", "zset", "+inf", 2.0), ["c", "b"]),
        (("ZREVRANGEBYSCORE", "zset", 9, 0, "WITHSCORES", "LIMIT", 0, 1), [("c", 3.0)]),
        (("ZSCORE", "zset", "b"), 2.0),
        (("ZSCORE", "zset", "z"), None),
    ],
    ids=lambda value: str(sorted(value) if isinstance(value, set) else value),
)
def test_reads(keyspace: Keyspace, command: tuple[Any, ...], reply: Any) -> None:
    found = keyspace.read(command)

    assert found == reply
    assert type(found) is type(reply)


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("EXISTS", 0),
        ("HGET", None),
        ("HGETALL", {}),
        ("HLEN", 0),
        ("HMGET", [None, None]),
        ("LINDEX", None),
        ("LLEN", 0),
        ("LRANGE", []),
        ("SCARD", 0),
        ("SISMEMBER", 0),
        ("SMEMBERS", set()),
        ("ZCARD", 0),
        ("ZCOUNT", 0),
        ("ZRANGE", []),
        ("ZRANGEBYSCORE", []),
        ("ZREVRANGE", []),
        ("ZREVRANGEBYSCORE", []),
        ("ZSCORE", None),
    ],
)
def test_a_missing_key_reads_as_an_empty_value(name: str, reply: Any) -> None:
    keyspace = Keyspace()

    assert keyspace.read((name, "missing", *READ_CALLS.get(name, ()))) == reply
    assert keyspace.keys() == []


@pytest.mark.parametrize(
    ("read", "write"),
    [
        (("HGETALL", "hash"), ("HSET", "hash", "a", "9")),
        (("LRANGE", "list", 0, -1), ("LPUSH", "list", "new")),
        (("SMEMBERS", "set"), ("SADD", "set", "new")),
        (("ZRANGE", "zset", 0, -1), ("ZADD", "zset", 9.0, "new")),
    ],
    ids=str,
)
def test_a_reply_does_not_change_with_its_key(
    keyspace: Keyspace, read: tuple[Any, ...], write: tuple[Any, ...]
) -> None:
    before = keyspace.read(read)
    same = keyspace.read(read)
    keyspace.write(write)

    assert before == same != keyspace.read(read)


# -- writes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (("HSET", "hash", "a", "9", "new", "8"), {"a": "9", "b": "2", "text": "x", "new": "8"}),
        (("HSET", "hash", "a", "8", "a", "9"), {"a": "9", "b": "2", "text": "x"}),
        (("HSET", "new", "a", "1"), {"a": "1"}),
        (("HDEL", "hash", "a", "z", "text"), {"b": "2"}),
        (("HDEL", "hash", "a", "b", "text"), None),
        (("HINCRBY", "hash", "a", 41), {"a": "42", "b": "2", "text": "x"}),
        (("HINCRBY", "hash", "a", "-3"), {"a": "-2", "b": "2", "text": "x"}),
        (("HINCRBY", "new", "n", -1), {"n": "-1"}),
        (("LPUSH", "list", "y", "z"), ["z", "y", "a", "b", "c", "b", "d"]),
        (("LPUSH", "new", "y", "z"), ["z", "y"]),
        (("RPUSH", "list", "y", "z"), ["a", "b", "c", "b", "d", "y", "z"]),
        (("RPUSH", "new", "y", "z"), ["y", "z"]),
        (("LPOP", "list"), ["b", "c", "b", "d"]),
        (("LREM", "list", 0, "b"), ["a", "c", "d"]),
        (("LREM", "list", "0", "z"), ["a", "b", "c", "b", "d"]),
        (("LTRIM", "list", 1, 2), ["b", "c"]),
        (("LTRIM", "list", -2, -1), ["b", "d"]),
        (("LTRIM", "list", 0, 99), ["a", "b", "c", "b", "d"]),
        (("LTRIM", "list", 3, 2), None),
        (("LTRIM", "list", "5", "9"), None),
        (("SADD", "set", "a", "y", "z"), ["a", "b", "c", "y", "z"]),
        (("SADD", "new", "y"), ["y"]),
        (("SREM", "set", "a", "z"), ["b", "c"]),
        (("SREM", "set", "a", "b", "c"), None),
        (("ZADD", "zset", 9.0, "a", 0.5, "z"), [["z", "0.5"], ["b", "2.0"], ["c", "3.0"], ["a", "9.0"]]),
        (("ZADD", "zset", "NX", 9.0, "a", 4, "z"), [["a", "1.0"], ["b", "2.0"], ["c", "3.0"], ["z", "4.0"]]),
        (("ZADD", "zset", "XX", 9.0, "a", 4, "z"), [["b", "2.0"], ["c", "3.0"], ["a", "9.0"]]),
        (("ZADD", "new", "+inf", "a", -0.0, "z"), [["z", "0.0"], ["a", "inf"]]),
        (("ZADD", "new", "XX", 1.0, "a"), None),
        (("ZINCRBY", "zset", 1.5, "a"), [["b", "2.0"], ["a", "2.5"], ["c", "3.0"]]),
        (("ZINCRBY", "new", "-2", "a"), [["a", "-2.0"]]),
        (("ZREM", "zset", "a", "z", "c"), [["b", "2.0"]]),
        (("ZREM", "zset", "a", "b", "c"), None),
        (("ZREMRANGEBYSCORE", "zset", "-inf", 2.0), [["c", "3.0"]]),
        (("ZREMRANGEBYSCORE", "zset", 1, 3), None),
    ],
    ids=str,
)  # fmt: skip
def test_writes(keyspace: Keyspace, command: tuple[Any, ...], expected: Any) -> None:
    keyspace.write(command)

    assert content(keyspace, command[1]) == expected
    assert keyspace.read(("EXISTS", command[1])) == (expected is not None)


@pytest.mark.parametrize("key", ["hash", "list", "set", "zset", "string"])
def test_del_removes_a_key_of_any_type(keyspace: Keyspace, key: str) -> None:
    keyspace.data.setdefault("string", "text")
    keyspace.versions.setdefault("string", 99)
    keyspace.write(("DEL", key))

    assert sorted(keyspace.keys()) == sorted({"hash", "list", "set", "zset", "string"} - {key})


@pytest.mark.parametrize("name", sorted(set(WRITE_CALLS) - MAKERS | {"DEL"}))
def test_only_makers_make_a_key(name: str) -> None:
    keyspace = Keyspace()
    keyspace.write((name, "missing", *WRITE_CALLS.get(name, ())))

    assert keyspace.keys() == []
    assert keyspace.versions == {}


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_makers_make_a_key_of_their_type(name: str) -> None:
    keyspace = Keyspace()
    keyspace.write((name, "missing", *WRITE_CALLS[name]))

    assert keyspace.type_of("missing") == FAMILIES[name[0]]


# -- as functions of a value -------------------------------------------------------------------


def test_a_read_is_a_function_of_a_value() -> None:
    assert READS["HGET"]({"a": "1"}, "a") == "1"
    assert READS["HGET"](None, "a") is None
    assert READS["ZREVRANGE"](SortedSet([("a", 1.0), ("b", 2.0)]), 0, 0) == ["b"]


@pytest.mark.parametrize("name", sorted(WRITE_CALLS))
def test_a_write_changes_a_value_in_place(keyspace: Keyspace, name: str) -> None:
    value = keyspace.data[FAMILIES[name[0]]]
    after, _ = WRITES[name](value, *WRITE_CALLS[name])

    assert after is value


def test_a_write_gives_none_or_an_empty_value_where_the_key_is_gone() -> None:
    assert WRITES["HSET"](None, "a", "1") == ({"a": "1"}, True)
    assert WRITES["HDEL"]({"a": "1"}, "a") == ({}, True)
    assert WRITES["HDEL"](None, "a") == ({}, False)
    assert WRITES["DEL"]({"a": "1"}) == (None, True)


@pytest.mark.parametrize(
    ("key", "read"),
    [
        ("hash", ("HGETALL",)),
        ("list", ("LRANGE", 0, -1)),
        ("set", ("SMEMBERS",)),
        ("zset", ("ZRANGE", 0, -1, "WITHSCORES")),
    ],
)
def test_an_image_is_the_value_that_a_whole_read_showed(
    keyspace: Keyspace, key: str, read: tuple[Any, ...]
) -> None:
    name, *arguments = read
    image = image_of(name, keyspace.read((name, key, *arguments)))

    assert type(image) is type(keyspace.data[key])
    assert READS[name](image, *arguments) == READS[name](keyspace.data[key], *arguments)


# -- what touches a key ------------------------------------------------------------------------


def touched(keyspace: Keyspace, command: tuple[Any, ...]) -> set[str]:
    before = dict(keyspace.versions)
    keyspace.write(command)
    after = keyspace.versions
    return {key for key in before | after if before.get(key) != after.get(key)}


@pytest.mark.parametrize(
    "command",
    [
        ("HSET", "hash", "a", "1"),  # the same value
        ("HSET", "hash", "a", "2"),
        ("HINCRBY", "hash", "a", 0),
        ("HDEL", "hash", "a"),
        ("LPUSH", "list", "a"),
        ("RPUSH", "list", "a"),
        ("LPOP", "list"),
        ("LTRIM", "list", 0, -1),  # nothing to trim
        ("LREM", "list", 0, "b"),
        ("SADD", "set", "a", "z"),
        ("SREM", "set", "a", "z"),
        ("ZADD", "zset", 9.0, "a"),
        ("ZADD", "zset", 9.0, "a", 2.0, "b"),
        ("ZADD", "zset", "NX", 9.0, "z"),
        ("ZADD", "zset", "XX", 9.0, "a"),
        ("ZINCRBY", "zset", 1, "a"),
        ("ZINCRBY", "zset", 0, "z"),
        ("ZREM", "zset", "z", "a"),
        ("ZREMRANGEBYSCORE", "zset", 1, 1),
        ("DEL", "zset"),
    ],
    ids=str,
)
def test_a_change_touches_its_key(keyspace: Keyspace, command: tuple[Any, ...]) -> None:
    assert touched(keyspace, command) == {command[1]}


@pytest.mark.parametrize(
    "command",
    [
        ("HDEL", "hash", "z"),
        ("LREM", "list", 0, "z"),
        ("SADD", "set", "a"),
        ("SREM", "set", "z"),
        ("ZADD", "zset", 1.0, "a"),
        ("ZADD", "zset", "1", "a"),
        ("ZADD", "zset", "NX", 9.0, "a"),
        ("ZADD", "zset", "XX", 9.0, "z"),
        ("ZINCRBY", "zset", 0, "a"),
        ("ZREM", "zset", "z"),
        ("ZREMRANGEBYSCORE", "zset", 7, 9),
        ("DEL", "missing"),
        ("LTRIM", "missing", 0, -1),
        ("LPOP", "missing"),
    ],
    ids=str,
)
def test_what_changes_nothing_touches_nothing(keyspace: Keyspace, command: tuple[Any, ...]) -> None:
    assert touched(keyspace, command) == set()


def test_a_version_never_comes_back() -> None:
    keyspace = Keyspace()
    seen: list[int] = []
    for write in [("SADD", "k", "a"), ("SADD", "k", "b")]:
        keyspace.write(write)
        seen.append(keyspace.versions["k"])
    keyspace.write(("DEL", "k"))
    assert keyspace.versions == {}
    keyspace.write(("SADD", "k", "a"))
    seen.append(keyspace.versions["k"])
    dump = keyspace.dump()
    keyspace.flush()
    assert keyspace.versions == {}
    keyspace.load(dump)
    seen.append(keyspace.versions["k"])

    assert len(set(seen)) == 4
    assert 0 not in seen


# -- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "key"),
    [
        (name, key)
        for name in READ_CALLS | WRITE_CALLS
        for key in ["hash", "list", "set", "zset", "string"]
        if key != FAMILIES[name[0]]
    ],
)
def test_wrong_type(keyspace: Keyspace, name: str, key: str) -> None:
    keyspace.data["string"] = "text"
    before = keyspace.dump(), dict(keyspace.versions)
    call = keyspace.read if name in READ_CALLS else keyspace.write

    expected = f"a {FAMILIES[name[0]]} is wanted, a {key} is there"
    with pytest.raises(WrongType, match=expected):
        call((name, key, *(READ_CALLS | WRITE_CALLS)[name]))
    assert (keyspace.dump(), keyspace.versions) == before


@pytest.mark.parametrize(
    ("text", "increment"),
    [
        *((text, 0) for text in NO_INTEGERS),
        *(("0", text) for text in NO_INTEGERS),
        (str(2**63 - 1), 1),
        (str(-(2**63)), -1),
        ("1", 2**63),
    ],
)
def test_hincrby_wants_64_bit_integers(text: str, increment: int | str) -> None:
    keyspace = Keyspace()
    keyspace.write(("HSET", "hash", "n", text))
    before = dict(keyspace.versions)

    with pytest.raises(NotAnInteger, match="64-bit"):
        keyspace.write(("HINCRBY", "hash", "n", increment))
    assert content(keyspace, "hash") == {"n": text}
    assert keyspace.versions == before


@pytest.mark.parametrize("text", [str(2**63 - 1), str(-(2**63)), "0", "-1"])
def test_hincrby_takes_every_64_bit_integer(text: str) -> None:
    keyspace = Keyspace()
    keyspace.write(("HSET", "hash", "n", text))
    keyspace.write(("HINCRBY", "hash", "n", 0))

    assert content(keyspace, "hash") == {"n": text}


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("1400000000.5", 1400000000.5),
        ("0.10000000000000001", 0.1),
        ("+5", 5.0),
        ("5.", 5.0),
        (".5", 0.5),
        ("-1E+3", -1000.0),
        ("0e-999", 0.0),
        ("-0", 0.0),
        ("inf", math.inf),
        ("+Inf", math.inf),
        ("-INFINITY", -math.inf),
    ],
)
def test_score_texts(text: str, score: float) -> None:
    keyspace = Keyspace()
    keyspace.write(("ZADD", "zset", text, "a"))

    assert keyspace.read(("ZSCORE", "zset", "a")) == score


@pytest.mark.parametrize("score", [*NO_SCORES, pytest.param(math.nan, id="NaN")])
def test_what_is_no_score_changes_nothing(keyspace: Keyspace, score: float | str) -> None:
    before = keyspace.dump(), dict(keyspace.versions)

    with pytest.raises(ValueError, match="is not a valid score"):
        keyspace.write(("ZADD", "zset", 9.0, "a", score, "b"))
    with pytest.raises(ValueError, match="is not a valid score"):
        keyspace.write(("ZINCRBY", "zset", score, "a"))
    with pytest.raises(ValueError, match="is not a valid score"):
        keyspace.read(("ZCOUNT", "zset", score, 9.0))
    assert (keyspace.dump(), keyspace.versions) == before


def test_infinities_that_cancel_out_change_nothing() -> None:
    keyspace = Keyspace()
    keyspace.write(("ZADD", "zset", "inf", "a"))
    before = keyspace.dump(), dict(keyspace.versions)

    with pytest.raises(ValueError, match="the score of 'a' is not a number"):
        keyspace.write(("ZINCRBY", "zset", "-inf", "a"))
    assert (keyspace.dump(), keyspace.versions) == before


def test_lrem_removes_all_or_is_refused(keyspace: Keyspace) -> None:
    with pytest.raises(ValueError, match="must be 0, not 1"):
        keyspace.write(("LREM", "list", 1, "b"))
    assert content(keyspace, "list") == ["a", "b", "c", "b", "d"]


# -- the whole keyspace ------------------------------------------------------------------------


def test_type_of(keyspace: Keyspace) -> None:
    keyspace.data["string"] = "text"

    assert {key: keyspace.type_of(key) for key in [*keyspace.keys(), "missing"]} == {
        "hash": "hash",
        "list": "list",
        "missing": None,
        "set": "set",
        "string": "string",
        "zset": "zset",
    }


def test_dump_is_plain_data(keyspace: Keyspace) -> None:
    keyspace.write(("ZADD", "zset", "inf", "d", 0.1, "e"))
    keyspace.data["string"] = "text"
    expected = {
        "hash": {"type": "hash", "value": {"a": "1", "b": "2", "text": "x"}},
        "list": {"type": "list", "value": ["a", "b", "c", "b", "d"]},
        "set": {"type": "set", "value": ["a", "b", "c"]},
        "string": {"type": "string", "value": "text"},
        "zset": {
            "type": "zset",
            "value": [["e", "0.1"], ["a", "1.0"], ["b", "2.0"], ["c", "3.0"], ["d", "inf"]],
        },
    }

    assert keyspace.dump() == expected
    assert json.loads(json.dumps(keyspace.dump())) == expected


def test_load_replaces_the_content_by_a_dump(keyspace: Keyspace) -> None:
    keyspace.data["string"] = ""
    dump = keyspace.dump()
    other = Keyspace()
    other.write(("SADD", "old", "a"))
    other.load(dump)

    assert other.dump() == dump
    assert {key: type(value) for key, value in other.data.items()} == {
        "hash": dict,
        "list": deque,
        "set": set,
        "string": str,
        "zset": SortedSet,
    }
    assert other.versions.keys() == other.data.keys()


def test_a_loaded_keyspace_shares_nothing_with_the_dump(keyspace: Keyspace) -> None:
    dump = keyspace.dump()
    other = Keyspace()
    other.load(dump)
    for name, arguments in WRITE_CALLS.items():
        other.write((name, FAMILIES[name[0]], *arguments))
    other.write(("HSET", "hash", "new", "1"))

    assert dump == keyspace.dump() != other.dump()


def test_flush_removes_all_keys(keyspace: Keyspace) -> None:
    keyspace.flush()

    assert keyspace.keys() == []
    assert keyspace.dump() == {}


def test_a_copy_is_independent(keyspace: Keyspace) -> None:
    keyspace.data["string"] = "text"
    dump, versions = keyspace.dump(), dict(keyspace.versions)
    twin = keyspace.copy()
    assert (twin.dump(), twin.versions) == (dump, versions)

    for key in ["hash", "list", "set", "zset"]:
        for name, arguments in WRITE_CALLS.items():
            if FAMILIES[name[0]] == key and name in MAKERS:
                twin.write((name, key, *arguments))
    twin.write(("SADD", "new", "a"))
    assert (keyspace.dump(), keyspace.versions) == (dump, versions)

    keyspace.write(("SADD", "other", "a"))
    assert twin.read(("EXISTS", "other")) == 0
