# SPDX-License-Identifier: MIT
"""Whatever is read, written, touched or refused, the keyspace and a real server agree."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st

from pyqless.core.keyspace import READS, WRITES, Keyspace, NotAnInteger, WrongType
from tests.servers import Server

Command = tuple[Any, ...]

KEYS = ["hash", "list", "set", "zset"]

#: Where each example begins, so that few commands meet a missing key.
SETUP: list[Command] = [
    ("HSET", "hash", "a", "7", "b", "007", "\udcff", str(2**63 - 1)),
    ("RPUSH", "list", "a", "b", "B", "a", "7", "a"),
    ("SADD", "set", "a", "b", "7", "\udcff"),
    ("ZADD", "zset", 1, "\ue000", 1, "b", 1, "\udcff", 1, "a", 0, "7", 2, "B", "+inf", "\u00e9"),
]

texts = st.sampled_from(["", "a", "b", "B", "7", "007", "\u00e9", "\udcff", "\ue000"])
few_scores = st.sampled_from([0.0, -0.0, 1.0, 2, -3, 0.1, 1400000000.25, "+inf", "-inf", "1e0"])
scores = st.one_of(few_scores, few_scores, few_scores, st.floats(allow_nan=False))
ranks = st.integers(-6, 6)


def command(
    name: str, *arguments: st.SearchStrategy[tuple[Any, ...]]
) -> st.SearchStrategy[Command]:
    """Draw a key, nearly always of the right type, and the groups of arguments one after another."""
    family = {"H": "hash", "L": "list", "R": "list", "S": "set", "Z": "zset"}.get(name[0])
    key = st.sampled_from(KEYS + [family] * 40 if family else KEYS)
    return st.tuples(key, *arguments).map(lambda drawn: (name, drawn[0], *sum(drawn[1:], ())))


def some(*group: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    """Draw a group of arguments up to three times."""
    return st.lists(st.tuples(*group), min_size=1, max_size=3).map(lambda groups: sum(groups, ()))


def one(*group: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.tuples(*group)


def maybe(*group: Any) -> st.SearchStrategy[tuple[Any, ...]]:
    drawn = [part if isinstance(part, st.SearchStrategy) else st.just(part) for part in group]
    return st.one_of(st.just(()), st.tuples(*drawn))


COMMANDS = [
    command("DEL"),
    command("EXISTS"),
    command("HDEL", some(texts)),
    command("HGET", one(texts)),
    command("HGETALL"),
    command("HINCRBY", one(texts, st.integers(-3, 3))),
    command("HLEN"),
    command("HMGET", some(texts)),
    command("HSET", some(texts, texts)),
    command("LINDEX", one(ranks)),
    command("LLEN"),
    command("LPOP"),
    command("LPUSH", some(texts)),
    command("LRANGE", one(ranks, ranks)),
    command("LREM", one(st.just(0), texts)),
    command("LTRIM", one(ranks, ranks)),
    command("RPUSH", some(texts)),
    command("SADD", some(texts)),
    command("SCARD"),
    command("SISMEMBER", one(texts)),
    command("SMEMBERS"),
    command("SREM", some(texts)),
    command("ZADD", maybe(st.sampled_from(["NX", "XX"])), some(scores, texts)),
    command("ZCARD"),
    command("ZCOUNT", one(scores, scores)),
    command("ZINCRBY", one(scores, texts)),
    command("ZRANGE", one(ranks, ranks), maybe("WITHSCORES")),
    command(
        "ZRANGEBYSCORE", one(scores, scores), maybe("WITHSCORES"), maybe("LIMIT", ranks, ranks)
    ),
    command("ZREM", some(texts)),
    command("ZREMRANGEBYSCORE", one(scores, scores)),
    command("ZREVRANGE", one(ranks, ranks), maybe("WITHSCORES")),
    command(
        "ZREVRANGEBYSCORE", one(scores, scores), maybe("WITHSCORES"), maybe("LIMIT", ranks, ranks)
    ),
    command("ZSCORE", one(texts)),
]

ARABIC_ONE = "\N{ARABIC-INDIC DIGIT ONE}"

#: Texts that are scores, or nearly; hexadecimal is left out, of which the servers differ.
SCORE_TEXTS = ["1400000000.5", "0.10000000000000001", "00012", "+5", "5.", ".5", "-1E+3", "-0"]
SCORE_TEXTS += [
    "inf",
    "+Inf",
    "-INFINITY",
    "1e308",
    "1e400",
    "-1e400",
    "5e-324",
    "1e-400",
    "0e-999",
]
SCORE_TEXTS += ["", " 1", "1 ", "x", "1_0", "1e", "1,5", "--1", ".", "+", "nan", "-nan", "infin"]
SCORE_TEXTS += [ARABIC_ONE, "\N{LATIN SMALL LETTER DOTLESS I}nf"]

#: Texts that are integers, or nearly.
INTEGER_TEXTS = ["0", "-1", "7", str(2**63 - 1), str(2**63), str(-(2**63)), "1" * 20, ARABIC_ONE]
INTEGER_TEXTS += ["", "x", "1.5", " 1", "1 ", "+1", "01", "-0", "1_0", "1e3", "0x10"]


def send(client: redis.Redis, *command: Any) -> Any:
    """Send a command as bytes, since hiredis packs no surrogates; give the reply as it comes."""
    packed = [
        part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        for part in command
    ]
    return client.execute_command(*packed)  # type: ignore[no-untyped-call]


class Peer:
    """A real server behind the interface of ``Keyspace``, with a second connection that watches."""

    def __init__(self, client: redis.Redis, watcher: redis.Redis) -> None:
        self.client = client
        self.watcher = watcher

    def read(self, command: Command) -> Any:
        return decoded(command, send(self.client, *command))

    def write(self, command: Command) -> bool:
        """Carry out a write; tell whether it touched its key."""
        send(self.watcher, "WATCH", command[1])
        try:
            send(self.client, *command)
        finally:
            send(self.watcher, "MULTI")
            touched = send(self.watcher, "EXEC") is None
        return touched

    def dump(self) -> dict[str, dict[str, Any]]:
        return {key: self.content(key) for key in send(self.client, "KEYS", "*")}

    def content(self, key: str) -> dict[str, Any]:
        kind = send(self.client, "TYPE", key)
        name, *arguments = {
            "hash": ("HGETALL",),
            "list": ("LRANGE", 0, -1),
            "set": ("SMEMBERS",),
            "zset": ("ZRANGE", 0, -1, "WITHSCORES"),
        }[kind]
        value = self.read((name, key, *arguments))
        if kind == "zset":
            value = [[member, repr(score)] for member, score in value]
        return {"type": kind, "value": sorted(value) if kind == "set" else value}


def decoded(command: Command, reply: Any) -> Any:
    """Bring the RESP2 form of a reply into the one promised by ``READS``."""
    if command[0] == "HGETALL":
        return dict(zip(reply[::2], reply[1::2], strict=True))
    if command[0] == "SMEMBERS":
        return set(reply)
    if "WITHSCORES" in command:
        return list(zip(reply[::2], map(number, reply[1::2]), strict=True))
    return number(reply) if command[0] == "ZSCORE" and reply is not None else reply


def number(text: str) -> float:
    return float(text) + 0.0  # Redis 6.2 shows a negative zero


def refusal(error: Exception) -> type[Exception]:
    """Tell which of the keyspace's errors stands for an error of the server."""
    text = str(error)
    if text.startswith("WRONGTYPE"):
        return WrongType
    if "not an integer" in text or "would overflow" in text:
        return NotAnInteger
    if "not a valid float" in text or "not a number (NaN)" in text or "is not a float" in text:
        return ValueError
    raise error


