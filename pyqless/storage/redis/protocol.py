# SPDX-License-Identifier: MIT
"""Commands as bytes, and replies in the forms that the core knows, whichever protocol the connection speaks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

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


def pack(commands: Iterable[Command]) -> bytes:
    """
    The bytes of some commands.

    Raises:
        InvalidArgument: a text holds half a surrogate pair, which no UTF-8 can express.
    """
    try:
        return b"".join([_PACKED.get(command[0], _packed_texts)(command) for command in commands])
    except UnicodeEncodeError:
        return b"".join([_packed(_encoded(command)) for command in commands])


_packed: Callable[[Command], bytes] = hiredis.pack_command


@lru_cache(maxsize=2048)
def _packed_again(command: Command) -> bytes:
    return _packed(_texts(command))


def _packed_texts(command: Command) -> bytes:
    return _packed(_texts(command))


def _texts(command: Command) -> Command:
    """No numbers: hiredis crashes where a signal handler raises while it writes one."""
    return tuple(map(str, command))


#: commands that are sent time and again with the same arguments, mostly: those of queues, not of jobs
_REPEATED: Final = (
    *("DISCARD", "EXEC", "MULTI", "UNWATCH"),
    *("HMGET", "SISMEMBER", "ZCARD", "ZRANGE", "ZRANGEBYSCORE", "ZREVRANGE"),
)

#: others all of whose arguments are texts
_WITHOUT_NUMBERS: Final = (
    *("DEL", "HDEL", "HGET", "HGETALL", "HSET", "LPUSH", "PUBLISH", "RPUSH"),
    *("SADD", "SMEMBERS", "SREM", "WATCH", "ZREM", "ZSCORE"),
)

_PACKED: Final = dict.fromkeys(_REPEATED, _packed_again) | dict.fromkeys(_WITHOUT_NUMBERS, _packed)


def _encoded(command: Command) -> Command:
    """Bytes that were no UTF-8 when they were read are written as they were."""
    try:
        return tuple(text.encode("utf-8", "surrogateescape") for text in _texts(command))
    except UnicodeEncodeError as error:
        text = f"a text cannot be written as UTF-8: {error.object!r}"
        raise InvalidArgument(text, value=error.object) from error


# -- replies ----------------------------------------------------------------------------------


def _hash(_: Command, reply: Any) -> dict[str, str]:
    """A copy, for the rules change what they are given."""
    return dict(reply if type(reply) is dict else zip(reply[::2], reply[1::2], strict=True))


def _set(_: Command, reply: Any) -> set[str]:
    return set(reply)


def _score(_: Command, reply: Any) -> float | None:
    return None if reply is None else float(reply)


def _range(read: Command, reply: Any) -> list[Any]:
    """Members, and their scores if these were asked for."""
    if not reply or "WITHSCORES" not in read:
        return list(reply)
    pairs = reply if type(reply[0]) is list else zip(reply[::2], reply[1::2], strict=True)
    return [(member, float(score)) for member, score in pairs]


#: the replies that the core knows in another form than the server sends them in
_FORMS: dict[str, Callable[[Command, Any], Any]] = {
    "HGETALL": _hash,
    "SMEMBERS": _set,
    "ZRANGE": _range,
    "ZRANGEBYSCORE": _range,
    "ZREVRANGE": _range,
    "ZREVRANGEBYSCORE": _range,
    "ZSCORE": _score,
}


def reply_of(read: Command, reply: Any) -> Any:
    """
    A reply to a read, in the core's form.

    Returns:
        the reply; a ``StoreCorrupted`` where the key is of another type.

    Raises:
        StorageError: the server would not carry out the read.
    """
    if isinstance(reply, ServerError):
        if reply.code == "WRONGTYPE":
            text = f"{read[1]} is of another type than {read[0]} is for"
            return StoreCorrupted(text, argument=read[1], value=read[0])
        raise fault_of(reply, read[0])
    form = _FORMS.get(read[0])
    return reply if form is None else form(read, reply)


def replies_of(reads: Iterable[Command], raw: Sequence[Any]) -> list[Any]:
    """Each reply in the core's form, see ``reply_of``."""
    if ServerError in map(type, raw):
        return [reply_of(read, reply) for read, reply in zip(reads, raw, strict=True)]
    return [
        reply if (form := _FORMS.get(read[0])) is None else form(read, reply)
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
        if error.code == "NOPERM":
            missing += "; `pyqless doctor --acl ROLE` prints the rights that are needed"
        return StoreUnsupported(missing, argument=command, value=error.code)
    advice = _ADVICE.get(error.code)
    reason = f"{advice}: {error}" if advice else text
    return StoreRefused(reason, argument=command, value=error.code)
