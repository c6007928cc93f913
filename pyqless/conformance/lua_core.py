# SPDX-License-Identifier: MIT
"""
A Lua core on a real server: what the rules are compared with.

Nothing else in this package sends a script to a server.
"""

from __future__ import annotations

import re
from typing import Any, Final

from redis import Redis, ResponseError
from redis.backoff import NoBackoff
from redis.client import PubSub
from redis.retry import Retry

from pyqless.conformance.lua_errors import script_error
from pyqless.conformance.protocol import CommandError, Message, Snapshot
from pyqless.core.replies import Reply

__all__ = ["LuaCore", "loadable"]

#: Gives everything in the database at one instant: {key, type, content} of each key.
DUMP: Final = """
local read = {
  hash = function(key) return redis.call('HGETALL', key) end,
  zset = function(key) return redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') end,
  list = function(key) return redis.call('LRANGE', key, 0, -1) end,
  set = function(key) return redis.call('SMEMBERS', key) end,
  string = function(key) return redis.call('GET', key) end,
}
local dump = {}
for number, key in ipairs(redis.call('KEYS', '*')) do
  local kind = redis.call('TYPE', key).ok
  dump[number] = {key, kind, read[kind](key)}
end
return dump
"""


class LuaCore:
    """
    A Lua core on a server that allows scripts; its database is this object's alone.

    Args:
        script: the text of the whole core, as clients load it.
        url: of the database, ``redis://``, ``rediss://`` or ``unix://``.
    """

    #: raised by ``call``; where Lua or the store broke down it is an ``InternalError``
    error = CommandError

    def __init__(self, script: str, url: str) -> None:
        self._redis = Redis.from_url(
            url,
            decode_responses=True,
            encoding_errors="surrogateescape",
            retry=Retry(NoBackoff(), 0),  # a second EVALSHA would be a second call
        )
        self._core = self._redis.script_load(loadable(script))
        self._dump = self._redis.script_load(DUMP)
        self._messages: PubSub | None = None
        #: what is stored, until the next call
        self._state: Snapshot | None = None

    @property
    def shortens_numbers(self) -> bool:
        """Whether the server writes a script's numbers in their shortest form, not with 17 digits."""
        told = self._redis.info("server")
        version = tuple(int(part) for part in told["redis_version"].split(".")[:2])
        return version >= (7, 2) or "valkey_version" in told

    def call(self, *words: str) -> Reply:
        """
        Send a command; see ``Core.call``.

        A failed call is undone: the core leaves half its writes behind, and its messages are out.

        Raises:
            CommandError: the core refused the call.
            InternalError: the core broke down.
        """
        before = self.snapshot()
        self._state = None
        try:
            reply: Reply = self._redis.evalsha(self._core, 0, *map(_bytes, words))
        except ResponseError as error:
            self.recorded()
            self._restore(before)
            raise script_error(str(error)) from error
        return reply

    def flush(self) -> None:
        """Empty the database."""
        self._redis.flushdb()
        self._state = {}

    def record(self) -> None:
        """Begin to record messages, from now on."""
        if self._messages is not None:
            self._messages.close()
        self._messages = self._redis.pubsub()  # type: ignore[no-untyped-call]
        self.recorded()

    def recorded(self) -> list[Message]:
        """The messages published since ``record`` or the last call."""
        if self._messages is None:
            return []
        return _drain(self._messages)

    def snapshot(self) -> Snapshot:
        """Everything stored; see ``Core.snapshot``."""
        if self._state is None:
            dump = self._redis.evalsha(self._dump, 0)
            self._state = {key: _entry(kind, content) for key, kind, content in dump}
        return self._state

    def _restore(self, wanted: Snapshot) -> None:
        """Make the database hold what it held before."""
        held = self.snapshot()
        with self._redis.pipeline() as pipe:
            for key in held.keys() | wanted.keys():
                if held.get(key) != wanted.get(key):
                    _write(pipe, key, wanted.get(key))
            pipe.execute()
        self._state = wanted

    def close(self) -> None:
        """Let go of the connections."""
        if self._messages is not None:
            self._messages.close()
        self._redis.close()


def loadable(script: str) -> str:
    """
    Let a script that adds functions to the global ``table`` load where that is read-only.

    Servers since 7.0, and 6.2 with its late patches, refuse such a script as a whole. Within it, a local
    table of the same name that falls back on the global one does as well. It goes onto the first line,
    so that no line gets another number.
    """
    if re.search(r"^\s*function table\.|^\s*table\.\w+\s*=", script, re.MULTILINE):
        return "local table = setmetatable({}, {__index = table}) " + script
    return script


def _drain(messages: PubSub) -> list[Message]:
    # The answer to another subscription stands behind all that was published before it. (A PING would be
    # plainer, but redis-py does not know its answer again in each of its versions and protocols.)
    messages.psubscribe("ql:*")
    read = []
    for answer in messages.listen():  # type: ignore[no-untyped-call]
        if answer["type"] == "psubscribe":
            break
        read.append((answer["channel"], answer["data"]))
    return read


def _entry(kind: str, content: Any) -> dict[str, Any]:
    if kind == "hash":
        return {"type": kind, "value": dict(zip(content[::2], content[1::2], strict=True))}
    if kind == "zset":
        pairs = zip(content[::2], content[1::2], strict=True)
        return {"type": kind, "value": [[member, repr(float(score))] for member, score in pairs]}
    return {"type": kind, "value": sorted(content) if kind == "set" else content}


def _write(pipe: Any, key: str, entry: dict[str, Any] | None) -> None:
    name = _bytes(key)
    pipe.delete(name)
    if entry is None:
        return
    value = entry["value"]
    match entry["type"]:
        case "hash":
            pipe.hset(name, mapping={_bytes(field): _bytes(text) for field, text in value.items()})
        case "zset":
            pipe.zadd(name, {_bytes(member): float(score) for member, score in value})
        case "list":
            pipe.rpush(name, *map(_bytes, value))
        case "set":
            pipe.sadd(name, *map(_bytes, value))
        case _:
            pipe.set(name, _bytes(value))


def _bytes(text: str) -> bytes:
    """Encode, for redis-py itself does not let lone surrogates through, which stand for no UTF-8."""
    return text.encode("utf-8", "surrogateescape")