@pytest.fixture(scope="module")
def connected(redis_server: Server) -> Iterator[Peer]:
    """Connect to each kind of server, and get its replies as they are."""
    with ExitStack() as stack:
        clients = [
            stack.enter_context(
                redis_server.client(
                    protocol=2,
                    decode_responses=True,
                    encoding_errors="surrogateescape",
                    single_connection_client=True,
                )
            )
            for _ in range(2)
        ]
        for client in clients:
            client.response_callbacks.clear()
        yield Peer(*clients)


@pytest.fixture
def peer(connected: Peer) -> Peer:
    send(connected.client, "FLUSHALL")
    return connected


def test_every_command_is_drawn() -> None:
    assert len(COMMANDS) == len(READS) + len(WRITES)


@given(commands=st.lists(st.one_of(COMMANDS), min_size=10, max_size=40))
def test_random_commands(connected: Peer, redis_server: Server, commands: list[Command]) -> None:
    send(connected.client, "FLUSHALL")
    keyspace = Keyspace()
    for command in SETUP + commands:
        if command[0] in READS:
            assert outcome(keyspace.read, command) == outcome(connected.read, command)
            continue
        before = keyspace.versions.get(command[1], 0)
        found, expected = outcome(keyspace.write, command), outcome(connected.write, command)
        if found is None:
            found = keyspace.versions.get(command[1], 0) != before
        if command[0] == "LTRIM" and redis_server.kind == "valkey9" and expected is False:
            found = False  # newer Valkey sees that a trim takes nothing away
        assert found == expected
        assert keyspace.dump() == connected.dump()


def outcome(carry_out: Any, command: Command) -> Any:
    """Give the reply to a command, or the kind of error that it raises."""
    try:
        return carry_out(command)
    except redis.ResponseError as error:
        return refusal(error)
    except (WrongType, ValueError) as error:
        return type(error)


@pytest.mark.parametrize("text", SCORE_TEXTS)
def test_texts_that_are_scores(peer: Peer, text: str) -> None:
    keyspace = Keyspace()
    write = ("ZADD", "zset", text, "a")

    assert (outcome(keyspace.write, write) is None) == (outcome(peer.write, write) is True)
    assert keyspace.dump() == peer.dump()


@pytest.mark.parametrize("text", INTEGER_TEXTS)
@pytest.mark.parametrize("increment", [0, 1, -1])
def test_texts_that_are_integers(peer: Peer, text: str, increment: int) -> None:
    keyspace = Keyspace()
    for write in [("HSET", "hash", "n", text), ("HINCRBY", "hash", "n", increment)]:
        refused, expected = outcome(keyspace.write, write), outcome(peer.write, write)

    assert (refused or True) == expected
    assert keyspace.dump() == peer.dump()
