# SPDX-License-Identifier: MIT
"""Commands as bytes, and replies in the forms that the core knows, whichever protocol the connection speaks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import hiredis

from pyqless.core.effects import Command
from pyqless.errors import (
    InvalidArgument,
    StoreCorrupted,
    StoreRefused,
    StoreUnavailable,
    StoreUnsupported,
)

__all__ = ["ServerError", "fault_of", "pack", "replies_of", "reply_of", "same"]


class ServerError(Exception):
    """An error reply."""

    @property
    def code(self) -> str:
        """Its first word, such as ``WRONGTYPE``."""
        text = str(self)
        return text.split(" ", 1)[0] if text else ""


#: commands all of whose arguments are texts
_WITHOUT_NUMBERS = {
    *("DISCARD", "EXEC", "MULTI", "UNWATCH", "WATCH", "DEL", "PUBLISH"),
    *("HDEL", "HGET", "HGETALL", "HMGET", "HSET", "LPUSH", "RPUSH"),
    *("SADD", "SISMEMBER", "SMEMBERS", "SREM", "ZREM", "ZSCORE"),
}


#: reads with numbers that are sent time and again, of the same few sorted sets
_REPEATED = {"ZRANGE", "ZRANGEBYSCORE", "ZREVRANGE"}


def pack(commands: Iterable[Command]) -> bytes:
    """
    The bytes of some commands.

    Raises:
        InvalidArgument: a text holds half a surrogate pair, which no UTF-8 can express.
    """
    try:
        return b"".join([_packed(command) for command in commands])
    except UnicodeEncodeError:
        return b"".join([hiredis.pack_command(_encoded(command)) for command in commands])


def _packed(command: Command) -> bytes:
    name = command[0]
    if name in _REPEATED:
        return _packed_again(command)
    texts = command if name in _WITHOUT_NUMBERS else _texts(command)
    packed: bytes = hiredis.pack_command(texts)
    return packed


@lru_cache(maxsize=2048)
def _packed_again(command: Command) -> bytes:
    packed: bytes = hiredis.pack_command(_texts(command))
    return packed


def _texts(command: Command) -> Command:
    """No numbers: hiredis crashes where a signal handler raises while it writes one."""
    return tuple(map(str, command))


def _encoded(command: Command) -> Command:
    """Bytes that were no UTF-8 when they were read are written as they were."""
    try:
        return tuple(text.encode("utf-8", "surrogateescape") for text in _texts(command))
    except UnicodeEncodeError as error:
        text = f"a text cannot be written as UTF-8: {error.object!r}"
        raise InvalidArgument(text, value=error.object) from error


# -- replies ----------------------------------------------------------------------------------


def _hash(reply: Any) -> dict[str, str]:
    """A copy, for the rules change what they are given."""
    return dict(reply if isinstance(reply, dict) else zip(reply[::2], reply[1::2], strict=True))


def _score(reply: Any) -> float | None:
    return None if reply is None else float(reply)


def _scored(reply: Any) -> list[tuple[str, float]]:
    if reply and isinstance(reply[0], list):
        return [(member, float(score)) for member, score in reply]
    return [(member, float(score)) for member, score in zip(reply[::2], reply[1::2], strict=True)]


_FORMS: dict[str, Callable[[Any], Any]] = {"HGETALL": _hash, "SMEMBERS": set, "ZSCORE": _score}


def reply_of(read: Command, reply: Any) -> Any:
    """
    A reply to a read, in the core's form.

    Returns:
        the reply; a ``StoreCorrupted`` where the key is of another type.

    Raises:
        StorageError: the server would not carry out the read.
    """
    form = _FORMS.get(read[0])
    if isinstance(reply, ServerError):
        if reply.code == "WRONGTYPE":
            text = f"{read[1]} is of another type than {read[0]} is for"
            return StoreCorrupted(text, argument=read[1], value=read[0])
        raise fault_of(reply, read[0])
    if form is not None:
        return form(reply)
    return _scored(reply) if "WITHSCORES" in read else reply


def replies_of(reads: Iterable[Command], raw: Iterable[Any]) -> list[Any]:
    """Each reply in the core's form, see ``reply_of``."""
    return [
        reply if reply is None or type(reply) is int else reply_of(read, reply)
        for read, reply in zip(reads, raw, strict=True)
    ]


def same(read: Command, before: Any, now: Any) -> bool:
    """Whether two replies to a read say the same; sets and hashes come in any order."""
    if isinstance(before, ServerError) or isinstance(now, ServerError):
        return repr(before) == repr(now)
    return bool(before == now or reply_of(read, before) == reply_of(read, now))


# -- errors -----------------------------------------------------------------------------------

#: codes of a server that will serve us later
_LATER = frozenset({"BUSY", "LOADING", "MASTERDOWN", "TRYAGAIN", "CLUSTERDOWN"})

#: what stands before the true reason where EXEC itself was refused
_BECAUSE = "because of: "

_ADVICE = {
    "OOM": "the store is out of memory",
    "READONLY": "this is a read-only replica",
    "MISCONF": "the store cannot save to disk",
    "NOREPLICAS": "the store has too few replicas",
    "NOAUTH": "the store wants a password",
    "NOPERM": "the user has no right to do this; see `pyqless doctor --acl`",
    "MOVED": "this is one node of a cluster, which is not supported",
}


def fault_of(
    error: ServerError, command: str
) -> StoreRefused | StoreUnsupported | StoreUnavailable:
    """What an error reply to a command means to the caller; nothing has been written."""
    if error.code == "EXECABORT" and _BECAUSE in str(error):
        error = ServerError(str(error).partition(_BECAUSE)[2])
    text = f"{command} was refused: {error}"
    if error.code in _LATER:
        return StoreUnavailable(text, argument=command, value=error.code)
    if error.code == "NOPERM" or "unknown command" in str(error):
        missing = f"the store lacks or forbids {command}, which pyqless needs: {error}"
        return StoreUnsupported(missing, argument=command, value=error.code)
    advice = _ADVICE.get(error.code)
    reason = f"{advice}: {error}" if advice else text
    return StoreRefused(reason, argument=command, value=error.code)
