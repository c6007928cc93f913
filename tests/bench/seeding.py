# SPDX-License-Identifier: MIT
"""
Many jobs at once, by copying one: whatever a core has stored of a job is stored again under other jids.

So the state is that core's own, however many jobs there are, and costs a few seconds a million.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import hiredis
import redis

__all__ = ["copy_job", "numbered"]

#: how many copies go out before the replies are waited for
CHUNK: Final = 500


def numbered(jid: str, count: int) -> Iterator[str]:
    """Make jids as long as the given one, other than it where that ends in zeros."""
    return (f"{jid[:-8]}{number:08}" for number in range(1, count + 1))


def copy_job(source: redis.Redis, jid: str, jids: Iterable[str], target: redis.Redis) -> None:
    """
    Copy a job with all that refers to it: its own keys, and its place in sets and sorted sets.

    Args:
        source: where it is; a small database, for it is searched.
        jids: of the copies, as long as the original's.
        target: where they go; the same server's, on a port.
    """
    commands = [command for key in source.keys("*") for command in _copying(source, key, jid)]
    packed = b"".join(map(_pack, commands))
    place = target.connection_pool.connection_kwargs
    with socket.create_connection((place["host"], place["port"])) as connection:
        reader = hiredis.Reader()
        connection.sendall(_pack(("SELECT", str(place["db"]))))
        _await(connection, reader, 1)
        rest = iter(jids)
        while chunk := list(islice(rest, CHUNK)):
            copies = [packed.replace(jid.encode(), copy.encode()) for copy in chunk]
            connection.sendall(b"".join(copies))
            _await(connection, reader, len(commands) * len(chunk))


def _pack(command: Sequence[Any]) -> bytes:
    packed: bytes = hiredis.pack_command(tuple(command))
    return packed


def _await(connection: socket.socket, reader: Any, count: int) -> None:
    while count:
        reply = reader.gets()
        if reply is False:
            reader.feed(connection.recv(1 << 20))
            continue
        if isinstance(reply, hiredis.ReplyError):
            raise reply
        count -= 1


def _copying(client: redis.Redis, key: Any, jid: str) -> Iterator[Sequence[Any]]:
    """The commands that write the job's part of a key, the jid where a copy's is to stand."""
    name = jid.encode()
    kind = client.type(key)
    if name in key:
        yield from _whole(client, key, kind)
    elif kind == b"zset" and (score := client.zscore(key, name)) is not None:
        yield "ZADD", key, repr(score), name
    elif kind == b"set" and client.sismember(key, jid):
        yield "SADD", key, name


def _whole(client: redis.Redis, key: Any, kind: Any) -> Iterator[Sequence[Any]]:
    match kind:
        case b"hash":
            fields = client.hgetall(key)
            yield ("HSET", key, *(part for field in fields.items() for part in field))
        case b"list":
            yield ("RPUSH", key, *client.lrange(key, 0, -1))
        case b"set":
            yield ("SADD", key, *client.smembers(key))
        case b"zset":
            scores: Any = client.zrange(key, 0, -1, withscores=True)
            yield ("ZADD", key, *(part for member, score in scores for part in (score, member)))
        case _:
            raise TypeError(f"{key!r} is a {kind!r}")
